/*
 * loop.c - CPU nanoseconds per system call, or per switch of threads:
 *
 *	kernel-loop CALLS [CPU]
 *	kernel-loop -s SWITCHES [CPU]	two threads wake each other, and sleep
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ball[2][2];		/* pipes, there and back */

static double
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void
calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void *
return_ball(void *arg)
{
	char c;

	while (read(ball[0][0], &c, 1) == 1 && write(ball[1][1], &c, 1) == 1)
		;
	return arg;
}

/* Each reading finds nothing and sleeps: on one CPU, two switches a turn. */
static void
switches(long n)
{
	char c = 0;

	for (long i = 0; i < n; i += 2)
		if (write(ball[0][1], &c, 1) != 1 || read(ball[1][0], &c, 1) != 1)
			return;
}

int
main(int argc, char **argv)
{
	void (*what)(long) = calls;
	pthread_t other;
	cpu_set_t set;
	double t;
	long n;

	if (argc > 1 && strcmp(argv[1], "-s") == 0) {
		what = switches;
		argc--, argv++;
	}
	n = argc > 1 ? atol(argv[1]) : 1000000;
	CPU_ZERO(&set);
	CPU_SET(argc > 2 ? atoi(argv[2]) : 0, &set);
	sched_setaffinity(0, sizeof set, &set);
	if (what == switches && (pipe(ball[0]) != 0 || pipe(ball[1]) != 0 ||
	    pthread_create(&other, NULL, return_ball, NULL) != 0)) {
		perror("kernel-loop");
		return 1;
	}
	what(n / 10);
	t = cpu_ns();
	what(n);
	printf("%.1f\n", (cpu_ns() - t) / n);
	return 0;
}
