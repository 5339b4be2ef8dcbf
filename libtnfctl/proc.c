/*
 * proc.c - hold a process still, look inside, let it go.
 *
 * ptrace(2) knows threads, not processes, and only the thread that took a
 * target's thread may give it orders.  A thread of the target is, for us,
 *
 * running	executes; all we can do is to ask it to stop
 * stopped	we asked, or something happened to it, and wait(2) has told us;
 *		then its registers and the memory can be read and written
 * absent	nothing will be told: it has exited but must stay for the sake of
 *		others, or it sleeps in the kernel where nothing wakes it and
 *		will stop before it comes back from there
 *
 * We take threads with PTRACE_SEIZE, which sends no signal: a system call that
 * is interrupted is restarted, and what the target knows of stopping is
 * nothing.  Threads that are born later come to us by themselves, stopped.
 *
 * A stop has a reason: we asked; a signal is about to be delivered, and is
 * passed on when the thread runs again; the process is in a job control stop,
 * and then stays in it (PTRACE_LISTEN); it forked, became another program, or
 * ended.  If we die the kernel lets everything go; nothing of ours is left in
 * the target, as we never write to the code of a target that outlives us.  A stop that has not been taken
 * from wait(2) keeps its signal: the kernel delivers it when the tracer dies.
 * So stops at signals are only looked at (WNOWAIT), and end when we pass the
 * signal on.  Exec handles are different, they
 * die with us, and so they may have breakpoint registers set, or an instruction planted
 * (proc-note.c), which would otherwise outlive us and kill the target at the next hit.
 */
#include <sched.h>

#include "libtnfctl/proc.h"

#define PAUSE_US	50
#define YIELDS		100	/* before a pause that may be short */
#define SHORT_US	20
#define WORK_NS		INT64_C(200000)	/* between looks at a process that runs while we work */
#define ABSENT_NS	INT64_C(20000000)	/* and more in the kernel: absent */
#define STOP_NS		INT64_C(2000000000)	/* for all to stop, ... */
#define LEAVE_NS	INT64_C(2000000000)	/* ... and for the absent to come back */
#define CALM_NS		INT64_C(200000000)	/* in which no signal is looked for */

static void
set_options(struct proc *p, struct thread *t)
{
	unsigned int options = tnfctl_proc_options(p);

	if (t->options != options && ptrace(PTRACE_SETOPTIONS, t->tid, NULL,
	    (uintptr_t)options) == 0)
		t->options = options;
}

/* Sets (address) or clears (0) the breakpoint register of a stopped thread. */
static bool
proc_arm_thread(struct thread *t, uintptr_t address)
{
	if (address == 0 && !t->armed)
		return true;
	if (!tnfctl_arch_break(t->tid, address))
		return false;
	t->armed = address != 0;
	return true;
}

/* True if no thread of the process runs. */
static bool
stands_still(const struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->threads[i].foreign && !p->threads[i].stopped)
			return false;
	return true;
}

bool
tnfctl_proc_arm(struct proc *p, struct thread *t)
{
	if (p->ours && p->plant.forked && !p->plant.start && stands_still(p))
		tnfctl_plant_clear(p);
	if (p->ours && tnfctl_plant_set(p))
		return true;
	if (p->ours && p->linker.brk != 0 && !t->armed && !p->no_registers)
		p->no_registers = !proc_arm_thread(t, p->linker.brk);
	return t->armed;
}

void
tnfctl_proc_resume(struct proc *p, struct thread *t)
{
	tnfctl_proc_arm(p, t);
	set_options(p, t);
	if (t->group && !t->leave_group) {
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	} else {
		if (!t->syscalls)
			tnfctl_restart_call(p, t);
		ptrace(t->syscalls ? PTRACE_SYSCALL : PTRACE_CONT, t->tid,
		    NULL, (uintptr_t)t->signal);
	}
	tnfctl_arch_forget(t);
	t->stopped = t->asked = false;
	t->signal = 0;
	t->event = PROC_NOTHING;
	p->runs++;
}

