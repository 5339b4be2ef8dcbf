/*
 * remote.c - call a function in a thread of the target.
 *
 * The thread gets what the kernel gives it for a signal handler: a stack with
 * a frame that holds all its registers, and as return address the piece of
 * the C library that gives the frame back to the kernel (rt_sigreturn).  So
 * if we die during the call, the thread returns to where it was without us.  The
 * call does not use the thread's own stack, because nobody can tell how much of
 * that is left.
 *
 * While we live we stop it at each system call.  When it is about to make that
 * last one we put the registers back ourselves, because that is exact: an
 * interrupted sleep goes on with the rest of its time, as after any stop.
 */
#include <elf.h>
#include <errno.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "libtnfctl/remote.h"

#ifdef __x86_64__

#define XSTATE_MAX	16384u
#define TCB_SELF	16	/* what lies at the thread pointer: tcb, dtv, self */
#define PAUSE_NS	20000
#define YIELDS		50
#define ALONE_MS	500	/* of standstill; it may wait by spinning, too */
#define XSTATE_MAGIC1	0x46505853u
#define XSTATE_MAGIC2	0x46505845u

/* mov $15, %rax; syscall */
const unsigned char remote_restorer[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05
};
const size_t remote_restorer_size = sizeof(remote_restorer);

/* struct rt_sigframe, struct ucontext and struct sigcontext of the kernel. */
struct frame {
	uint64_t return_to;
	uint64_t uc_flags;
	uint64_t uc_link;
	uint64_t stack[3];
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate;
	uint64_t reserved[8];
	uint64_t sigmask;
};
#define UC_FP_XSTATE		1u
#define UC_SIGCONTEXT_SS	2u
#define UC_STRICT_RESTORE_SS	4u

/* What of an xsave area belongs to signal frames, at byte 464. */
struct frame_sw {
	uint32_t magic1;
	uint32_t extended_size;
	uint64_t features;
	uint32_t xstate_size;
	uint32_t padding[7];
};
#define XSTATE_SW	464u
#define XSTATE_HEADER	512u

/* PTRACE_GET_RSEQ_CONFIGURATION, which C libraries have had only since 2021. */
#define GET_RSEQ_PLACE	0x420f
struct rseq_place {
	uint64_t area;		/* struct rseq */
	uint32_t size;
	uint32_t signature;
	uint32_t flags;
	uint32_t pad;
};

struct saved {
	struct user_regs_struct regs;
	uint64_t mask;
	size_t	 xsize;
	unsigned char xstate[XSTATE_MAX + sizeof(uint32_t)];
};

static bool
set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec v = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

static bool
get_regs(pid_t tid, struct user_regs_struct *ret)
{
	struct iovec v = { ret, sizeof(*ret) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

static bool
remote_save(pid_t tid, struct saved *s)
{
	struct iovec v = { s->xstate, XSTATE_MAX };

	if (!get_regs(tid, &s->regs) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(s->mask), &s->mask) != 0 ||
	    ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) != 0)
		return false;
	s->xsize = v.iov_len;
	return s->xsize >= XSTATE_HEADER + 64 && s->xsize < XSTATE_MAX;
}

/*
 * The registers as they are when nobody is there to restart a system call:
 * set back onto the call, as the kernel does for a handler with SA_RESTART.
 */
static struct user_regs_struct
remote_restarting(const struct user_regs_struct *regs)
{
	struct user_regs_struct r = *regs;
	long result = (long)r.rax;

	if ((long)r.orig_rax >= 0) {
		/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND; then the rest */
		if (result == -512 || result == -513 || result == -514) {
			r.rax = r.orig_rax;
			r.rip -= 2;
		} else if (result == -516) {
			r.rax = (unsigned long long)-EINTR;
		}
	}
	r.orig_rax = (unsigned long long)-1;
	return r;
}

static void
fill_frame(struct frame *f, const struct saved *s, const struct remote *r,
    uint64_t fpstate)
{
	const struct user_regs_struct u = remote_restarting(&s->regs);

	*f = (struct frame){
		.return_to = r->restorer,
		.uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS |
		    UC_STRICT_RESTORE_SS,
		.stack = { 0, 2 /* SS_DISABLE */, 0 },
		.r8 = u.r8, .r9 = u.r9, .r10 = u.r10, .r11 = u.r11,
		.r12 = u.r12, .r13 = u.r13, .r14 = u.r14, .r15 = u.r15,
		.di = u.rdi, .si = u.rsi, .bp = u.rbp, .bx = u.rbx,
		.dx = u.rdx, .ax = u.rax, .cx = u.rcx, .sp = u.rsp,
		.ip = u.rip, .flags = u.eflags,
		.cs = (uint16_t)u.cs, .ss = (uint16_t)u.ss,
		.fpstate = fpstate, .sigmask = s->mask,
	};
}

