/*
 * usdt.c - one USDT probe in a loop: ns of CPU per event.
 *
 * usage: peer-usdt none|args LOOPS THREADS.  Off unless a tracer (bpftrace,
 * perf) has put an uprobe on it.
 */
#include <sys/sdt.h>

#include "loop.h"

static void none(long n)
{
	for (long i = 0; i < n; i++)
		DTRACE_PROBE(bench, none);
}

static void args(long n)
{
	for (long i = 0; i < n; i++)
		DTRACE_PROBE3(bench, args, (int)i, 7, "hello");
}

int main(int argc, char **argv)
{
	return loop_main(argc, argv, none, args);
}
