/*
 * signals.c - victim: N threads that get signals all the time, and count them.
 *
 * signals N: each thread is sent queued signals (SIGRTMIN) and, whenever the
 * one before has come, a standard one (SIGUSR1).  After a line of input no
 * more are sent; then it prints "sent A got B" and ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <tnf/probe.h>

#include "victim.h"

#define THREADS_MAX	64
#define QUEUED_MAX	32	/* per thread, on their way */

static struct receiver {
	pthread_t thread;
	atomic_ulong queued, queued_got;
	atomic_ulong standard, standard_got;
	atomic_bool last_got;
} receivers[THREADS_MAX];
static _Thread_local struct receiver *self;
static atomic_bool stop;
static long n;

static void
on_signal(int sig)
{
	if (sig == SIGUSR1)
		self->standard_got++;
	else if (sig == SIGRTMIN)
		self->queued_got++;
	else
		self->last_got = true;
}

static void
catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	/* One after the other, in the order of their numbers. */
	sigfillset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	sigaction(SIGRTMIN + 1, &sa, NULL);
}

static void *
receive(void *arg)
{
	const struct timespec ts = { .tv_nsec = 1000000 };
	sigset_t none;

	self = arg;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	while (!self->last_got) {
		TNF_PROBE_0(receive, "signals", "");
		nanosleep(&ts, NULL);
	}
	return NULL;
}

static void
send_one(struct receiver *r)
{
	const union sigval value = { 0 };

	if (r->queued - r->queued_got < QUEUED_MAX &&
	    pthread_sigqueue(r->thread, SIGRTMIN, value) == 0)
		r->queued++;
	if (r->standard == r->standard_got) {
		r->standard++;
		pthread_kill(r->thread, SIGUSR1);
	}
}

static void *
send_signals(void *arg)
{
	const struct timespec ts = { .tv_nsec = 100000 };
	long i;

	while (!stop) {
		for (i = 0; i < n; i++)
			send_one(&receivers[i]);
		nanosleep(&ts, NULL);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	unsigned long sent = 0, got = 0;
	pthread_t sender;
	sigset_t all;
	long i;

	n = argc > 1 ? atol(argv[1]) : 8;
	if (n > THREADS_MAX)
		return 2;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	catch_signals();
	for (i = 0; i < n; i++)
		pthread_create(&receivers[i].thread, NULL, receive,
		    &receivers[i]);
	pthread_create(&sender, NULL, send_signals, NULL);
	victim_ready();
	getchar();
	stop = true;
	pthread_join(sender, NULL);
	for (i = 0; i < n; i++) {
		/* Comes behind all others. */
		pthread_kill(receivers[i].thread, SIGRTMIN + 1);
		pthread_join(receivers[i].thread, NULL);
		sent += receivers[i].queued + receivers[i].standard;
		got += receivers[i].queued_got + receivers[i].standard_got;
	}
	printf("sent %lu got %lu\n", sent, got);
	return 0;
}