/* The xsave area of ptrace becomes one of a signal frame. */
static size_t
frame_xstate(const struct saved *s, unsigned char *ret)
{
	struct frame_sw sw = { .magic1 = XSTATE_MAGIC1 };
	const uint32_t magic2 = XSTATE_MAGIC2;

	memcpy(ret, s->xstate, s->xsize);
	memcpy(&sw.features, s->xstate + XSTATE_SW, sizeof(sw.features));
	sw.xstate_size = (uint32_t)s->xsize;
	sw.extended_size = (uint32_t)(s->xsize + sizeof(magic2));
	memcpy(ret + XSTATE_SW, &sw, sizeof(sw));
	memcpy(ret + s->xsize, &magic2, sizeof(magic2));
	return s->xsize + sizeof(magic2);
}

/* Puts the frame on the stack; the stack pointer for the call, 0: no room. */
static uint64_t
remote_build(struct proc *p, const struct saved *s, const struct remote *r)
{
	unsigned char xstate[XSTATE_MAX + sizeof(uint32_t)];
	size_t xsize = frame_xstate(s, xstate);
	uint64_t fp, sp;
	struct frame f;

	fp = (r->stack - xsize) & ~UINT64_C(63);
	sp = ((fp - sizeof(f)) & ~UINT64_C(15)) - 8;
	fill_frame(&f, s, r, fp);
	if (!proc_write(p, fp, xstate, xsize) ||
	    !proc_write(p, sp, &f, sizeof(f)))
		return 0;
	return sp;
}

static void
block_signals(pid_t tid)
{
	uint64_t mask = ~UINT64_C(0);
	const int sync[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	size_t i;

	for (i = 0; i < sizeof(sync) / sizeof(sync[0]); i++)
		mask &= ~(UINT64_C(1) << (sync[i] - 1));
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

static bool
remote_begin(struct proc *p, const struct saved *s, const struct remote *r,
    uint64_t *ret_sp)
{
	struct user_regs_struct regs = s->regs;
	uint64_t sp = remote_build(p, s, r);

	if (sp == 0)
		return false;
	regs.rip = r->function;
	regs.rsp = sp;
	regs.rdi = r->args[0];
	regs.rsi = r->args[1];
	regs.rdx = r->args[2];
	regs.rcx = r->args[3];
	regs.r8 = r->args[4];
	regs.r9 = r->args[5];
	regs.rax = 0;
	regs.orig_rax = (unsigned long long)-1;
	regs.eflags &= ~UINT64_C(0x500);	/* no direction, no trap flag */
	/* From here on the thread comes back without us. */
	if (!set_regs(r->tid, &regs))
		return false;
	block_signals(r->tid);
	*ret_sp = sp;
	return true;
}

/* Calls in which a thread waits for another one of its process, for a lock. */
static bool
is_waiting_for_others(uint64_t call)
{
	return call == SYS_futex || call == SYS_sched_yield ||
	    call == SYS_nanosleep || call == SYS_clock_nanosleep ||
	    call == SYS_poll || call == SYS_ppoll || call == SYS_select ||
	    call == SYS_pselect6 || call == SYS_epoll_wait;
}

/* Is it at the last system call?  Notes what came of those before that. */
static bool
at_end(struct remote *r, uint64_t sp)
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
	    i.stack_pointer == sp + sizeof(uint64_t);
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* The next stop is near: a sleep takes much longer than the call for which the
   thread has stopped. */
static void
pause_shortly(unsigned int n)
{
	const struct timespec ts = { .tv_nsec = PAUSE_NS };

	if (n < YIELDS)
		sched_yield();
	else
		nanosleep(&ts, NULL);
}

/*
 * Lets it run until it is at its last system call.  The others stand still
 * until it waits for one of them: most calls never do, and what runs may call
 * exec() meanwhile, or be many threads to stop again.
 */
static bool
run_to_end(struct proc *p, struct remote *r, uint64_t sp, int max_ms)
{
	int64_t start = now_ms(), end = start + max_ms;
	struct thread *t = proc_thread(p, r->tid);
	unsigned int pauses = 0;

	proc_resume(p, t);
	while (!p->gone && p->event == PROC_NOTHING && now_ms() < end) {
		proc_take_all(p);
		if ((t = proc_thread(p, r->tid)) == NULL)
			return false;
		if (t->event == PROC_SYSCALL) {
			t->event = PROC_NOTHING;
			if (at_end(r, sp))
				return true;
			proc_resume(p, t);
			pauses = 0;
		} else if (t->stopped && t->event == PROC_NOTHING) {
			proc_resume(p, t);
		}
		r->waits |= now_ms() - start > ALONE_MS;
		if (r->waits && !r->alone)
			proc_resume_idle(p);
		pause_shortly(pauses++);
	}
	return false;
}

/* Does the kernel say that this thread, which we do not hold, is in a system
   call other than exec?  It stops before it can make another one. */
static bool
is_in_other_call(const struct proc *p, pid_t tid)
{
	char path[64];
	long call = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)p->pid,
	    (int)tid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	if (fscanf(f, "%ld", &call) != 1)
		call = -1;
	fclose(f);
	return call >= 0 && call != SYS_execve && call != SYS_execveat;
}

/*
 * An exec() of any thread turns the leader's pid into another program, and
 * registers that we write then are written into that.  False: a thread that we
 * do not hold may be in the middle of one.
 */
static bool
is_held(const struct proc *p)
{
	const struct thread *t;
	char state;

	if (p->gone || p->event != PROC_NOTHING)
		return false;
	for (t = p->threads; t < p->threads + p->n; t++) {
		if (t->stopped)
			continue;
		state = proc_state(p->pid, t->tid);
		if (state != 'Z' && state != 'X' && state != 0 &&
		    !is_in_other_call(p, t->tid))
			return false;
	}
	return true;
}

/* Brings it from the entry of its last system call to an ordinary stop. */
static void
remote_finish(struct proc *p, pid_t tid, const struct saved *s)
{
	const struct user_regs_struct now = remote_restarting(&s->regs);
	struct iovec v = { (void *)(uintptr_t)s->xstate, s->xsize };
	struct thread *t;

	proc_stop(p);
	/* If not, it makes that call by itself when it runs again. */
	if ((t = proc_thread(p, tid)) == NULL || !t->stopped || !is_held(p))
		return;
	/* In this order: whenever we die it can go on. */
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(s->mask), &s->mask);
	ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &v);
	set_regs(tid, &now);		/* system call -1: none */
	t->syscalls = false;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	proc_resume(p, t);
	t->asked = true;
	proc_stop(p);
	if ((t = proc_thread(p, tid)) == NULL)
		return;
	t->leave_group = false;
	/* Where nothing has happened since, the exact state. */
	if (t->stopped && t->signal == 0 && is_held(p))
		set_regs(tid, &s->regs);
}

