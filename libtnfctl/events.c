/*
 * events.c - let the target run until something happens.
 *
 * Objects that come and go are seen in two ways.  A target that is our child
 * has a breakpoint register on the function that the linker calls at each
 * change: it is stopped before an initialiser of the new object runs.  A
 * target that must survive us has nothing planted; we look at the linker's
 * list every few milliseconds while it runs, from outside, and stop the target
 * only when the list has changed.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "direct.h"
#include "watch.h"

#define LOOK_MS		10	/* how often, at most */
#define LOOK_SHARE	50	/* and one part in so many of our time */
#define SETTLE_MS	2000	/* for the linker to finish its list */
#define STEP_US		1000

struct run {
	tnfctl_handle_t *h;
	struct proc *p;
	struct watch *watch;
	sigset_t mask;		/* of the caller */
	int	 look_ms;
	int64_t	 next_look;	/* time for the next look at the linker's list */
	bool	 interrupted;
};

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Has the list changed since it was last read? */
static bool
list_changed(struct run *r)
{
	uint64_t print = r->p->linker.print;
	int64_t start = now_ns();
	struct linker l = r->p->linker;
	bool ok = linkmap_look(r->h, &l) && l.consistent;

	r->look_ms = (int)((now_ns() - start) * LOOK_SHARE / 1000000);
	if (r->look_ms < LOOK_MS)
		r->look_ms = LOOK_MS;
	r->next_look = now_ns() + r->look_ms * INT64_C(1000000);
	return ok && l.print != print;
}

static bool
sees_linker(const struct proc *p)
{
	return p->ours && p->linker.brk != 0 && !p->no_registers;
}

/* Stops that were ours to make and have served. */
static void
forget_stops(struct proc *p)
{
	struct thread *t;

	for (t = p->threads; t < p->threads + p->n; t++)
		if (t->event == PROC_LINKER || t->event == PROC_SYSCALL)
			t->event = PROC_NOTHING;
}

/* True: something to stop for has happened. */
static bool
on_child(struct run *r, pid_t tid)
{
	bool ours = proc_take(r->p, tid);
	struct thread *t;

	if (!ours)
		proc_take_all(r->p);
	t = proc_pending(r->p);
	if (r->p->event != PROC_NOTHING)
		return true;
	if (t != NULL && t->event == PROC_LINKER) {
		forget_stops(r->p);
		if (list_changed(r))
			return true;
		t = proc_pending(r->p);
	}
	if (t != NULL)
		return true;
	proc_resume_idle(r->p);
	watch_next(r->watch, !ours);
	return false;
}

