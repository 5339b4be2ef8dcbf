/*
 * events.c - let the target run until something happens.
 *
 * Objects that come and go are seen in two ways.  A target that is our child
 * has an instruction of ours, or a breakpoint register, at the function that the linker calls
 * at each change: it is stopped before an initialiser of the new object runs.  In a
 * target that must outlive us we set no breakpoint.  While it runs we read the
 * linker's list from outside every few milliseconds, and stop the target only
 * when the list has changed.
 */
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>

#include "libtnfctl/control.h"
#include "libtnfctl/imports.h"

#define LOOK_MS		10	/* how often, at most */
#define LOOK_SHARE	50	/* and one part in so many of our time */
#define SETTLE_MS	2000	/* for the linker to finish its list */
#define STEP_US		1000
#define STEP_MAX_US	32000
#define NOT_OURS_US	2000

/*
 * wait(2) cannot open the signal mask and go to sleep in one step, as ppoll(2)
 * can: a Ctrl-C in between would be handled and then slept over.  So a thread
 * sleeps in waitid(2), only looks (WNOWAIT) and reports through an eventfd.
 * waitid(2) also returns for other children of our client.  We leave these alone;
 * as long as one is waitable, we poll every few milliseconds instead.
 */
struct watch {
	pthread_t thread;
	sem_t	 next;
	int	 fd;
	pid_t	 tid;		/* the latest that was seen; 0: none */
	bool	 not_ours;
	bool	 told;		/* it has told of 'tid', and waits until it may look on ... */
	bool	 end;		/* ... or is to end */
};

enum watch_result {
	WATCH_CHILD,		/* *ret_tid has something to say to wait(2) */
	WATCH_SIGNAL,		/* a signal handler has run */
	WATCH_TIMEOUT
};

static void *
watch_look(void *arg)
{
	struct watch *w = arg;
	siginfo_t si;
	uint64_t one = 1;

	for (;;) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOWAIT |
		    __WALL) < 0)
			usleep(NOT_OURS_US);
		w->tid = si.si_pid;
		if (write(w->fd, &one, sizeof(one)) < 0)
			return NULL;
		while (sem_wait(&w->next) < 0)
			;
		if (w->end)
			return NULL;
		if (w->not_ours)
			usleep(NOT_OURS_US);
	}
}

/* 0, or an errno. */
static int
watch_start(struct watch *w)
{
	int error;

	*w = (struct watch){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	if (w->fd < 0)
		return errno;
	sem_init(&w->next, 0, 0);
	if ((error = pthread_create(&w->thread, NULL, watch_look, w)) != 0)
		close(w->fd);
	return error;
}

static void
watch_stop(struct watch *w)
{
	/* It sleeps in waitid, nanosleep or sem_wait and has nothing to lose.  The first
	   pthread_cancel() of a program loads a library: most runs end without one. */
	w->end = w->told;
	if (!w->told || sem_post(&w->next) < 0)
		pthread_cancel(w->thread);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->next);
	close(w->fd);
}

/* Waits, with the signal mask 'mask'.  timeout_ms: -1 for ever. */
static enum watch_result
watch_wait(struct watch *w, const sigset_t *mask, int timeout_ms,
    pid_t *ret_tid)
{
	struct timespec ts = { .tv_sec = timeout_ms / 1000,
	    .tv_nsec = timeout_ms % 1000 * 1000000L };
	struct pollfd fd = { .fd = w->fd, .events = POLLIN };
	uint64_t count;
	int n = ppoll(&fd, 1, timeout_ms < 0 ? NULL : &ts, mask);

	if (n < 0)
		return WATCH_SIGNAL;
	if (n == 0 || read(w->fd, &count, sizeof(count)) < 0)
		return WATCH_TIMEOUT;
	*ret_tid = w->tid;
	w->told = true;
	return WATCH_CHILD;
}

/* Has the watch look on after WATCH_CHILD.  not_ours: we do not know the child. */
static void
watch_next(struct watch *w, bool not_ours)
{
	w->not_ours = not_ours;
	w->told = false;
	sem_post(&w->next);
}

