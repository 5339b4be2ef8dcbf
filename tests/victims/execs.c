/*
 * execs.c - victim: becomes itself anew again and again.
 *
 * execs [US THREADS WHO]: after so many microseconds (2,000) WHO calls exec(): the "leader",
 * an "other" thread of THREADS (1), or in turns each ("any").  The others sleep, and are
 * what a visitor uses.  Ends with its input and prints "unharmed".
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include <tnf/probe.h>

#include "victim.h"

static char us[] = "2000", threads[] = "1", who[] = "other", turn[16] = "0";
static char *again[6] = { NULL, us, threads, who, turn, NULL };

static void *
exec_soon(void *arg)
{
	snprintf(turn, sizeof(turn), "%d", atoi(again[4]) + 1);
	again[4] = turn;
	usleep((useconds_t)atoi(again[1]));
	execv("/proc/self/exe", again);
	victim_harmed("exec");
	return arg;
}

static void *
sleep_on(void *arg)
{
	for (;;)
		usleep(100000);
	return arg;
}

/* 0: the leader. */
static int
execs_turn(int n)
{
	return strcmp(again[3], "leader") == 0 ? 0 : strcmp(again[3], "other") == 0 ? 1 :
	    atoi(again[4]) % (n + 1);
}

int
main(int argc, char **argv)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	int n, now, error;
	pthread_t t;

	for (int i = 0; i < argc && i < 5; i++)
		again[i] = argv[i];
	n = atoi(again[2]);
	now = execs_turn(n);
	TNF_PROBE_0(execs, "exec", "");
	if (argc < 5)
		victim_ready();
	if (poll(&p, 1, 0) > 0) {
		puts("unharmed");
		return 0;
	}
	for (int i = 1; i <= n; i++)
		/* EAGAIN: another one is in its exec() already. */
		if ((error = pthread_create(&t, NULL, i == now ? exec_soon : sleep_on,
		    NULL)) != 0 && error != EAGAIN)
			victim_harmed(strerror(error));
	(now == 0 ? exec_soon : sleep_on)(NULL);
}
