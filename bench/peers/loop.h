/*
 * loop.h - time a loop in one or more threads, by thread CPU time.
 *
 * Shared by the peers, so that each is measured in the same way.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*loop_fn)(long n);

struct loop_job {
	loop_fn	fn;
	long	n;
	double	ns;		/* result: CPU ns per turn */
};

static double loop_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *loop_thread(void *arg)
{
	struct loop_job *job = arg;
	double t;

	job->fn(job->n / 100 + 1);	/* first use: caches, definitions */
	t = loop_cpu_ns();
	job->fn(job->n);
	job->ns = (loop_cpu_ns() - t) / job->n;
	return NULL;
}

/* Prints the mean over the threads. */
static int loop_main(int argc, char **argv, loop_fn none, loop_fn args)
{
	struct loop_job job[64];
	pthread_t id[64];
	double sum = 0;
	int n;

	if (argc != 4 || (n = atoi(argv[3])) < 1 || n > 64) {
		fprintf(stderr, "usage: %s none|args LOOPS THREADS(1..64)\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		job[i].fn = strcmp(argv[1], "none") == 0 ? none : args;
		job[i].n = atol(argv[2]);
		if (pthread_create(&id[i], NULL, loop_thread, &job[i]) != 0) {
			perror("pthread_create");
			return 1;
		}
	}
	for (int i = 0; i < n; i++) {
		pthread_join(id[i], NULL);
		sum += job[i].ns;
	}
	printf("%.2f\n", sum / n);
	return 0;
}

#endif