void
tnfctl_proc_run(struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->threads[i].stopped && p->threads[i].event != PROC_FORK)
			tnfctl_proc_resume(p, &p->threads[i]);
}

void
tnfctl_proc_resume_idle(struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->threads[i].stopped &&
		    p->threads[i].event == PROC_NOTHING)
			tnfctl_proc_resume(p, &p->threads[i]);
}

void
tnfctl_proc_hurry(struct proc *p, int ms, const sigset_t *mask)
{
	p->since = clock_ns(CLOCK_MONOTONIC);
	p->until = p->since + ms * INT64_C(1000000);
	p->mask = mask;
}

void
tnfctl_proc_unhurry(struct proc *p)
{
	p->until = 0;
	p->mask = NULL;
}

/* A signal that waits and would end us, or call a handler; or 0. */
static int
ending_signal(const struct proc *p)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	struct sigaction sa;
	sigset_t pending;

	if (p->mask == NULL || sigpending(&pending) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigismember(&pending, ending[i]) && !sigismember(p->mask, ending[i]) &&
		    sigaction(ending[i], NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
			return ending[i];
	return 0;
}

/* Most waits are over immediately; only longer ones are ended by a signal. */
bool
tnfctl_proc_is_late(const struct proc *p)
{
	int64_t now;

	if (p->until == 0)
		return false;
	now = clock_ns(CLOCK_MONOTONIC);
	return now > p->until || (now > p->since + CALM_NS && ending_signal(p) != 0);
}

tnfctl_errcode_t
tnfctl_proc_late_at(const struct proc *p, const char *what, const char *why)
{
	int sig = ending_signal(p);

	if (sig != 0)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: given up for SIG%s",
		    (int)p->pid, sigabbrev_np(sig));
	return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: %s in %d s, because of %s: try "
	    "again", (int)p->pid, what, (int)((p->until - p->since + 500000000) / 1000000000), why);
}

tnfctl_errcode_t
tnfctl_proc_late(const struct proc *p)
{
	return tnfctl_proc_late_at(p, "it did not come to rest",
	    "an exec, a busy machine or a frozen cgroup");
}

/* In the kernel, where it will stop when it wakes. */
static bool
is_deep(const struct proc *p, const struct thread *t)
{
	char state = tnfctl_proc_state(t->foreign ? t->tid : p->pid, t->tid);

	return state != 'Z' && state != 'X' && state != 0;
}

/* True if this thread will never tell us that it stopped, or not soon. */
static bool
is_absent(const struct proc *p, const struct thread *t)
{
	char state = tnfctl_proc_state(p->pid, t->tid);

	return state == 'Z' || state == 'X' || state == 'D';
}

static bool
all_stopped(struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->threads[i].stopped && !p->threads[i].absent)
			return false;
	return true;
}

static void
ask_all(struct proc *p)
{
	for (struct thread *t = p->threads; t < p->threads + p->n; t++)
		if (!t->stopped && !t->asked) {
			tnfctl_arch_look(p, t);
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
			t->asked = true;
		}
}

/*
 * A thread that we have not taken yet may exec() and get the number of the leader,
 * whom we had.  wait(2) says so to everybody but the process's parent, for whom the
 * number is still that of a child.  Then the thread of this number is nobody's,
 * and tnfctl_proc_attach() finds it anew.
 */
static bool
is_lost(const struct proc *p, const struct thread *t)
{
	return !t->foreign && tnf_thread_status(p->pid, t->tid, "TracerPid") == 0;
}

/* all: those, too, that may only have got no processor. */
static void
find_absent(struct proc *p, bool all)
{
	struct thread *t;

	tnfctl_proc_reap(p);
	for (size_t i = p->n; i-- > 0; ) {
		t = &p->threads[i];
		if (t->stopped)
			continue;
		if (is_lost(p, t))
			tnfctl_proc_thread_drop(p, t);
		else if (all || is_absent(p, t))
			t->absent = true;
	}
}

