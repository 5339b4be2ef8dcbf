/*
 * start.c - what start.sh runs: a program that a tnfwatch may want.
 *
 *	start			hits "work" once
 *	start maps		... and prints what it shares
 *	start copy		... and copies a line of its standard input
 *	start load LIBRARY	... and after it has loaded the library
 *	start filter N,N... PROGRAM...	executes it, with a filter that kills for these calls
 *
 * The library's calls of some functions come to the ones here, so that the test can say what
 * happens within its start: the file system has TOTAL kbytes, of which FREE are free; GIVEN
 * is a file that a controller gives the program, by a call if BY is "call", and else as one
 * does that cannot call, later if BY is "late".
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tnf/probe.h>

#define GIVEN_SIZE	131072
#define FILTER_MAX	32
#define INSTEAD		__attribute__((visibility("default")))	/* of the C library's */

extern struct tnf_probe_control __start_tnf_probes[], __stop_tnf_probes[];

int INSTEAD
statfs(const char *path, struct statfs *fs)
{
	const char *total = getenv("TOTAL"), *left = getenv("FREE");

	if (total == NULL || left == NULL)
		return (int)syscall(SYS_statfs, path, fs);
	memset(fs, 0, sizeof(*fs));
	fs->f_type = EXT4_SUPER_MAGIC;
	fs->f_bsize = 1024;
	fs->f_blocks = strtoul(total, NULL, 10);
	fs->f_bfree = fs->f_bavail = strtoul(left, NULL, 10);
	return 0;
}

static bool given;

#ifdef LINKED
extern struct tnf_process_control _tnf_process_control;

static bool
is_given(const char *how)
{
	const char *by = getenv("BY");

	return !given && getenv("GIVEN") != NULL && by != NULL && strcmp(by, how) == 0;
}

static const char *
make_given(void)
{
	const char *path = getenv("GIVEN");
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || ftruncate(fd, GIVEN_SIZE) != 0)
		err(1, "%s", path);
	close(fd);
	given = true;
	return path;
}

static void
name_given(void)
{
	struct tnf_process_control *c = &_tnf_process_control;

	strcpy(c->file_name, make_given());
	c->file_size = GIVEN_SIZE;
	c->state = TNF_PROC_READY;
}

static void
call_given(void)
{
	struct tnf_process_control *c = &_tnf_process_control;

	c->open(make_given(), GIVEN_SIZE, -1);
	if (c->open_result != 0)
		errx(1, "not given: %d", c->open_result);
}

/* The library is about to set up a file that it has made. */
int INSTEAD
pthread_setcancelstate(int state, int *was)
{
	if (was != NULL)
		*was = PTHREAD_CANCEL_ENABLE;
	if (is_given("name"))
		name_given();
	else if (is_given("call"))
		call_given();
	return 0;
}

/* It is doing so. */
pid_t INSTEAD
getppid(void)
{
	if (is_given("late"))
		name_given();
	return (pid_t)syscall(SYS_getppid);
}

/* As the controller does next. */
static void
switch_on(void)
{
	struct tnf_probe_control *p;

	for (p = __start_tnf_probes; p < __stop_tnf_probes; p++) {
		p->ops = _tnf_process_control.ops;
		p->traced = p->controlled = 1;
		p->test = 1;
	}
}
#else
static void
switch_on(void)
{
}
#endif

static void
hit(void)
{
	TNF_PROBE_0(work, "order", "");
}

static void
print_shared(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4096];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, " rw-s ") != NULL)
			fputs(line, stdout);
	if (f != NULL)
		fclose(f);
}

static int
filter(char **argv)
{
	struct sock_filter code[FILTER_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = { .filter = code };
	unsigned short n = 1;

	for (char *p = strtok(argv[2], ","); p != NULL && n < FILTER_MAX - 2; p = strtok(NULL, ",")) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (unsigned)strtoul(p, NULL, 10), 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		return 77;
	execv(argv[3], argv + 3);
	return 99;
}

static void
copy_line(void)
{
	char line[80];

	if (fgets(line, sizeof(line), stdin) != NULL)
		fputs(line, stdout);
}

int
main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "filter") == 0)
		return filter(argv);
	if (argc > 1 && strcmp(argv[1], "calls") == 0) {
		printf("%d,%d,%d\n", SYS_flock, SYS_gettid, SYS_fallocate);
		return 0;
	}
	if (given)
		switch_on();
	hit();
	if (argc > 2 && strcmp(argv[1], "load") == 0 && dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) == NULL)
		errx(1, "%s", dlerror());
	hit();
	if (argc > 1 && strcmp(argv[1], "maps") == 0)
		print_shared();
	else if (argc > 1 && strcmp(argv[1], "copy") == 0)
		copy_line();
	return 0;
}
