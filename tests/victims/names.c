/*
 * names.c - victim: threads that name themselves, hit a probe, and end.
 */
#include <pthread.h>
#include <stdint.h>

#include <tnf/probe.h>

#include "victim.h"

#define THREADS	3

static void *
worker(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %d", (int)(intptr_t)arg);
	pthread_setname_np(pthread_self(), name);
	TNF_PROBE_1(named, "names", "", tnf_int, n, (int)(intptr_t)arg);
	return NULL;
}

int
main(void)
{
	pthread_t t;
	intptr_t i;

	victim_ready();
	while (getchar() != EOF)
		;
	for (i = 0; i < THREADS; i++) {
		pthread_create(&t, NULL, worker, (void *)i);
		pthread_join(t, NULL);
	}
	pthread_setname_np(pthread_self(), "master");
	TNF_PROBE_0(last, "names", "");
	return 0;
}