enum remote_result
remote_call(struct proc *p, struct remote *r, int max_ms)
{
	struct thread *t = proc_thread(p, r->tid);
	struct saved *s = malloc(sizeof(*s));
	bool started, ended = false;
	uint64_t sp = 0;

	started = s != NULL && t != NULL && is_held(p) && remote_save(r->tid, s) &&
	    remote_begin(p, s, r, &sp);
	if (started) {
		t->syscalls = t->leave_group = true;
		ended = run_to_end(p, r, sp, max_ms);
		if (ended)
			remote_finish(p, r->tid, s);
		else
			proc_stop(p);
		if ((t = proc_thread(p, r->tid)) != NULL)
			t->syscalls = t->leave_group = false;
	}
	free(s);
	if (p->gone || p->event != PROC_NOTHING)
		return REMOTE_ENDED;
	return ended ? REMOTE_DONE : started ? REMOTE_LATE :
	    REMOTE_NOT_STARTED;
}

bool
remote_where(const struct thread *t, uintptr_t *ip, uintptr_t *sp, long *call)
{
	struct user_regs_struct regs;

	if (!get_regs(t->tid, &regs))
		return false;
	*ip = regs.rip;
	*sp = regs.rsp;
	*call = (long)regs.orig_rax;
	return true;
}

bool
remote_is_in_sequence(struct proc *p, const struct thread *t, uintptr_t ip)
{
	struct rseq_place place = { 0 };
	struct rseq_cs cs;
	uint64_t at = 0;

	/* Linux before 5.13 does not tell. */
	if (ptrace(GET_RSEQ_PLACE, t->tid, sizeof(place), &place) <
	    (long)sizeof(place) || place.area == 0)
		return false;
	if (!proc_read(p, place.area + offsetof(struct rseq,
	    rseq_cs), &at, sizeof(at)))
		return true;
	return at != 0 && (!proc_read(p, at, &cs, sizeof(cs)) ||
	    ip - cs.start_ip < cs.post_commit_offset);
}

bool
remote_is_thread(struct proc *p, const struct thread *t)
{
	struct user_regs_struct regs;
	uint64_t self;

	return get_regs(t->tid, &regs) && regs.fs_base != 0 &&
	    proc_read(p, regs.fs_base + TCB_SELF, &self, sizeof(self)) &&
	    self == regs.fs_base;
}

#else

const unsigned char remote_restorer[1];
const size_t remote_restorer_size = 0;

enum remote_result
remote_call(struct proc *p, struct remote *r, int max_ms)
{
	return REMOTE_NOT_STARTED;
}

bool
remote_where(const struct thread *t, uintptr_t *ip, uintptr_t *sp, long *call)
{
	return false;
}

bool
remote_is_in_sequence(struct proc *p, const struct thread *t, uintptr_t ip)
{
	return false;
}

bool
remote_is_thread(struct proc *p, const struct thread *t)
{
	return false;
}

#endif