/* Milliseconds to the next look; -1: the linker's calls are seen. */
static int
time_left(const struct run *r)
{
	int64_t left = r->next_look - now_ns();

	if (sees_linker(r->p))
		return -1;
	return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

static void
run_until_event(struct run *r)
{
	pid_t tid;
	int left;

	for (;;) {
		left = time_left(r);
		if (left == 0 && list_changed(r))
			return;
		switch (watch_wait(r->watch, &r->mask, left, &tid)) {
		case WATCH_CHILD:
			if (on_child(r, tid))
				return;
			break;
		case WATCH_SIGNAL:
			r->interrupted = true;
			return;
		case WATCH_TIMEOUT:
			break;
		}
	}
}

/* One that is stopped by job control runs nevertheless.  A program that has
   just started stops at each system call: the linker makes some between the
   time when its list is complete and the first initialiser. */
static void
set_stepping(struct proc *p, bool on)
{
	struct thread *t;

	for (t = p->threads; t < p->threads + p->n; t++) {
		t->leave_group = on;
		t->syscalls = on && p->n == 1;
	}
}

/* Lets it run for a moment, or to the next system call. */
static void
step(struct proc *p)
{
	set_stepping(p, true);
	proc_run_for(p, STEP_US);
	set_stepping(p, false);
	forget_stops(p);
}

tnfctl_errcode_t
direct_settle(tnfctl_handle_t *h, int max_ms)
{
	struct proc *p = direct_proc(h);
	int64_t end = now_ns() + max_ms * INT64_C(1000000);

	while (!p->gone && p->event == PROC_NOTHING) {
		if (linkmap_look(h, &p->linker) && p->linker.consistent)
			return TNFCTL_ERR_NONE;
		if (now_ns() > end || proc_pending(p) != NULL)
			return fail(TNFCTL_ERR_INTERNAL, "process %d: its "
			    "dynamic linker does not come to rest",
			    (int)h->pid);
		step(p);
	}
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
fork_event(struct run *r, struct thread *t, tnfctl_handle_t **child)
{
	struct proc *p = proc_new(t->child, r->p->ours);
	tnfctl_errcode_t err;

	if (p == NULL) {
		proc_free_child(r->p, t);
		return fail(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	t->event = PROC_NOTHING;
	p->follow = r->p->follow;
	if ((err = proc_adopt(p)) == TNFCTL_ERR_NONE)
		return direct_open(p, child);
	if (!p->gone)
		proc_detach(p, false);
	proc_free(p);
	return err;
}

/* What there is to report of a stopped (or gone) target; NONE: run on. */
static bool
report(struct run *r, tnfctl_event_t *ret, tnfctl_handle_t **child,
    tnfctl_errcode_t *err)
{
	struct objects_change change = { 0 };
	struct thread *t;

	*err = TNFCTL_ERR_NONE;
	if (r->p->event != PROC_NOTHING) {
		*ret = r->p->event == PROC_EXEC ? TNFCTL_EVENT_EXEC :
		    r->p->event == PROC_EXITED ? TNFCTL_EVENT_EXIT :
		    TNFCTL_EVENT_TARGGONE;
		control_forget(r->h);
		return true;
	}
	if ((t = proc_pending(r->p)) != NULL && t->event == PROC_FORK) {
		if (child == NULL) {
			/* It was noticed for a caller who had asked for it. */
			proc_free_child(r->p, t);
			return false;
		}
		*ret = TNFCTL_EVENT_FORK;
		*err = fork_event(r, t, child);
		return true;
	}
	if (r->p->linker.consistent)
		*err = control_look(r->h, &change);
	*ret = r->interrupted ? TNFCTL_EVENT_EINTR :
	    change.came ? TNFCTL_EVENT_DLOPEN : TNFCTL_EVENT_DLCLOSE;
	return r->interrupted || change.came || change.went ||
	    *err != TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
run(struct run *r, tnfctl_event_t *ret, tnfctl_handle_t **child)
{
	tnfctl_errcode_t err;

	for (;;) {
		/* Something may be left over from the last time. */
		if (r->p->event == PROC_NOTHING && proc_pending(r->p) == NULL) {
			if ((r->watch = watch_start()) == NULL)
				return fail_errno(errno, "wait for process %d",
				    (int)r->p->pid);
			proc_run(r->p);
			run_until_event(r);
			watch_stop(r->watch);
			proc_stop(r->p);
			forget_stops(r->p);
			if (proc_pending(r->p) == NULL)
				direct_settle(r->h, SETTLE_MS);
		}
		if (report(r, ret, child, &err))
			return err;
	}
}

tnfctl_errcode_t
direct_continue(tnfctl_handle_t *h, tnfctl_event_t *ret,
    tnfctl_handle_t **child)
{
	struct run r = { .h = h, .p = direct_proc(h), .look_ms = LOOK_MS };
	tnfctl_errcode_t err;
	sigset_t all;

	if (h->gone)
		return fail(TNFCTL_ERR_BADARG, "process %d: it has ended or "
		    "become another program: the handle can only be closed",
		    (int)h->pid);
	r.p->follow = child != NULL;
	if (r.p->suspended)
		proc_end_group_stop(r.p);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &r.mask);
	err = run(&r, ret, child);
	pthread_sigmask(SIG_SETMASK, &r.mask, NULL);
	return err != TNFCTL_ERR_NONE ? err : direct_tell_stop(r.p);
}
