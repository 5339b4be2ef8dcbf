/*
 * lttng.c - one lttng-ust event in a loop: ns of CPU per event.
 *
 * usage: peer-lttng none|args LOOPS THREADS.  Prints one number.  Whether the
 * event is on, and with which context, is decided by the session around it.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-tp.h"

#include "loop.h"

static void none(long n)
{
	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(bench, none);
}

static void args(long n)
{
	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(bench, args, (int)i, 7, "hello");
}

int main(int argc, char **argv)
{
	return loop_main(argc, argv, none, args);
}
