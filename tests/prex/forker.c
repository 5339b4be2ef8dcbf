/*
 * forker.c - a family with probes, to be followed.
 *
 * usage: forker LOOPS: a child, and a child of it, count as the parent does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>

static void
count(int loops, const char *who)
{
	const struct timespec ms = { .tv_nsec = 10000000 };
	int i;

	for (i = 0; i < loops; i++) {
		TNF_PROBE_2(turn, "family", "", tnf_string, who, who,
		    tnf_long, turn, i);
		nanosleep(&ms, NULL);
	}
}

int
main(int argc, char **argv)
{
	int loops = argc > 1 ? atoi(argv[1]) : 10, status;

	if (fork() == 0) {
		if (fork() == 0) {
			count(loops, "grandchild");
			return 0;
		}
		count(loops, "child");
		wait(&status);
		return 0;
	}
	count(loops, "parent");
	wait(&status);
	return status == 0 ? 0 : 1;
}
