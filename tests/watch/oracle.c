/*
 * oracle.c - does what triggers wait for, and tells what it did: oracle SECONDS PER_SECOND FILE.
 *
 * Beside PER_SECOND events that no trigger is about, one thing is done every half second, in
 * turn.  Each line of FILE is what was done, with the times before and behind it on the clock of
 * the trace: oracle.py says from these alone what must have fired.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tnf/incident.h>
#include <tnf/probe.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *did;
static long long end;
static volatile int slow, quiet;

static long long
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void
sleep_until(long long when)
{
	struct timespec t = { .tv_sec = when / 1000000000, .tv_nsec = when % 1000000000 };

	if (when > now())
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void
sleep_ms(long ms)
{
	sleep_until(now() + ms * 1000000LL);
}

/* The deed began between the first two times, and ended between the others. */
static void
done(const char *what, long value, long long before, long long behind, long long before_end,
    long long behind_end)
{
	pthread_mutex_lock(&lock);
	fprintf(did, "%s %ld %lld %lld %lld %lld\n", what, value, before, behind, before_end,
	    behind_end);
	pthread_mutex_unlock(&lock);
}

static void
once(const char *what, long value, long long before)
{
	long long behind = now();

	done(what, value, before, behind, before, behind);
}

static void *
background(void *arg)
{
	long rate = *(long *)arg, n = 0;
	long long next = now();

	while (now() < end) {
		/* A hundredth of a second's events at once, as a server has them. */
		for (long i = 0; i < rate / 200; i++) {
			TNF_PROBE_1(order_start, "order", "", tnf_long, id, ++n);
			TNF_PROBE_1(order_end, "order", "", tnf_long, id, n);
		}
		sleep_until(next += 10000000);
	}
	return NULL;
}

static void *
heart(void *arg)
{
	long long t;

	while (now() < end) {
		sleep_ms(100);
		if (quiet)
			continue;
		t = now();
		TNF_PROBE_0(beat, "beat", "");
		once("beat", 0, t);
	}
	return NULL;
}

static void *
requests(void *arg)
{
	long long a, b, c;

	while (now() < end) {
		sleep_ms(8);
		a = now();
		TNF_PROBE_0(req_start, "req", "");
		b = now();
		if (slow)
			sleep_ms(12);
		c = now();
		TNF_PROBE_0(req_end, "req", "");
		done("req", 0, a, b, c, now());
	}
	return NULL;
}

static void
span(long ms, long kind)
{
	long long a = now(), b, c;

	TNF_PROBE_1(pay_start, "pay", "", tnf_long, kind, kind);
	b = now();
	sleep_ms(ms);
	c = now();
	TNF_PROBE_0(pay_end, "pay", "");
	done("pay", kind, a, b, c, now());
}

static void
many(const char *what, long n, long us)
{
	long long next = now(), t;

	for (; n > 0; n--) {
		t = now();
		if (strcmp(what, "burst") == 0) {
			TNF_PROBE_0(burst, "burst", "");
		} else {
			TNF_PROBE_0(flow, "flow", "");
		}
		once(what, 0, t);
		sleep_until(next += us * 1000);
	}
}

static void
do_one(long i)
{
	long long t = now();

	switch (i % 12) {
	case 0:
	case 1:
		TNF_PROBE_1(odd, "odd", "", tnf_long, n, i % 2);
		once("odd", i % 2, t);
		break;
	case 2:
		span(30, 7);
		break;
	case 3:
		span(10, 7);
		break;
	case 4:
		span(30, 3);
		break;
	case 5:
		span(150, 3);
		break;
	case 6:
		many("burst", 300, 500);
		break;
	case 7:
		many("burst", 150, 500);
		break;
	case 8:
		many("flow", 500, 5000);	/* 200 a second for 2.5 s */
		break;
	case 9:
		many("flow", 400, 100);		/* a burst of 0.04 s */
		break;
	case 10:
		quiet = 1;
		sleep_ms(1200);
		quiet = 0;
		slow = 1;
		sleep_ms(2500);
		slow = 0;
		break;
	case 11:
		tnf_incident("oracle %ld", i);
		once("incident", i, t);
		break;
	}
}

int
main(int argc, char **argv)
{
	pthread_t t[3];
	long rate;

	if (argc != 4 || (did = fopen(argv[3], "w")) == NULL)
		return 2;
	rate = atol(argv[2]);
	/* Whoever watches is there first, and sees everything. */
	if (getchar() == EOF)
		return 2;
	end = now() + atol(argv[1]) * 1000000000LL;
	pthread_create(&t[0], NULL, background, &rate);
	pthread_create(&t[1], NULL, heart, NULL);
	pthread_create(&t[2], NULL, requests, NULL);
	for (long i = 0; now() < end; i++) {
		do_one(i);
		sleep_ms(500);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	once("end", 0, now());
	TNF_PROBE_0(closing, "closing", "");
	fclose(did);
	puts("done");
	fflush(stdout);
	getchar();		/* it does not end before it is told to */
	return 0;
}
