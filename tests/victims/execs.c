/*
 * execs.c - victim: becomes itself anew every two milliseconds.
 *
 * It is not the leader that calls exec(): that sleeps, and is what a visitor
 * uses.  Ends with its input and prints "unharmed".
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include <tnf/probe.h>

#include "victim.h"

static char **args;

static void *
exec_soon(void *arg)
{
	static char again[] = "again";
	char *argv[] = { args[0], again, NULL };

	usleep(2000);
	execv("/proc/self/exe", argv);
	victim_harmed("exec");
	return arg;
}

int
main(int argc, char **argv)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	pthread_t t;

	args = argv;
	TNF_PROBE_0(execs, "exec", "");
	if (argc < 2)
		victim_ready();
	if (poll(&p, 1, 0) > 0) {
		puts("unharmed");
		return 0;
	}
	if (pthread_create(&t, NULL, exec_soon, NULL) != 0)
		return 1;
	for (;;)
		usleep(100000);
}
