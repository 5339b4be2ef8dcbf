/*
 * loop.c - CPU nanoseconds per system call: kernel-loop CALLS [CPU].
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int
main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	cpu_set_t set;
	double t;

	CPU_ZERO(&set);
	CPU_SET(argc > 2 ? atoi(argv[2]) : 0, &set);
	sched_setaffinity(0, sizeof set, &set);
	for (long i = 0; i < calls / 10; i++)
		syscall(SYS_getppid);
	t = cpu_ns();
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	printf("%.1f\n", (cpu_ns() - t) / calls);
	return 0;
}
