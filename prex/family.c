/*
 * family.c - a thread for each child of the target.
 */
#include <sys/queue.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "family.h"
#include "leave-stopped.h"
#include "history.h"
#include "shell.h"
#include "util.h"

enum job { JOB_NONE, JOB_RUN, JOB_APPLY, JOB_CLOSE };

struct member {
	TAILQ_ENTRY(member) entry;
	struct family *family;
	pid_t	pid;
	pthread_t thread;
	tnfctl_handle_t *h;	/* NULL: not there, or there no more */
	enum job job;		/* NONE: done with the last one */
	bool	ended;		/* the thread: no more jobs */
	_Atomic bool stop;	/* JOB_RUN: please come back */
	tnfctl_probe_op_t op;
	void	*arg;
	tnfctl_errcode_t err;
	tnfctl_targ_op_t at_close;
};

struct family {
	struct shell *sh;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool	running;
	TAILQ_HEAD(, member) members;
};

/* Brings a member back from waiting for its target. */
enum { NUDGE = SIGUSR1 };

static void
on_nudge(int sig)
{
}

struct family *
family_new(struct shell *sh)
{
	struct sigaction sa = { .sa_handler = on_nudge };
	struct family *f = xcalloc(1, sizeof *f);

	f->sh = sh;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	TAILQ_INIT(&f->members);
	sigaction(NUDGE, &sa, NULL);
	return f;
}

static void
say(const struct member *m, const char *what)
{
	fprintf(stderr, "%s: child process %ld %s\n", m->family->sh->argv0,
	    (long)m->pid, what);
}

static void
let_go(struct member *m, tnfctl_targ_op_t op)
{
	tnfctl_close(m->h, op);
	m->h = NULL;
}

/* True: the target is stopped, or gone; nothing more to wait for. */
static bool
on_event(struct member *m, tnfctl_event_t event, tnfctl_errcode_t err,
    tnfctl_handle_t *child)
{
	switch (event) {
	case TNFCTL_EVENT_FORK:
		family_add(m->family, err, child);
		return false;
	case TNFCTL_EVENT_EXEC:
		say(m, "has become another program");
		let_go(m, TNFCTL_TARG_RESUME);
		return true;
	case TNFCTL_EVENT_EXIT:
	case TNFCTL_EVENT_TARGGONE:
		say(m, event == TNFCTL_EVENT_EXIT ? "exited" : "disappeared");
		let_go(m, TNFCTL_TARG_DEFAULT);
		return true;
	default:
		return m->stop;
	}
}

static void
run(struct member *m)
{
	tnfctl_handle_t *child = NULL;
	tnfctl_event_t event;
	tnfctl_errcode_t err;

	do {
		if (m->stop)
			return;
		event = TNFCTL_EVENT_EINTR;
		err = tnfctl_continue(m->h, &event, &child);
		if (err != TNFCTL_ERR_NONE && event != TNFCTL_EVENT_FORK) {
			say(m, tnfctl_strerror(err));
			shell_tell_detail(m->family->sh);
			let_go(m, TNFCTL_TARG_DEFAULT);
			return;
		}
	} while (!on_event(m, event, err, child));
}

static void
do_job(struct member *m, enum job job)
{
	if (job == JOB_RUN)
		run(m);
	else if (job == JOB_APPLY)
		m->err = tnfctl_probe_apply(m->h, m->op, m->arg);
	else
		let_go(m, m->at_close);
}

static void
attach(struct member *m)
{
	tnfctl_errcode_t err = tnfctl_pid_open(m->pid, &m->h);

	if (err == TNFCTL_ERR_NONE) {
		err = history_follow(m->h);
		say(m, "is followed");
	} else {
		m->h = NULL;
		say(m, tnfctl_strerror(err));
		shell_tell_detail(m->family->sh);
		/* It was left stopped for us to take. */
		kill(m->pid, SIGCONT);
	}
}

/* It ends when there is nothing left to control: targets may have children
   by the thousand. */
