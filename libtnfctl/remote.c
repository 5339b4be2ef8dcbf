/*
 * remote.c - call a function in a thread of the target.
 *
 * We set the thread up as the kernel does for a signal handler: the stack has
 * a frame that holds all its registers, and the return address is that of the piece of
 * the C library that gives the frame back to the kernel (rt_sigreturn).  So
 * if we die during the call, the thread returns to where it was without us.  The
 * call does not use the thread's own stack, because we cannot tell how much of it is left.
 *
 * While we live we stop the thread at each system call.  When it is about to call
 * rt_sigreturn we put the registers back ourselves, because that is exact: an
 * interrupted sleep goes on with the rest of its time, as after any stop.
 */
#include <linux/rseq.h>

#include "libtnfctl/proc.h"

#define ALONE_MS	500	/* of standstill; it may wait by spinning, too */

/* PTRACE_GET_RSEQ_CONFIGURATION, which C libraries have had only since 2021. */
#define GET_RSEQ_PLACE	0x420f
struct rseq_place {
	uint64_t area;		/* struct rseq */
	uint32_t size;
	uint32_t signature;
	uint32_t flags;
	uint32_t pad;
};

static void
block_signals(pid_t tid)
{
	uint64_t mask = ~UINT64_C(0);
	const int sync[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

	for (size_t i = 0; i < sizeof(sync) / sizeof(sync[0]); i++)
		mask &= ~(UINT64_C(1) << (sync[i] - 1));
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

/* Sets the thread up for the call; 's' has its registers. */
static bool
remote_begin(struct proc *p, struct call *c, const struct arch_saved *s, uint64_t *ret_sp)
{
	if (ptrace(PTRACE_GETSIGMASK, c->tid, sizeof(c->mask), &c->mask) != 0 ||
	    !tnfctl_arch_begin(p, s, c, ret_sp))
		return false;
	block_signals(c->tid);
	return true;
}

/* Calls in which a thread waits for another of its process, which holds a lock. */
static const long calls_for_others[] = {
	SYS_futex, SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep, SYS_ppoll,
	SYS_pselect6, SYS_epoll_pwait,
#ifdef SYS_poll			/* and what only old machines have */
	SYS_poll, SYS_select, SYS_epoll_wait,
#endif
};

static bool
is_waiting_for_others(uint64_t call)
{
	for (size_t i = 0; i < sizeof(calls_for_others) / sizeof(calls_for_others[0]); i++)
		if ((uint64_t)calls_for_others[i] == call)
			return true;
	return false;
}

/* True if the thread is at its last system call, rt_sigreturn.  Notes the results of earlier
   ones. */
static bool
at_end(struct call *r, uint64_t sp)
{
	struct __ptrace_syscall_info i = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, r->tid, sizeof(i), &i) <= 0)
		return false;
	if (i.op == PTRACE_SYSCALL_INFO_EXIT) {
		r->result = i.exit.rval;
		if (i.exit.is_error)
			r->error = (int)-i.exit.rval;
	}
	if (i.op == PTRACE_SYSCALL_INFO_ENTRY &&
	    is_waiting_for_others(i.entry.nr))
		r->waits = true;
	return i.op == PTRACE_SYSCALL_INFO_ENTRY &&
	    i.entry.nr == SYS_rt_sigreturn &&
	    i.stack_pointer == sp;
}

static int64_t
now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/*
 * Lets the thread run until it is at its last system call.  The other threads stand still
 * until it waits for one of them.  Most calls never wait; and threads that run
 * may call exec() during the call, or be many that must be stopped again.
 */
static bool
run_to_end(struct proc *p, struct call *r, uint64_t sp, int max_ms)
{
	int64_t start = now_ms(), end = start + max_ms;
	struct thread *t = tnfctl_proc_thread(p, r->tid);
	unsigned int pauses = 0;

	tnfctl_proc_resume(p, t);
	while (!p->gone && p->event == PROC_NOTHING && now_ms() < end && !tnfctl_proc_is_late(p)) {
		tnfctl_proc_take_all(p);
		if ((t = tnfctl_proc_thread(p, r->tid)) == NULL)
			return false;
		if (t->event == PROC_SYSCALL) {
			t->event = PROC_NOTHING;
			if (at_end(r, sp))
				return true;
			tnfctl_proc_resume(p, t);
			pauses = 0;
		} else if (t->stopped && t->event == PROC_NOTHING) {
			tnfctl_proc_resume(p, t);
		}
		r->waits |= now_ms() - start > ALONE_MS;
		if (r->waits && !r->alone)
			tnfctl_proc_resume_idle(p);
		tnfctl_proc_pause(pauses++);
	}
	return false;
}