struct run {
	tnfctl_handle_t *const *h;
	size_t	 n;
	size_t	 news;		/* which of them has something to tell */
	struct watch watch;
	sigset_t mask;		/* of the caller */
	bool	 interrupted;
};

/* True if the linker's list has changed since it was last read. */
static bool
list_changed(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	int64_t start = clock_ns(CLOCK_MONOTONIC), pause;
	struct linker l = p->linker;
	bool ok = tnfctl_linkmap_look(&p->reader, &l) && l.consistent;

	pause = (clock_ns(CLOCK_MONOTONIC) - start) * LOOK_SHARE;
	if (pause < LOOK_MS * INT64_C(1000000))
		pause = LOOK_MS * INT64_C(1000000);
	p->next_look = clock_ns(CLOCK_MONOTONIC) + pause;
	return ok && (l.print != p->linker.print || tnfctl_pools_grown(h));
}

static bool
sees_linker(const struct proc *p)
{
	return p->ours && p->linker.brk != 0 && !p->no_registers;
}

/* Forgets stops that we had asked for and that have served. */
static void
forget_stops(struct proc *p)
{
	for (struct thread *t = p->threads; t < p->threads + p->n; t++)
		if (t->event == PROC_LINKER || t->event == PROC_SYSCALL)
			t->event = PROC_NOTHING;
}

/* True if something has happened that is to be told.  If not, the target runs on. */
static bool
has_news(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	struct thread *t = tnfctl_proc_pending(p, true);

	if (p->event != PROC_NOTHING)
		return true;
	if (t != NULL && t->event == PROC_LINKER) {
		forget_stops(p);
		if (list_changed(h))
			return true;
		t = tnfctl_proc_pending(p, true);
	}
	if (t != NULL)
		return true;
	tnfctl_proc_resume_idle(p);
	return false;
}

static bool
any_has_news(struct run *r)
{
	for (r->news = 0; r->news < r->n; r->news++)
		if (has_news(r->h[r->news]))
			return true;
	return false;
}

/* The process that has this thread; NULL: we know of none. */
static struct proc *
events_owner(const struct run *r, pid_t tid)
{
	for (size_t i = 0; i < r->n; i++)
		if (tnfctl_proc_thread(direct_proc(r->h[i]), tid) != NULL)
			return direct_proc(r->h[i]);
	return NULL;
}

/* Takes a thread, which may be one of whose birth its process has not told us yet. */
static bool
events_take(const struct run *r, pid_t tid)
{
	struct proc *p = events_owner(r, tid);
	bool taken = p != NULL && tnfctl_proc_take(p, tid);

	for (size_t i = 0; p == NULL && !taken && i < r->n; i++)
		taken = tnfctl_proc_take(direct_proc(r->h[i]), tid);
	for (size_t i = 0; !taken && i < r->n; i++)
		tnfctl_proc_take_all(direct_proc(r->h[i]));
	return taken;
}

/* Milliseconds to the next look; -1: none is needed, as we see the linkers' calls. */
static int
time_left(const struct run *r)
{
	int64_t first = INT64_MAX, left;

	for (size_t i = 0; i < r->n; i++)
		if (!sees_linker(direct_proc(r->h[i])) &&
		    direct_proc(r->h[i])->next_look < first)
			first = direct_proc(r->h[i])->next_look;
	if (first == INT64_MAX)
		return -1;
	left = first - clock_ns(CLOCK_MONOTONIC);
	return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

static bool
any_list_changed(struct run *r)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	for (r->news = 0; r->news < r->n; r->news++) {
		struct proc *p = direct_proc(r->h[r->news]);

		if (!sees_linker(p) && p->next_look <= now &&
		    list_changed(r->h[r->news]))
			return true;
	}
	return false;
}

