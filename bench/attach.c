/*
 * attach.c - how long a target stands still.
 *
 * attach [open|enable] [ROUNDS]
 *
 * The target is this program again, in a child: 50 threads, 1,000 probes.  One
 * thread does nothing but look at the clock and adds up the time for which it
 * did not come to it.  It prints what the target sees, not what the
 * controller thinks: the median of the longest gap of each visit.
 *
 * open		attach and let go
 * enable	attach, enable all probes, let go: what that adds
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>
#include <tnf/tnfctl.h>

#define THREADS	50
#define ROUNDS	31

#define P(n)	TNF_PROBE_1(p##n, "many", "", tnf_int, n, i);
#define P10(n)	P(n##0) P(n##1) P(n##2) P(n##3) P(n##4) \
		P(n##5) P(n##6) P(n##7) P(n##8) P(n##9)
#define P100(n)	P10(n##0) P10(n##1) P10(n##2) P10(n##3) P10(n##4) \
		P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)

struct shared {
	volatile int ready;
	volatile int64_t longest;	/* gap, ns, since it was last set to 0 */
};

static struct shared *shared;

void never(int);

/* Not called: 1,000 probes are there. */
__attribute__((noinline)) void
never(int i)
{
	P100(1) P100(2) P100(3) P100(4) P100(5)
	P100(6) P100(7) P100(8) P100(9) P100(10)
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void *
idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void
target(void)
{
	int64_t last, now;
	pthread_t t;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 1; i < THREADS; i++)
		pthread_create(&t, NULL, idle, NULL);
	shared->ready = 1;
	for (last = now_ns();; last = now) {
		now = now_ns();
		if (now - last > shared->longest)
			shared->longest = now - last;
		if (shared->ready == 2)
			never(i);
	}
}

static void
check(tnfctl_errcode_t err, const char *what)
{
	if (err == TNFCTL_ERR_NONE)
		return;
	fprintf(stderr, "attach: %s: %s (%s)\n", what, tnfctl_strerror(err),
	    tnfctl_error_detail());
	exit(1);
}

/* Longest gap in ns. */
static int64_t
visit(pid_t pid, int enable)
{
	tnfctl_handle_t *h;

	usleep(5000);
	shared->longest = 0;
	check(tnfctl_pid_open(pid, &h), "open");
	if (enable)
		check(tnfctl_probe_apply(h, tnfctl_probe_enable, NULL),
		    "enable");
	check(tnfctl_close(h, TNFCTL_TARG_RESUME), "close");
	usleep(2000);
	return shared->longest;
}

static void
prepare(pid_t pid)
{
	char name[64];
	tnfctl_handle_t *h;

	snprintf(name, sizeof(name), "/tmp/bench-attach-%d.tnf", (int)pid);
	check(tnfctl_pid_open(pid, &h), "open");
	check(tnfctl_buffer_alloc(h, name, 1 << 20), "trace file");
	check(tnfctl_close(h, TNFCTL_TARG_RESUME), "close");
	unlink(name);
}

static int
by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double
median_ms(int64_t *gaps, int n)
{
	qsort(gaps, (size_t)n, sizeof(*gaps), by_size);
	return (double)gaps[n / 2] / 1e6;
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : ROUNDS, i;
	int64_t *open = calloc((size_t)n, sizeof(*open));
	int64_t *enable = calloc((size_t)n, sizeof(*enable));
	double o, e;
	pid_t pid;

	if (n < 1 || open == NULL || enable == NULL)
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	if ((pid = fork()) == 0)
		target();
	while (!shared->ready)
		usleep(1000);
	prepare(pid);
	for (i = 0; i < n; i++) {
		open[i] = visit(pid, 0);
		enable[i] = visit(pid, 1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	o = median_ms(open, n);
	e = median_ms(enable, n);
	if (argc > 1 && strcmp(argv[1], "open") == 0)
		printf("%.3f\n", o);
	else if (argc > 1 && strcmp(argv[1], "enable") == 0)
		printf("%.3f\n", e > o ? e - o : 0.0);
	else
		printf("%d threads, attach and let go: %.2f ms "
		    "(%.2f to %.2f)\nenable 1,000 probes on top: %.2f ms\n",
		    THREADS, o, (double)open[0] / 1e6,
		    (double)open[n - 1] / 1e6, e > o ? e - o : 0.0);
	return 0;
}
