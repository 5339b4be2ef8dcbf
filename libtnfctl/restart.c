/*
 * restart.c - calls without a time limit do not notice a stop.
 *
 * After a stop most system calls go on by themselves, and those with a time
 * limit with what is left of it.  Some do not: they have returned EINTR, as if
 * a signal handler had run, or as after SIGSTOP and SIGCONT (signal(7) lists
 * them).  And signals that the target ignores wake a thread only because we are
 * there.  Where no handler is about to run, the thread is set back onto the
 * call.
 *
 * If such a call has a time limit it keeps its EINTR: set back, it would wait
 * for its whole time again, and nobody can tell how much of that has passed.
 * Among these are all calls on sockets, which return EINTR only where
 * SO_RCVTIMEO or SO_SNDTIMEO is set.
 *
 * What has been transferred is never lost, but is told early: write(2) to a
 * pipe, send(2) and recv(2) with MSG_WAITALL return short counts.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "common/proc-status.h"
#include "libtnfctl/proc.h"

#ifdef __x86_64__

#define URING_EXT_ARG	(1u << 3)

/* Where the time limit is. */
enum limit {
	LIMIT_NONE,
	LIMIT_RDX,		/* pointers; NULL: none */
	LIMIT_R8,
	LIMIT_R10,
	LIMIT_MS,		/* milliseconds in r10; negative: none */
	LIMIT_URING,		/* behind r8, if the flags in r10 say so */
	LIMIT_SOCKET		/* in the file, if it is a socket */
};

static const struct {
	long	call;
	enum limit limit;
} calls[] = {
	{ SYS_epoll_wait, LIMIT_MS },
	{ SYS_epoll_pwait, LIMIT_MS },
	{ SYS_epoll_pwait2, LIMIT_R10 },
	{ SYS_rt_sigtimedwait, LIMIT_RDX },
	{ SYS_semop, LIMIT_NONE },
	{ SYS_semtimedop, LIMIT_R10 },
	{ SYS_io_getevents, LIMIT_R8 },
	{ SYS_io_pgetevents, LIMIT_R8 },
	{ SYS_io_uring_enter, LIMIT_URING },
	{ SYS_read, LIMIT_SOCKET },	/* or inotify */
	{ SYS_readv, LIMIT_SOCKET },
};

/* struct io_uring_getevents_arg of the kernel. */
struct uring_arg {
	uint64_t sigmask;
	uint32_t sigmask_size;
	uint32_t min_wait_us;
	uint64_t ts;
};

static bool
is_uring_limited(struct proc *p, const struct user_regs_struct *r)
{
	struct uring_arg arg;

	if ((r->r10 & URING_EXT_ARG) == 0)
		return false;
	return !proc_read(p, r->r8, &arg, sizeof(arg)) || arg.ts != 0 ||
	    arg.min_wait_us != 0;
}

static bool
is_socket(const struct proc *p, int fd)
{
	char path[64], target[16];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p->pid, fd);
	n = readlink(path, target, sizeof(target));
	return n < 7 || memcmp(target, "socket:", 7) == 0;
}

static bool
is_limited(struct proc *p, enum limit limit, const struct user_regs_struct *r)
{
	switch (limit) {
	case LIMIT_NONE:
		return false;
	case LIMIT_RDX:
		return r->rdx != 0;
	case LIMIT_R8:
		return r->r8 != 0;
	case LIMIT_R10:
		return r->r10 != 0;
	case LIMIT_MS:
		return (int)r->r10 >= 0;
	case LIMIT_URING:
		return is_uring_limited(p, r);
	case LIMIT_SOCKET:
		return is_socket(p, (int)r->rdi);
	}
	return true;
}

/* A set of signals in the thread's status; none if it cannot be read. */
static unsigned long long
signals_of(const struct proc *p, const struct thread *t, const char *field)
{
	char text[64];

	return thread_status_text(p->pid, t->tid, field, text, sizeof(text)) ?
	    strtoull(text, NULL, 16) : 0;
}

/* Is a handler about to run, of the signal at hand or of one that waits? */
static bool
handler_runs(const struct proc *p, const struct thread *t)
{
	unsigned long long pending;

	if (thread_status(p->pid, t->tid, "Tgid") < 0)
		return true;		/* not known: nothing is repeated */
	pending = signals_of(p, t, "SigPnd") | signals_of(p, t, "ShdPnd");
	pending &= ~signals_of(p, t, "SigBlk");
	if (t->signal != 0)
		pending |= 1ull << (t->signal - 1);
	return (pending & signals_of(p, t, "SigCgt")) != 0;
}

void
restart_call(struct proc *p, struct thread *t)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };
	size_t i;

	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &v) != 0 ||
	    (long)r.orig_rax < 0 || (long)r.rax != -EINTR)
		return;
	for (i = 0; calls[i].call != (long)r.orig_rax; )
		if (++i == sizeof(calls) / sizeof(calls[0]))
			return;
	if (is_limited(p, calls[i].limit, &r) || handler_runs(p, t))
		return;
	r.rax = r.orig_rax;
	r.orig_rax = (unsigned long long)-1;
	r.rip -= 2;
	ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &v);
}

#else

void
restart_call(struct proc *p, struct thread *t)
{
}

#endif
