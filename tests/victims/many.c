/*
 * many.c - victim: 1,000 probes, and threads that do nothing.
 *
 * many THREADS
 */
#include <pthread.h>
#include <stdlib.h>

#include <tnf/probe.h>

#include "victim.h"

#ifdef MANY_SECTIONS
/* As for C++. */
#undef TNF_SECTION_
#define TNF_SECTION_	TNF_PROBE_SECTION "." TNF_STR(__COUNTER__)
#endif

#define P(n)	TNF_PROBE_1(p##n, "many", "", tnf_int, n, i);
#define P10(n)	P(n##0) P(n##1) P(n##2) P(n##3) P(n##4) \
		P(n##5) P(n##6) P(n##7) P(n##8) P(n##9)
#define P100(n)	P10(n##0) P10(n##1) P10(n##2) P10(n##3) P10(n##4) \
		P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)

static void
hit(int i)
{
	P100(1) P100(2) P100(3) P100(4) P100(5)
	P100(6) P100(7) P100(8) P100(9) P100(10)
}

static void *
idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, i;
	pthread_t t;
	char line[16];

	for (i = 0; i < n; i++)
		if (pthread_create(&t, NULL, idle, NULL) != 0)
			return 1;
	victim_ready();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		hit(1);
		victim_ready();
	}
	return 0;
}