void
tnfctl_proc_pause(unsigned int n)
{
	if (n < YIELDS)
		sched_yield();
	else
		usleep(SHORT_US);
}

void
tnfctl_proc_stop(struct proc *p)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), end = now + STOP_NS, look = now + ABSENT_NS;
	unsigned int pauses = 0;

	while (!p->gone) {
		ask_all(p);
		if (tnfctl_proc_take_round(p)) {
			look = clock_ns(CLOCK_MONOTONIC) + ABSENT_NS;
			continue;
		}
		if (all_stopped(p))
			return;
		tnfctl_proc_pause(pauses++);
		if ((now = clock_ns(CLOCK_MONOTONIC)) > look) {
			find_absent(p, now > end);
			look = now + ABSENT_NS;
		}
	}
}

void
tnfctl_proc_run_for(struct proc *p, long us)
{
	long pauses = us / PAUSE_US;

	tnfctl_proc_run(p);
	while (pauses-- > 0 && !p->gone && p->event == PROC_NOTHING &&
	    tnfctl_proc_pending(p, false) == NULL && !tnfctl_proc_is_late(p)) {
		usleep(PAUSE_US);
		/* Signals on their way have stopped it, nothing else. */
		tnfctl_proc_take_all(p);
		tnfctl_proc_resume_idle(p);
	}
	tnfctl_proc_stop(p);
}

/* True if the process, or a thread of it, has an event to tell, for which it must stand still. */
static bool
has_event(struct proc *p)
{
	return p->gone || p->event != PROC_NOTHING || tnfctl_proc_pending(p, false) != NULL;
}

void
tnfctl_proc_work_begin(struct proc *p)
{
	if (p->works || p->ours || has_event(p))
		return;
	p->works = true;
	p->worked = clock_ns(CLOCK_MONOTONIC);
	tnfctl_proc_run(p);
}

void
tnfctl_proc_work_look(struct proc *p)
{
	int64_t now;

	if (!p->works || (now = clock_ns(CLOCK_MONOTONIC)) < p->worked + WORK_NS || has_event(p))
		return;
	p->worked = now;
	tnfctl_proc_take_all(p);
	tnfctl_proc_resume_idle(p);
}

void
tnfctl_proc_work_end(struct proc *p)
{
	if (!p->works)
		return;
	tnfctl_proc_stop(p);
	p->works = false;
}

struct work {
	void	(*work)(void *);
	void	*arg;
	bool	 done;
};

static void *
do_work(void *arg)
{
	struct work *w = arg;

	w->work(w->arg);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

bool
tnfctl_thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, mask;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	error = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return error == 0;
}

void
tnfctl_proc_work(struct proc *p, void (*work)(void *), void *arg)
{
	struct work w = { .work = work, .arg = arg };
	pthread_t thread;
	bool before = p->works;

	tnfctl_proc_work_begin(p);
	if (!p->works || !tnfctl_thread_start(&thread, do_work, &w)) {
		work(arg);
	} else {
		while (!__atomic_load_n(&w.done, __ATOMIC_ACQUIRE)) {
			usleep(WORK_NS / 1000);
			tnfctl_proc_work_look(p);
		}
		pthread_join(thread, NULL);
	}
	if (!before)
		tnfctl_proc_work_end(p);
}

/* Absent threads must stop before we can let them go. */
static void
await_absent(struct proc *p)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), end = now + LEAVE_NS, look = now + ABSENT_NS;
	bool any = true;
	size_t i;

	for (; any && !p->gone && now < end && ending_signal(p) == 0; now = clock_ns(CLOCK_MONOTONIC)) {
		if (now > look) {
			tnfctl_proc_reap(p);
			look = now + ABSENT_NS;
		}
		for (any = false, i = p->n; i-- > 0; )
			if (i < p->n && !p->threads[i].stopped) {
				any |= tnfctl_proc_state(p->pid,
				    p->threads[i].tid) != 'Z';
				tnfctl_proc_take(p, p->threads[i].tid);
			}
		if (any)
			usleep(PAUSE_US);
	}
}

