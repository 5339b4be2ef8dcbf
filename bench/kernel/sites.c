/*
 * sites.c - CPU nanoseconds per hit of a USDT probe or call of a function:
 *
 *	kernel-sites usdt|function|probe HITS [CPU]
 *
 * A probe is one of TNF, in a function like the other.
 *
 * The median of a hundred pieces of the loop, as kernel-loop has it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

#include <tnf/probe.h>

#include "bench/kernel/pieces.h"

static void
usdt(long n)
{
	for (long i = 0; i < n; i++)
		STAP_PROBE2(sites, hit, i, n);
}

long sites_called(long number, long of);

#if __has_attribute(noipa)
__attribute__((noipa))
#else
__attribute__((noinline))
#endif
/* It begins with a push, as functions with a body do: the kernel does that for the
   program.  If it has to have the program do the first instruction, apart, a hit
   takes some ten microseconds in a virtual machine, whoever listens. */
long
sites_called(long number, long of)
{
#if defined(__x86_64__)
	__asm__ volatile ("" : : "r" (number), "r" (of) : "rbx", "memory");
#endif
	return number + of;
}

static void
function(long n)
{
	for (long i = 0; i < n; i++)
		sites_called(i, n);
}

long sites_probed(long number, long of);

#if __has_attribute(noipa)
__attribute__((noipa))
#else
__attribute__((noinline))
#endif
long
sites_probed(long number, long of)
{
#if defined(__x86_64__)
	__asm__ volatile ("" : : "r" (number), "r" (of) : "rbx", "memory");
#endif
	TNF_PROBE_2(sites_probe, "bench", "", tnf_long, number, number, tnf_long, of, of);
	return number + of;
}

static void
probe(long n)
{
	for (long i = 0; i < n; i++)
		sites_probed(i, n);
}

int
main(int argc, char **argv)
{
	void (*what)(long) = argc < 2 || strcmp(argv[1], "usdt") == 0 ? usdt :
	    strcmp(argv[1], "probe") == 0 ? probe : function;
	long n = argc > 2 ? atol(argv[2]) : 100000;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(argc > 3 ? atoi(argv[3]) : 0, &set);
	sched_setaffinity(0, sizeof set, &set);
	what(n / 10);
	printf("%.1f\n", median(what, n));
	return 0;
}
