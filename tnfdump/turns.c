/*
 * turns.c - two processes that write one output in turn.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tnfdump/turns.h"

struct turns {
	pid_t	 child;		/* 0: this is it */
	int	 other;		/* a socket to the other */
	int	 fd;		/* of the output, which is kept in memory meanwhile */
	bool	 first;		/* nobody has written yet */
};

/* What the other gets with its turn. */
struct word {
	uint64_t note;
	int	 error;
};

bool
turns_worth_it(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

struct turns *
turns_begin(struct dump *d)
{
	struct turns *t;
	int ends[2];
	pid_t child;

	out_flush(&d->out);
	if (d->out.error != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return NULL;
	if ((child = fork()) < 0) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	close(ends[child == 0]);
	t = xcalloc(1, sizeof(*t));
	*t = (struct turns){ .child = child, .other = ends[child != 0], .fd = d->out.fd,
	    .first = child != 0 };
	d->out.fd = -1;
	return t;
}

bool
turns_in_child(const struct turns *t)
{
	return t->child == 0;
}

void
turns_take(struct dump *d, struct turns *t, uint64_t *ret_note)
{
	struct word word;
	ssize_t n;

	if (t->first)
		return;
	while ((n = recv(t->other, &word, sizeof(word), 0)) < 0 && errno == EINTR)
		;
	if (n != sizeof(word))
		word = (struct word){ .error = EPIPE };
	else if (ret_note != NULL)
		*ret_note = word.note;
	if (d->out.error == 0)
		d->out.error = word.error;
}

void
turns_give(struct dump *d, struct turns *t, uint64_t note)
{
	struct word word = { .note = note };

	t->first = false;
	d->out.fd = t->fd;
	out_flush(&d->out);
	d->out.fd = -1;
	word.error = d->out.error;
	/* It may be gone, because it has nothing more to write. */
	send(t->other, &word, sizeof(word), MSG_NOSIGNAL);
}

/* What the child's end means for us. */
static void
turns_reap(struct dump *d, pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* If who reads our output goes away, SIGPIPE ends only the process that writes at
	   that moment; so we end by the signal that has ended the child. */
	if (WIFSIGNALED(status))
		kill(getpid(), WTERMSIG(status));
	if (WIFSIGNALED(status) && d->out.error == 0)
		d->out.error = EIO;
	if (WIFEXITED(status) && WEXITSTATUS(status) > d->status)
		d->status = WEXITSTATUS(status);
}

void
turns_end(struct dump *d, struct turns *t, bool mine)
{
	if (t->child == 0)
		_exit(d->status);
	if (!mine)
		turns_take(d, t, NULL);
	close(t->other);
	turns_reap(d, t->child);
	d->out.fd = t->fd;
	free(t);
}
