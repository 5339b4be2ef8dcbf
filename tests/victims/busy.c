/*
 * busy.c - victim: never sleeps; allocates, loads lazily, runs handlers.
 *
 * busy malloc|loop|handler SECONDS|-: where a visitor must not call dlopen() at
 * any instruction.  Ends with "unharmed".
 */
#include <signal.h>
#include <sys/time.h>

#include <tnf/probe.h>

#include "victim.h"

static volatile long handled;

static void
on_alarm(int sig)
{
	volatile int i;

	for (i = 0; i < 100000; i++)
		;
	handled++;
}

static void
allocate(void)
{
	enum { N = 64 };
	static char *p[N];
	static unsigned int seed = 1;
	size_t size;
	unsigned int i;

	seed = seed * 1103515245 + 12345;
	i = (seed >> 8) % N;
	size = 1 + (seed >> 4) % 200000;
	if (p[i] != NULL && p[i][0] != (char)i)
		victim_harmed("the heap");
	free(p[i]);
	p[i] = malloc(size);
	p[i][0] = (char)i;
	p[i][size - 1] = (char)i;
}

int
main(int argc, char **argv)
{
	const char *seconds = argc > 2 ? argv[2] : "2";
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	int with_malloc = argc > 1 && strcmp(argv[1], "loop") != 0;
	volatile long n = 0;

	if (argc > 1 && strcmp(argv[1], "handler") == 0) {
		signal(SIGALRM, on_alarm);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	victim_ready();
	while (!victim_is_over(seconds)) {
		TNF_PROBE_1(busy, "busy", "", tnf_long, n, n);
		if (with_malloc)
			allocate();
		n++;
	}
	puts("unharmed");
	return 0;
}