/* True if the kernel says that this thread, which we do not hold, is in a system call other than
   exec.  The thread stops before it can make another call. */
static bool
is_in_other_call(const struct proc *p, pid_t tid)
{
	char text[256];
	long call;

	return tnf_proc_file(text, sizeof(text), "/proc/%d/task/%d/syscall", (int)p->pid,
	    (int)tid) > 0 && sscanf(text, "%ld", &call) == 1 && call >= 0 &&
	    call != SYS_execve && call != SYS_execveat;
}

/*
 * An exec() of any thread turns the leader's pid into another program, and we would write
 * registers into that program.  False: a thread that we do not hold may be in the middle
 * of an exec().
 */
static bool
is_held(const struct proc *p)
{
	if (p->gone || p->event != PROC_NOTHING)
		return false;
	for (const struct thread *t = p->threads; t < p->threads + p->n; t++)
		if (!t->stopped && !tnfctl_proc_is_dead(p, t->tid) &&
		    !is_in_other_call(p, t->tid))
			return false;
	return true;
}

/* Brings the thread from the entry of its last system call to an ordinary stop. */
static void
remote_finish(struct proc *p, const struct call *r, const struct arch_saved *s)
{
	struct thread *t;

	tnfctl_proc_stop(p);
	/* If we do not hold the thread, it makes that call by itself when it runs again. */
	if ((t = tnfctl_proc_thread(p, r->tid)) == NULL || !t->stopped || !is_held(p))
		return;
	/* In this order the thread can go on whenever we die. */
	ptrace(PTRACE_SETSIGMASK, r->tid, sizeof(r->mask), &r->mask);
	tnfctl_arch_leave(r->tid, s);
	t->syscalls = false;
	ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL);
	tnfctl_proc_resume(p, t);
	t->asked = true;
	tnfctl_proc_stop(p);
	if ((t = tnfctl_proc_thread(p, r->tid)) == NULL)
		return;
	t->leave_group = false;
	/* If nothing has happened since, the thread gets its exact state back. */
	if (t->stopped && t->signal == 0 && is_held(p))
		tnfctl_arch_restore(t, s);
}

enum remote_result
tnfctl_remote_call(struct proc *p, struct call *r, int max_ms)
{
	struct thread *t = tnfctl_proc_thread(p, r->tid);
	struct arch_saved *s = NULL;
	bool started, ended = false;
	uint64_t sp = 0;

	started = t != NULL && is_held(p) && (s = tnfctl_arch_save(t)) != NULL &&
	    remote_begin(p, r, s, &sp);
	if (started) {
		t->syscalls = t->leave_group = true;
		ended = run_to_end(p, r, sp, max_ms);
		if (ended)
			remote_finish(p, r, s);
		else
			tnfctl_proc_stop(p);
		if ((t = tnfctl_proc_thread(p, r->tid)) != NULL)
			t->syscalls = t->leave_group = false;
	}
	free(s);
	if (p->gone || p->event != PROC_NOTHING)
		return REMOTE_ENDED;
	return ended ? REMOTE_DONE : started ? REMOTE_LATE :
	    REMOTE_NOT_STARTED;
}

bool
tnfctl_remote_is_in_sequence(struct proc *p, const struct thread *t, uintptr_t ip)
{
	struct rseq_place place = { 0 };
	struct rseq_cs cs;
	uint64_t at = 0;

	/* Linux before 5.13 does not tell where a thread's rseq area is. */
	if (ptrace(GET_RSEQ_PLACE, t->tid, sizeof(place), &place) <
	    (long)sizeof(place) || place.area == 0)
		return false;
	if (!tnfctl_proc_read(p, place.area + offsetof(struct rseq,
	    rseq_cs), &at, sizeof(at)))
		return true;
	return at != 0 && (!tnfctl_proc_read(p, at, &cs, sizeof(cs)) ||
	    ip - cs.start_ip < cs.post_commit_offset);
}