static void
run_until_event(struct run *r)
{
	pid_t tid;
	bool taken;
	int left;

	for (;;) {
		left = time_left(r);
		if (left == 0 && any_list_changed(r))
			return;
		switch (watch_wait(&r->watch, &r->mask, left, &tid)) {
		case WATCH_CHILD:
			taken = events_take(r, tid);
			if (any_has_news(r))
				return;
			watch_next(&r->watch, !taken);
			break;
		case WATCH_SIGNAL:
			r->interrupted = true;
			return;
		case WATCH_TIMEOUT:
			break;
		}
	}
}

/* A thread that job control has stopped runs nevertheless.  A program that we have
   just started stops at each system call: the linker makes some between the
   time when its list is complete and the first initialiser. */
static void
set_stepping(struct proc *p, bool on)
{
	for (struct thread *t = p->threads; t < p->threads + p->n; t++) {
		t->leave_group = on;
		t->syscalls = on && p->ours && p->n == 1;
	}
}

/* Lets the target run for a moment, or to the next system call. */
static void
events_step(struct proc *p, long us)
{
	set_stepping(p, true);
	tnfctl_proc_run_for(p, us);
	set_stepping(p, false);
	forget_stops(p);
}

tnfctl_errcode_t
tnfctl_direct_settle(struct proc *p, int max_ms)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + max_ms * INT64_C(1000000);
	long us = STEP_US;

	while (!p->gone && p->n > 0 && p->event == PROC_NOTHING) {
		if (tnfctl_linkmap_look(&p->reader, &p->linker) && p->linker.consistent)
			return TNFCTL_ERR_NONE;
		if (clock_ns(CLOCK_MONOTONIC) > end || tnfctl_proc_pending(p, false) != NULL)
			return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: its "
			    "dynamic linker does not come to rest: try again",
			    (int)p->pid);
		/* On a busy machine the target may get no processor in a short time. */
		events_step(p, us);
		us = us < STEP_MAX_US ? us * 2 : us;
	}
	return TNFCTL_ERR_NONE;
}

bool
tnfctl_direct_is_listed(const struct proc *p)
{
	struct linker l = p->linker;

	return tnfctl_linkmap_look(&p->reader, &l) && l.consistent && l.print == p->linker.print;
}

void
tnfctl_direct_catch_up(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);

	if (!p->ours && !p->gone && p->event == PROC_NOTHING && !tnfctl_direct_is_listed(p) &&
	    tnfctl_direct_settle(p, SETTLE_MS) == TNFCTL_ERR_NONE && p->linker.consistent)
		tnfctl_control_look_soon(h);
}

static tnfctl_errcode_t
fork_event(struct proc *mother, struct thread *t, tnfctl_handle_t **child)
{
	struct proc *p = tnfctl_proc_new(t->child, mother->ours);
	struct plant plant = t->plant;
	tnfctl_errcode_t err;

	if (p == NULL) {
		tnfctl_proc_free_child(mother, t);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	t->event = PROC_NOTHING;
	p->follow = mother->follow;
	p->plant.forked = true;
	tnfctl_plant_clear(mother);
	tnfctl_proc_hurry(p, TNFCTL_ATTACH_MS, NULL);
	if ((err = tnfctl_proc_adopt(p)) == TNFCTL_ERR_NONE) {
		tnfctl_plant_clean(mother, p->pid, &plant);
		return tnfctl_direct_open(p, child);
	}
	tnfctl_proc_leave(p);
	return err;
}

/* Reports an event of a stopped (or gone) target; false: it has none, and runs on. */
static bool
events_report(tnfctl_handle_t *h, bool interrupted, tnfctl_event_t *ret,
    tnfctl_handle_t **child, tnfctl_errcode_t *err)
{
	struct objects_change change = { 0 };
	struct proc *p = direct_proc(h);
	struct thread *t;

	*err = TNFCTL_ERR_NONE;
	if (p->event != PROC_NOTHING) {
		*ret = p->event == PROC_EXEC ? TNFCTL_EVENT_EXEC :
		    p->event == PROC_EXITED ? TNFCTL_EVENT_EXIT :
		    TNFCTL_EVENT_TARGGONE;
		tnfctl_control_forget(h);
		return true;
	}
	if ((t = tnfctl_proc_pending(p, true)) != NULL && t->event == PROC_FORK) {
		if (child == NULL) {
			/* An earlier caller had asked for forks; this one has not. */
			tnfctl_proc_free_child(p, t);
			return false;
		}
		*ret = TNFCTL_EVENT_FORK;
		*err = fork_event(p, t, child);
		return true;
	}
	if (p->linker.consistent)
		*err = tnfctl_control_look(h, &change);
	*ret = interrupted ? TNFCTL_EVENT_EINTR :
	    change.came ? TNFCTL_EVENT_DLOPEN : TNFCTL_EVENT_DLCLOSE;
	return interrupted || change.came || change.went ||
	    *err != TNFCTL_ERR_NONE;
}

static void
events_stop(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);

	tnfctl_proc_stop(p);
	forget_stops(p);
	if (tnfctl_proc_pending(p, true) == NULL)
		tnfctl_direct_settle(p, SETTLE_MS);
}

