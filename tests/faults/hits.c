/*
 * hits.c - victim: fires a numbered probe, and does to itself what it is told.
 *
 * usage: hits COUNTER WORD...
 *
 *	ready		says "ready" and waits for a line
 *	hit=N slow=N	N events; "slow" a millisecond apart
 *	for-ever	events until somebody kills us
 *	fds fsize=N memory=N	uses up descriptors; limits file size, memory
 *	user=N root=DIR	becomes another user; gets another root directory
 *	euid=N		seteuid()
 *	load=FILE	dlopen()
 *	family=N	four children with N slow events each
 *	killed-child	a child that is killed in the midst of its events
 *	strict		strict mode of seccomp, then events
 *	abort _exit kill
 *
 * COUNTER is a file that holds how many events are behind us.  A last line
 * "unharmed" says that nothing else has happened.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>

#include "tests/victims/victim.h"

static volatile uint64_t *done;

static void
must(int result, const char *what)
{
	if (result == 0)
		return;
	perror(what);
	_exit(8);
}

static void
map_counter(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	must(fd == -1 || ftruncate(fd, sizeof(*done)) == -1, file);
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);
	must(done == MAP_FAILED, file);
	close(fd);
}

static void
hit(uint64_t n, long pause_ns)
{
	const struct timespec pause = { .tv_nsec = pause_ns };

	for (; n > 0; n--) {
		TNF_PROBE_2(hit, "faults", "", tnf_uint64, number, *done + 1,
		    tnf_string, text, "as long as it takes");
		++*done;
		if (pause_ns > 0)
			nanosleep(&pause, NULL);
	}
}

static void
wait_for_line(void)
{
	int c;

	victim_ready();
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

static void
limit(__rlimit_resource_t what, rlim_t n)
{
	const struct rlimit rl = { n, n };

	must(setrlimit(what, &rl), "setrlimit");
}

static void
use_up_descriptors(void)
{
	limit(RLIMIT_NOFILE, 20);
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) != -1)
		;
}

static void
become(uid_t id)
{
	must(setgroups(0, NULL), "setgroups");
	must(setresgid(id, id, id), "setresgid");
	must(setresuid(id, id, id), "setresuid");
}

static void
family(uint64_t n)
{
	int i, status;

	for (i = 0; i < 4; i++)
		if (fork() == 0) {
			hit(n, 1000000);
			_exit(0);
		}
	while (wait(&status) > 0)
		must(status, "child");
}

static void
killed_child(void)
{
	uint64_t enough = *done + 10000;
	pid_t pid = fork();

	if (pid == 0)
		hit(UINT64_MAX, 0);
	while (*done < enough)
		usleep(1000);
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0) != pid, "waitpid");
}

/* There are no other system calls from here on. */
static void
strict(void)
{
	static const char text[] = "unharmed\n";

	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0), "prctl");
	hit(10000, 0);
	syscall(SYS_exit, write(1, text, sizeof(text) - 1) == -1);
}

static void
obey(const char *word, const char *value)
{
	uint64_t n = strtoull(value, NULL, 10);

	if (strcmp(word, "ready") == 0)
		wait_for_line();
	else if (strcmp(word, "hit") == 0)
		hit(n, 0);
	else if (strcmp(word, "slow") == 0)
		hit(n, 1000000);
	else if (strcmp(word, "for-ever") == 0)
		hit(UINT64_MAX, 0);
	else if (strcmp(word, "fds") == 0)
		use_up_descriptors();
	else if (strcmp(word, "fsize") == 0)
		limit(RLIMIT_FSIZE, n);
	else if (strcmp(word, "memory") == 0)
		limit(RLIMIT_AS, n);
	else if (strcmp(word, "user") == 0)
		become((uid_t)n);
	else if (strcmp(word, "euid") == 0)
		must(seteuid((uid_t)n), "seteuid");
	else if (strcmp(word, "root") == 0)
		must(chroot(value) == -1 || chdir("/") == -1, value);
	else if (strcmp(word, "load") == 0)
		must(dlopen(value, RTLD_NOW) == NULL, value);
	else if (strcmp(word, "family") == 0)
		family(n);
	else if (strcmp(word, "killed-child") == 0)
		killed_child();
	else if (strcmp(word, "strict") == 0)
		strict();
	else if (strcmp(word, "abort") == 0)
		abort();
	else if (strcmp(word, "_exit") == 0)
		_exit(0);
	else if (strcmp(word, "kill") == 0)
		kill(getpid(), SIGKILL);
	else
		must(1, word);
}

int
main(int argc, char **argv)
{
	char *value;
	int i;

	if (argc < 2)
		return 2;
	map_counter(argv[1]);
	for (i = 2; i < argc; i++) {
		value = strchr(argv[i], '=');
		if (value != NULL)
			*value++ = '\0';
		obey(argv[i], value != NULL ? value : "");
	}
	puts("unharmed");
	return 0;
}
