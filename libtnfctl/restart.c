/*
 * restart.c - a stop must not show.
 *
 * After a stop most system calls go on by themselves.  Some do not: they have
 * returned EINTR, as if a signal handler had run (signal(7) lists them).  And
 * signals that the target ignores wake a thread only because we are there.
 * Where no handler is about to run, the thread is set back onto the call.
 *
 * A call with a time limit then waits for its whole time again.  So that it
 * ends at all under many stops, every few times it may return EINTR.
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

#include "proc.h"

#ifdef __x86_64__

#define RESTARTS_MAX	8

enum limit { LIMITED, LIMIT_RDX, LIMIT_R10, LIMIT_R8, LIMIT_NONE };

static const struct {
	long	call;
	enum limit limit;	/* where the limit is given; 0 or < 0: none */
} calls[] = {
	{ SYS_epoll_wait, LIMIT_R10 },
	{ SYS_epoll_pwait, LIMIT_R10 },
	{ SYS_epoll_pwait2, LIMIT_R10 },
	{ SYS_rt_sigtimedwait, LIMIT_RDX },
	{ SYS_semop, LIMIT_NONE },
	{ SYS_semtimedop, LIMIT_R10 },
	{ SYS_io_getevents, LIMIT_R8 },
	{ SYS_io_pgetevents, LIMIT_R8 },
	/* Sockets with SO_RCVTIMEO; inotify. */
	{ SYS_read, LIMITED },
	{ SYS_recvfrom, LIMITED },
	{ SYS_recvmsg, LIMITED },
	{ SYS_accept, LIMITED },
	{ SYS_accept4, LIMITED },
};

static bool
is_limited(enum limit limit, const struct user_regs_struct *r)
{
	switch (limit) {
	case LIMIT_NONE:
		return false;
	case LIMIT_RDX:
		return r->rdx != 0;
	case LIMIT_R8:
		return r->r8 != 0;
	case LIMIT_R10:
		/* A pointer, or milliseconds. */
		return r->r10 != 0 && (int)r->r10 != -1;
	default:
		return true;
	}
}

/* Is a handler about to run, of the signal at hand or of one that waits? */
static bool
handler_runs(const struct proc *p, const struct thread *t)
{
	unsigned long long pending = 0, blocked = 0, caught = 0, v;
	char path[64], line[256], name[16];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)p->pid,
	    (int)t->tid);
	if ((f = fopen(path, "re")) == NULL)
		return true;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%15[A-Za-z]: %llx", name, &v) != 2)
			continue;
		if (strcmp(name, "SigPnd") == 0 || strcmp(name, "ShdPnd") == 0)
			pending |= v;
		else if (strcmp(name, "SigBlk") == 0)
			blocked = v;
		else if (strcmp(name, "SigCgt") == 0)
			caught = v;
	}
	fclose(f);
	pending &= ~blocked;
	if (t->signal != 0)
		pending |= 1ull << (t->signal - 1);
	return (pending & caught) != 0;
}

void
restart_call(struct proc *p, struct thread *t)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };
	bool limited;
	size_t i;

	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &v) != 0 ||
	    (long)r.orig_rax < 0 || (long)r.rax != -EINTR)
		return;
	for (i = 0; calls[i].call != (long)r.orig_rax; )
		if (++i == sizeof(calls) / sizeof(calls[0]))
			return;
	if (handler_runs(p, t))
		return;
	limited = is_limited(calls[i].limit, &r);
	if (t->call_sp != r.rsp)
		t->restarts = 0;
	t->call_sp = r.rsp;
	if (limited && t->restarts++ == RESTARTS_MAX) {
		t->restarts = 0;
		return;
	}
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