/* Stops all targets for the client's command, and brings up to date what we know of them.
   The first that has an event is the one reported. */
static void
stop_all(struct run *r)
{
	struct objects_change change;
	size_t i;

	for (i = 0; i < r->n; i++)
		events_stop(r->h[i]);
	for (r->news = r->n; i-- > 0; ) {
		struct proc *p = direct_proc(r->h[i]);

		if (p->event != PROC_NOTHING || tnfctl_proc_pending(p, true) != NULL)
			r->news = i;
		else if (i > 0 && p->linker.consistent)
			tnfctl_control_look(r->h[i], &change);
	}
	if (r->news == r->n)
		r->news = 0;
}

static tnfctl_errcode_t
events_run(struct run *r, tnfctl_event_t *ret, tnfctl_handle_t **child)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;
	int error;

	for (;;) {
		if ((error = watch_start(&r->watch)) != 0)
			return tnfctl_error_set_errno(error, "wait for process %d",
			    (int)r->h[0]->pid);
		/* An event may be left over from the last time. */
		if (!any_has_news(r)) {
			for (size_t i = 0; i < r->n; i++)
				tnfctl_buffer_drop_replaced(r->h[i]);
			run_until_event(r);
		}
		watch_stop(&r->watch);
		if (r->interrupted)
			stop_all(r);
		else
			events_stop(r->h[r->news]);
		h = r->h[r->news];
		if (events_report(h, r->interrupted, ret, child, &err))
			break;
	}
	return err != TNFCTL_ERR_NONE ? err : tnfctl_direct_tell_stop(direct_proc(h));
}

/* Makes the target ready to run: ends a job control stop that was left for us to end. */
static tnfctl_errcode_t
events_prepare(tnfctl_handle_t *h, bool follow)
{
	struct proc *p = direct_proc(h);

	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended: "
		    "the handle can only be closed", (int)h->pid);
	if (h->gone)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it has become "
		    "another program: the handle can only be closed",
		    (int)h->pid);
	p->follow = follow;
	if (p->suspended || p->stopper_unknown)
		tnfctl_proc_end_group_stop(p);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_direct_continue(tnfctl_handle_t *const *h, size_t n, size_t *which,
    tnfctl_event_t *ret, tnfctl_handle_t **child)
{
	struct run r = { .h = h, .n = n };
	tnfctl_errcode_t err;
	sigset_t all;

	tnfctl_proc_leave_again();
	for (size_t i = 0; i < n; i++)
		tnfctl_imports_release(h[i]);
	for (size_t i = 0; i < n; i++)
		if ((err = events_prepare(h[i], child != NULL)) != TNFCTL_ERR_NONE) {
			*which = i;
			return err;
		}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &r.mask);
	err = events_run(&r, ret, child);
	pthread_sigmask(SIG_SETMASK, &r.mask, NULL);
	*which = r.news;
	return err;
}
