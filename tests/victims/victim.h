/*
 * victim.h - what the programs that get traced have in common.
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/target.h>

#include "tests/slow.h"

#ifdef VICTIM_KEEP_LIBRARY
/* Probes alone do not refer to the library, and the linker would drop it. */
extern struct tnf_process_control _tnf_process_control;
const void *const victim_library __attribute__((used)) =
    &_tnf_process_control;
#endif

/* The test waits for this line. */
static inline void
victim_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Is the time of a victim over?  SECONDS is a number, or "-": until its input ends,
   however slow the machine is. */
static inline int
victim_is_over(const char *seconds)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	static struct timespec start;
	struct timespec now;

	if (strcmp(seconds, "-") == 0)
		return poll(&in, 1, 0) > 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (start.tv_sec == 0)
		start = now;
	now.tv_sec -= start.tv_sec + (now.tv_nsec < start.tv_nsec);
	return now.tv_sec >= atoi(seconds);
}

/* SIGUSR1 every so many nanoseconds, of a machine that is not slow: signals that come
   each millisecond leave an emulated one no time for anything else. */
static inline void
victim_signals(void (*handler)(int), long ns)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct timespec rest = { 0, ns * times_slower() };
	const struct itimerspec often = { rest, rest };
	timer_t t;

	sigaction(SIGUSR1, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &t);
	timer_settime(t, 0, &often, NULL);
}

/* Something is not as it would be if nobody had looked. */
static inline void
victim_harmed(const char *what)
{
	printf("harmed: %s\n", what);
	fflush(stdout);
	_exit(9);
}

#endif