int
tnfctl_proc_group_stop(const struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->threads[i].group != 0)
			return p->threads[i].group;
	return 0;
}

void
tnfctl_proc_end_group_stop(struct proc *p)
{
	if (p->suspended || p->stopper_unknown || tnfctl_proc_group_stop(p) != 0)
		kill(p->pid, SIGCONT);
	p->suspended = p->stopper_unknown = false;
}

/* False: another thread, which we have let go already, has ended this one by an
   exec() or exit(), and its end is to be taken from wait(2). */
static bool
let_go(struct proc *p, struct thread *t)
{
	tnfctl_plant_clear(p);
	proc_arm_thread(t, 0);
	tnfctl_restart_call(p, t);
	return ptrace(PTRACE_DETACH, t->tid, NULL,
	    (uintptr_t)(t->group ? 0 : t->signal)) == 0;
}

static void
let_thread_go(struct proc *p, struct thread *t)
{
	if (let_go(p, t))
		tnfctl_proc_thread_drop(p, t);
	else
		t->stopped = false;
}

/* The leader goes first: if another thread calls exec() at once it gets the
   leader's number, under which nobody must see a tracer any more. */
static void
let_stopped_go(struct proc *p)
{
	struct thread *leader = tnfctl_proc_thread(p, p->pid);

	if (leader != NULL && leader->stopped)
		let_thread_go(p, leader);
	for (size_t i = p->n; i-- > 0; )
		if (i < p->n && p->threads[i].stopped)
			let_thread_go(p, &p->threads[i]);
}

/* False: some sleep on. */
static bool
let_rest_go(struct proc *p)
{
	let_stopped_go(p);
	for (size_t i = p->n; i-- > 0; )
		if (!is_deep(p, &p->threads[i]))
			tnfctl_proc_thread_drop(p, &p->threads[i]);
	return p->n == 0 || p->gone;
}

void
tnfctl_proc_free_children(struct proc *p)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	size_t i, left;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].event == PROC_FORK)
			tnfctl_proc_free_child(p, &p->threads[i]);
	/* They stop as soon as they have a processor. */
	do {
		for (left = 0, i = p->n; i-- > 0; )
			if (i < p->n && p->threads[i].foreign) {
				left++;
				tnfctl_proc_take(p, p->threads[i].tid);
			}
		if (left > 0)
			usleep(PAUSE_US);
	} while (left > 0 && clock_ns(CLOCK_MONOTONIC) < end);
}

bool
tnfctl_proc_detach(struct proc *p, bool suspend)
{
	tnfctl_proc_free_children(p);
	if (suspend)
		kill(p->pid, SIGSTOP);
	let_stopped_go(p);
	await_absent(p);
	return let_rest_go(p);
}

/* Only this thread can let them go: nobody else may give them orders. */
static __thread struct proc *left_behind;

void
tnfctl_proc_leave(struct proc *p)
{
	if (p->gone || tnfctl_proc_detach(p, false)) {
		tnfctl_proc_free(p);
		return;
	}
	tnfctl_proc_unhurry(p);
	p->next = left_behind;
	left_behind = p;
}

void
tnfctl_proc_leave_again(void)
{
	struct proc **at = &left_behind, *p;

	while ((p = *at) != NULL) {
		tnfctl_proc_take_all(p);
		if (p->gone || let_rest_go(p)) {
			*at = p->next;
			tnfctl_proc_free(p);
		} else {
			at = &p->next;
		}
	}
}

void
tnfctl_proc_kill(struct proc *p)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;

	if (p->gone)
		return;
	tnfctl_proc_free_children(p);
	kill(p->pid, SIGKILL);
	for (size_t i = 0; i < p->n; i++)
		p->threads[i].stopped = p->threads[i].absent = false;
	while (!p->gone && p->n > 0 && clock_ns(CLOCK_MONOTONIC) < end)
		if (!tnfctl_proc_take_round(p))
			usleep(PAUSE_US);
}
