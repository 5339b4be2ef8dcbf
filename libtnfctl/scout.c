/*
 * scout.c - the first look at a process, by a child of ours that we can give up.
 *
 * A file system whose server does not answer holds back whoever opens one of its files, reads
 * it, or reads a page of it by /proc/PID/mem.  No signal ends such a wait, not even SIGKILL, and
 * no other call reads without it; so whoever has to answer in time must not wait there itself.
 * The child looks at all that the attach will look at.  We stay outside if the child does not
 * come back.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/handle.h"
#include "libtnfctl/scout.h"

#define LOOK_MS		20	/* between two looks at the time and at our signals */

struct answer {
	tnfctl_errcode_t err;
	char	 detail[640];
};

static _Noreturn void
scout_main(struct proc *p, scout_fn *look, int fd)
{
	struct answer a = { .err = TNFCTL_ERR_NONE };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A program that reads our client's output must not wait for the end of this child. */
	if (dup2(fd, 0) == 0)
		close_range(1, ~0u, 0);
	a.err = look(p);
	snprintf(a.detail, sizeof(a.detail), "%s", tnfctl_error_detail());
	_exit(write(0, &a, sizeof(a)) != (ssize_t)sizeof(a));
}

/* False: it is late. */
static bool
await(const struct proc *p, int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	while (poll(&poll_fd, 1, LOOK_MS) <= 0)
		if (tnfctl_proc_is_late(p))
			return false;
	return true;
}

/* If our client has taken its end from wait(2), or ignores SIGCHLD, there is nothing to take. */
static void
reap(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The child stays where it waits, until the file system answers. */
static tnfctl_errcode_t
give_up(const struct proc *p, pid_t child)
{
	kill(child, SIGKILL);
	return tnfctl_proc_late_at(p, "neither its memory nor its files could be read",
	    "a file system that does not answer, or a busy machine");
}

static tnfctl_errcode_t
take_answer(const struct proc *p, int fd, pid_t child)
{
	struct answer a;
	ssize_t n;

	if (!await(p, fd))
		return give_up(p, child);
	n = read(fd, &a, sizeof(a));
	reap(child);
	if (n != (ssize_t)sizeof(a))
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: the child that looks "
		    "at it was killed: try again", (int)p->pid);
	return tnfctl_error_set(a.err, a.err != TNFCTL_ERR_NONE && a.detail[0] != '\0' ? "%s" :
	    NULL, a.detail);
}

tnfctl_errcode_t
tnfctl_scout(struct proc *p, scout_fn *look)
{
	tnfctl_errcode_t err;
	int pair[2];
	pid_t child;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return tnfctl_error_set_errno(errno, "process %d: pipe", (int)p->pid);
	if ((child = fork()) == 0)
		scout_main(p, look, pair[1]);
	close(pair[1]);
	err = child > 0 ? take_answer(p, pair[0], child) :
	    tnfctl_error_set_errno(errno, "process %d: fork", (int)p->pid);
	close(pair[0]);
	return err;
}
