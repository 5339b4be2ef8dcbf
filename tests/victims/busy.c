/*
 * busy.c - victim: never sleeps; allocates, loads lazily, runs handlers.
 *
 * busy malloc|loop|handler|stale|inside SECONDS|-: where a visitor must not call dlopen()
 * at any instruction (stale: at almost none that looks like it).  Ends with "unharmed".
 *
 * stale: below main() lies an array that is never written, and in it what the linker
 * has left on the stack.  inside: the linker calls us, from the program's end on.
 */
#include <dlfcn.h>
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

static const char *until;

/* The work of a moment, so deep in the linker that the array below covers its frames. */
__attribute__((noinline)) static void
use_linker(void)
{
	void *maths = dlopen("libm.so.6", RTLD_NOW);

	if (maths != NULL && dlsym(maths, "cos") != NULL)
		dlclose(maths);
}

__attribute__((noinline)) static void
work_above_unwritten(const char *seconds)
{
	volatile char unwritten[16384];
	volatile long n = 0;

	unwritten[0] = 1;
	victim_ready();
	while (!victim_is_over(seconds)) {
		TNF_PROBE_1(stale, "busy", "", tnf_long, n, n);
		n++;
	}
	if (unwritten[0] != 1)
		victim_harmed("the stack");
}

__attribute__((destructor)) static void
work_inside(void)
{
	if (until == NULL)
		return;
	victim_ready();
	while (!victim_is_over(until))
		TNF_PROBE_0(inside, "busy", "");
	puts("unharmed");
	fflush(stdout);
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
	if (argc > 1 && strcmp(argv[1], "inside") == 0) {
		until = seconds;
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "stale") == 0) {
		use_linker();
		work_above_unwritten(seconds);
		puts("unharmed");
		return 0;
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
