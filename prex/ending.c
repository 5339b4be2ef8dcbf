/*
 * ending.c - signals that end prex.
 *
 * prex lets the target go as by "quit" before it dies of the signal: if the kernel did
 * that, calls that our stop has interrupted would return EINTR.
 * This signal or a Ctrl-C may come just before prex begins to wait for something
 * else; then a timer ends that wait.
 */
#include <sys/time.h>

#include <signal.h>

#include "prex/target.h"

enum { NUDGE_US = 10000 };

static volatile sig_atomic_t came;
static struct sigaction nudge_before;	/* what we got ourselves */
static sigset_t mask_before;

void
ending_nudge(bool on)
{
	const struct itimerval often = { { 0, NUDGE_US }, { 0, NUDGE_US } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	if (on || came == 0)
		setitimer(ITIMER_REAL, on ? &often : &never, NULL);
}

static void
on_ending(int sig)
{
	if (came == 0)
		came = sig;
	ending_nudge(true);
}

static void
on_nudge(int sig)
{
}

static void
ending_catch_one(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_ending, .sa_flags = flags }, old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(sig, &sa, NULL);
}

void
ending_catch(void)
{
	struct sigaction nudge = { .sa_handler = on_nudge };
	sigset_t set;

	/* The program that started prex may have blocked the signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, &mask_before);
	sigaction(SIGALRM, &nudge, &nudge_before);
	ending_catch_one(SIGHUP, SA_RESETHAND);
	ending_catch_one(SIGTERM, SA_RESETHAND);
	ending_catch_one(SIGPIPE, 0);
}

void
ending_inherit(void)
{
	sigaction(SIGALRM, &nudge_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int
ending_signal(void)
{
	return came;
}

void
ending_die(void)
{
	if (came == 0)
		return;
	signal(came, SIG_DFL);
	raise(came);
}