static void *
live(void *arg)
{
	struct member *m = arg;
	struct family *f = m->family;
	enum job job;

	attach(m);
	pthread_mutex_lock(&f->lock);
	while (m->h != NULL) {
		while ((job = m->job) == JOB_NONE)
			pthread_cond_wait(&f->changed, &f->lock);
		pthread_mutex_unlock(&f->lock);
		do_job(m, job);
		pthread_mutex_lock(&f->lock);
		m->job = JOB_NONE;
		pthread_cond_broadcast(&f->changed);
	}
	m->job = JOB_NONE;
	m->ended = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Only nudges are for members: Ctrl-C is the main thread's. */
static int
start(struct member *m)
{
	sigset_t block, old;
	int error;

	sigfillset(&block);
	sigdelset(&block, NUDGE);
	pthread_sigmask(SIG_BLOCK, &block, &old);
	error = pthread_create(&m->thread, NULL, live, m);
	if (error == 0)
		pthread_detach(m->thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

void
family_add(struct family *f, tnfctl_errcode_t err, tnfctl_handle_t *child)
{
	struct member *m;
	tnfctl_trace_attrs_t attrs = { 0 };

	if (err != TNFCTL_ERR_NONE) {
		fprintf(stderr, "%s: a child cannot be followed: %s\n",
		    f->sh->argv0, tnfctl_strerror(err));
		shell_tell_detail(f->sh);
		return;
	}
	m = xcalloc(1, sizeof *m);
	tnfctl_trace_attrs_get(child, &attrs);
	m->family = f;
	m->pid = attrs.targ_pid;
	tnfctl_close(child, TNFCTL_TARG_SUSPEND);
	pthread_mutex_lock(&f->lock);
	/* It runs along with the one that made it. */
	m->job = f->running ? JOB_RUN : JOB_NONE;
	if (start(m) == 0) {
		TAILQ_INSERT_TAIL(&f->members, m, entry);
	} else {
		say(m, "cannot be followed");
		kill(m->pid, SIGCONT);
		free(m);
	}
	pthread_mutex_unlock(&f->lock);
}

/* The lock is held. */
static void
give(struct family *f, struct member *m, enum job job)
{
	if (!m->ended)
		m->job = job;
	pthread_cond_broadcast(&f->changed);
}

/* The lock is held.  The job is one that ends by itself. */
static void
wait_for(struct family *f, struct member *m)
{
	while (m->job != JOB_NONE)
		pthread_cond_wait(&f->changed, &f->lock);
}

void
family_run(struct family *f)
{
	struct member *m, *next;

	if (f == NULL)
		return;
	pthread_mutex_lock(&f->lock);
	f->running = true;
	for (m = TAILQ_FIRST(&f->members); m != NULL; m = next) {
		next = TAILQ_NEXT(m, entry);
		m->stop = false;
		give(f, m, JOB_RUN);
		if (m->ended) {
			TAILQ_REMOVE(&f->members, m, entry);
			free(m);
		}
	}
	pthread_mutex_unlock(&f->lock);
}

/* A nudge may come just before the wait that it is to end: repeat it. */
static void
bring_back(struct family *f, struct member *m)
{
	struct timespec ts;

	while (m->job != JOB_NONE) {
		m->stop = true;
		pthread_kill(m->thread, NUDGE);
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 20 * 1000000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_sec++;
			ts.tv_nsec -= 1000000000;
		}
		pthread_cond_timedwait(&f->changed, &f->lock, &ts);
	}
}

void
family_stop(struct family *f)
{
	struct member *m;

	if (f == NULL)
		return;
	pthread_mutex_lock(&f->lock);
	f->running = false;
	TAILQ_FOREACH(m, &f->members, entry)
		bring_back(f, m);
	pthread_mutex_unlock(&f->lock);
}

tnfctl_errcode_t
family_apply(struct family *f, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct member *m;

	if (f == NULL)
		return err;
	pthread_mutex_lock(&f->lock);
	TAILQ_FOREACH(m, &f->members, entry) {
		m->op = op;
		m->arg = arg;
		m->err = TNFCTL_ERR_NONE;
		give(f, m, JOB_APPLY);
		wait_for(f, m);
		if (err == TNFCTL_ERR_NONE)
			err = m->err;
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

void
family_close(struct family *f, tnfctl_targ_op_t op)
{
	struct member *m;

	if (f == NULL)
		return;
	family_stop(f);
	pthread_mutex_lock(&f->lock);
	while ((m = TAILQ_FIRST(&f->members)) != NULL) {
		m->at_close = op;
		give(f, m, JOB_CLOSE);
		while (!m->ended)
			pthread_cond_wait(&f->changed, &f->lock);
		if (op == TNFCTL_TARG_SUSPEND && f->sh->started)
			leave_stopped(m->pid);
		TAILQ_REMOVE(&f->members, m, entry);
		free(m);
	}
	pthread_mutex_unlock(&f->lock);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->changed);
	free(f);
}
