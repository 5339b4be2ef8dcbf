/*
 * restart.c - calls without a time limit do not notice a stop.
 *
 * After a stop most system calls go on by themselves, and those with a time
 * limit with what is left of it.  Some do not: they have returned EINTR, as if
 * a signal handler had run, or as after SIGSTOP and SIGCONT (signal(7) lists
 * them).  And signals that the target ignores wake a thread only because we are
 * there.  If no handler is about to run, the thread is set back onto the
 * call.
 *
 * If such a call has a time limit it keeps its EINTR: set back, it would wait
 * for its whole time again, and nobody can tell how much of that has passed.
 * Among these are all calls on sockets, which return EINTR only where
 * SO_RCVTIMEO or SO_SNDTIMEO is set.
 *
 * Bytes that were transferred are never lost, but are told early: write(2) to a
 * pipe, send(2) and recv(2) with MSG_WAITALL return short counts.
 */
#include <sys/syscall.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/proc.h"

#define URING_EXT_ARG	(1u << 3)

/* The place of the time limit: argument 2, 3 or 4 points to it (NULL: none), or ... */
enum limit {
	LIMIT_NONE,
	LIMIT_MS = 6,		/* milliseconds in argument 3; negative: none */
	LIMIT_URING,		/* behind argument 4, if the flags before it say so */
	LIMIT_SOCKET		/* in the file, if it is a socket */
};

static const struct {
	long	call;
	unsigned limit;
} calls[] = {
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, LIMIT_MS },
#endif
	{ SYS_epoll_pwait, LIMIT_MS },
	{ SYS_epoll_pwait2, 3 },
	{ SYS_rt_sigtimedwait, 2 },
	{ SYS_semop, LIMIT_NONE },
	{ SYS_semtimedop, 3 },
	{ SYS_io_getevents, 4 },
	{ SYS_io_pgetevents, 4 },
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
is_uring_limited(struct proc *p, const struct arch_interrupted *c)
{
	struct uring_arg arg;

	if ((c->arg[3] & URING_EXT_ARG) == 0)
		return false;
	return !tnfctl_proc_read(p, c->arg[4], &arg, sizeof(arg)) || arg.ts != 0 ||
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
is_limited(struct proc *p, unsigned limit, const struct arch_interrupted *c)
{
	switch (limit) {
	case LIMIT_NONE:
		return false;
	case LIMIT_MS:
		return (int)c->arg[3] >= 0;
	case LIMIT_URING:
		return is_uring_limited(p, c);
	case LIMIT_SOCKET:
		return is_socket(p, (int)c->arg[0]);
	default:
		return c->arg[limit] != 0;
	}
}

/* A set of signals in the thread's status; none if it cannot be read. */
static unsigned long long
signals_of(const struct proc *p, const struct thread *t, const char *field)
{
	char text[64];

	return tnf_thread_status_text(p->pid, t->tid, field, text, sizeof(text)) ?
	    strtoull(text, NULL, 16) : 0;
}

/* Is a handler about to run, of the signal at hand or of one that waits? */
static bool
handler_runs(const struct proc *p, const struct thread *t)
{
	unsigned long long pending;

	if (tnf_thread_status(p->pid, t->tid, "Tgid") < 0)
		return true;		/* not known: nothing is repeated */
	pending = signals_of(p, t, "SigPnd") | signals_of(p, t, "ShdPnd");
	pending &= ~signals_of(p, t, "SigBlk");
	if (t->signal != 0)
		pending |= 1ull << (t->signal - 1);
	return (pending & signals_of(p, t, "SigCgt")) != 0;
}

void
tnfctl_restart_call(struct proc *p, struct thread *t)
{
	struct arch_interrupted c;
	size_t i;

	if (!tnfctl_arch_is_interrupted(t, &c))
		return;
	for (i = 0; calls[i].call != c.call; )
		if (++i == sizeof(calls) / sizeof(calls[0]))
			return;
	if (!is_limited(p, calls[i].limit, &c) && !handler_runs(p, t))
		tnfctl_arch_redo(t->tid, &c);
}
