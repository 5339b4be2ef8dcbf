/*
 * still.c - how long a process stands still when functions of it are switched on as fast probes.
 *
 * still PID FUNCTIONS ROUNDS
 *
 * Prints, in milliseconds of this program's CPU while the process stands, the least of the rounds: the attach
 * to it, and so many functions on and off, each to the moment when it is let go; functions on without the leaving, but
 * with what is prepared while the process runs; and as the floor of these what the kernel takes for the pages: those that change, read
 * and written once.  The functions are made before, and the pages are copies that the process has already.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/tnfctl.h>

#define PAGE	4096u
#define RUN	16u		/* pages at once, as libtnfctl has it */

static pid_t target;
static bool held;
static double since, sum;	/* ms of CPU: when the hold began, or was last added; of all holds */

static double
cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* In the place of the C library's, for libtnfctl: the process stands from the first thread that is asked to
   stop to the last one that is let go. */
long __attribute__((visibility("default")))
ptrace(enum __ptrace_request request, ...)
{
	double now = cpu_ms();
	va_list args;
	long tid, address, data, result, word;

	va_start(args, request);
	tid = va_arg(args, pid_t);
	address = va_arg(args, long);
	data = va_arg(args, long);
	va_end(args);
	if (request == PTRACE_INTERRUPT && !held) {
		since = now;
		held = true;
	}
	if (request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSER)
		result = syscall(SYS_ptrace, request, tid, address, &word) == 0 ? (errno = 0, word) : -1;
	else
		result = syscall(SYS_ptrace, request, tid, address, data);
	if (request == PTRACE_CONT || request == PTRACE_DETACH || request == PTRACE_LISTEN) {
		now = cpu_ms();
		sum += now - since;
		since = now;
		held = false;
	}
	return result;
}

/* How long it has stood so far. */
static double
stood(void)
{
	return sum + (held ? cpu_ms() - since : 0);
}

static void
check(tnfctl_errcode_t e, const char *what)
{
	if (e != TNFCTL_ERR_NONE)
		errx(1, "%s: %s: %s", what, tnfctl_strerror(e), tnfctl_error_detail());
}

static unsigned long *ids;
static size_t nids, wanted;

/* The times of a visit, in ms: standing, and of the switching alone, standing or not. */
struct took {
	double attach, set, all;
};

static tnfctl_errcode_t
choose(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	tnfctl_probe_state_t s;
	tnfctl_errcode_t e = tnfctl_probe_state_get(h, p, &s);

	if (e == TNFCTL_ERR_NONE && nids < wanted && strstr(s.attr_string, ";fast yes;") != NULL)
		ids[nids++] = s.id;
	return e;
}

static struct took
visit(bool on, bool first)
{
	double attached, start, took;
	tnfctl_handle_t *h;
	tnfctl_errcode_t e;
	char name[64];

	check((first ? tnfctl_pid_load : tnfctl_pid_open)(target, &h), "attach");
	if (first) {
		snprintf(name, sizeof(name), "/tmp/bench-still-%d.tnf", (int)target);
		if ((e = tnfctl_buffer_alloc(h, name, 1 << 20)) != TNFCTL_ERR_BUFEXISTS)
			check(e, "trace file");
		unlink(name);
		check(tnfctl_import_add(h, "fast", NULL), "fast");
		check(tnfctl_import_add(h, "usdt", NULL), "imports");
		check(tnfctl_import_add(h, "function", "/./"), "functions");
	}
	check(tnfctl_probe_apply(h, choose, NULL), "choose");
	if (nids < wanted)
		errx(1, "only %zu functions of the process can be fast", nids);
	attached = stood();
	start = cpu_ms();
	check(tnfctl_probe_apply_ids(h, nids, ids, on ? tnfctl_probe_enable : tnfctl_probe_disable, NULL), "set");
	took = cpu_ms() - start;
	check(tnfctl_close(h, TNFCTL_TARG_DEFAULT), "close");
	return (struct took){ attached, stood() - attached, took };
}

/* The functions are on or off from now on; min: the least so far, or NULL.  By a process of its own, as prex is one,
   with the memory that it has then. */
