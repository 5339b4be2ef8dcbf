/*
 * crowd.c - 1,500 threads that write into one small ring: most find no block to write into.
 *
 * It begins when it gets a line and says "done"; with another line a rest begins.  It ends with
 * its input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tnf/probe.h>

#define THREADS	1500
#define EVENTS	40

static void *
run(void *arg)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (long i = 0; i < EVENTS; i++) {
		TNF_PROBE_1(tick, "tick", "", tnf_long, i, i);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int
main(void)
{
	static pthread_t t[THREADS];
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 128 << 10);
	if (getchar() == EOF)
		return 2;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], &a, run, NULL) != 0)
			return 77;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	puts("done");
	fflush(stdout);
	if (getchar() != EOF)
		TNF_PROBE_0(rest_start, "tick", "");
	return getchar() == 'x';
}