static void
switch_all(bool on, bool first, struct took *min)
{
	struct took took;
	int ends[2], status;
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0)
		err(1, "fork");
	if (child == 0) {
		took = visit(on, first);
		_exit(write(ends[1], &took, sizeof(took)) == sizeof(took) ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child || status != 0 || read(ends[0], &took, sizeof(took)) != sizeof(took))
		exit(1);
	close(ends[0]);
	close(ends[1]);
	if (min != NULL && (min->attach == 0 || took.attach < min->attach))
		min->attach = took.attach;
	if (min != NULL && (min->set == 0 || took.set < min->set))
		min->set = took.set;
	if (min != NULL && (min->all == 0 || took.all < min->all))
		min->all = took.all;
}

/* The code of the process, or a byte less of each page that cannot be read. */
struct code {
	uintptr_t *at;
	uint8_t	 (*page)[PAGE];
	size_t	 n;
};

static int
open_memory(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)target);
	if ((fd = open(name, O_RDWR)) < 0)
		err(1, "%s", name);
	return fd;
}

static struct code
read_code(int mem)
{
	struct code c = { .n = 0 };
	unsigned long start, end;
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)target);
	if ((f = fopen(name, "r")) == NULL)
		err(1, "%s", name);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx r-x", &start, &end) != 2 || strstr(line, " r-xp ") == NULL ||
		    strchr(line, '/') == NULL)
			continue;
		c.at = reallocarray(c.at, c.n + (end - start) / PAGE, sizeof(*c.at));
		c.page = reallocarray(c.page, c.n + (end - start) / PAGE, PAGE);
		if (c.at == NULL || c.page == NULL)
			err(1, "memory");
		for (; start < end; start += PAGE, c.n++) {
			c.at[c.n] = start;
			if (pread(mem, c.page[c.n], PAGE, (off_t)start) != PAGE)
				memset(c.page[c.n], 0, PAGE);
		}
	}
	fclose(f);
	return c;
}

/* Writes n pages that follow each other, as they are. */
static void
rewrite(int mem, uintptr_t at, size_t n)
{
	static uint8_t bytes[RUN * PAGE];
	struct iovec to = { bytes, n * PAGE }, from = { (void *)at, n * PAGE };

	if (process_vm_readv(target, &to, 1, &from, 1, 0) != (ssize_t)(n * PAGE) ||
	    pwrite(mem, bytes, n * PAGE, (off_t)at) != (ssize_t)(n * PAGE))
		err(1, "page %lx", (unsigned long)at);
}

static double
floor_ms(int mem, const uintptr_t *at, size_t n)
{
	double start = cpu_ms();
	size_t run;

	for (; n > 0; n -= run, at += run) {
		for (run = 1; run < n && run < RUN && at[run] == at[run - 1] + PAGE; run++)
			;
		rewrite(mem, at[0], run);
	}
	return cpu_ms() - start;
}

int
main(int argc, char **argv)
{
	struct took on = { 0 }, off = { 0 };
	double floor = 0, now;
	struct code with, without;
	uintptr_t *pages;
	size_t n = 0;
	int mem, rounds;

	if (argc != 4)
		errx(2, "usage: still PID FUNCTIONS ROUNDS");
	target = atoi(argv[1]);
	wanted = strtoul(argv[2], NULL, 10);
	rounds = atoi(argv[3]);
	mem = open_memory();
	if ((ids = calloc(wanted + 1, sizeof(*ids))) == NULL)
		err(1, "memory");
	switch_all(true, true, NULL);
	switch_all(false, false, NULL);
	without = read_code(mem);
	switch_all(true, false, NULL);
	with = read_code(mem);
	if ((pages = calloc(with.n, sizeof(*pages))) == NULL)
		err(1, "memory");
	for (size_t i = 0; i < with.n && i < without.n; i++)
		if (memcmp(with.page[i], without.page[i], PAGE) != 0)
			pages[n++] = with.at[i];
	free(with.page);
	free(without.page);
	for (int i = 0; i < rounds; i++) {
		switch_all(false, false, &off);
		switch_all(true, false, &on);
		kill(target, SIGSTOP);
		usleep(1000);
		now = floor_ms(mem, pages, n);
		floor = i == 0 || now < floor ? now : floor;
		kill(target, SIGCONT);
	}
	switch_all(false, false, NULL);
	printf("attach to them,%.3f\n%zu functions on,%.3f\n%zu functions off,%.3f\n"
	    "the call for on with what is prepared while it runs,%.3f\ntheir pages read and written,%.3f\n",
	    on.attach, wanted, on.set, wanted, off.set, on.all, floor);
	return 0;
}
