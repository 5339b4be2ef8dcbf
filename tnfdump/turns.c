/*
 * turns.c - two processes that write one output in turn.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tnfdump/turns.h"

#define HELD_MAX	(16u << 20)	/* bytes of text that wait for their turn */
#define CHILD_CUT	(128 + SIGBUS)	/* exit status of a child */

struct turns {
	pid_t	 child;		/* 0: this is it */
	int	 other;		/* a socket to the other */
	int	 fd;		/* of the output, which is kept in memory meanwhile */
	bool	 mine;		/* it is this process's turn */
	bool	 gone;		/* the other has ended in its turn */
	bool	 noted;		/* the other has had a turn, and ... */
	uint64_t note;		/* ... has left this */
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

/* Somebody cuts off a file that both have mapped: both meet it, and the parent says it. */
static void
on_sigbus_in_child(int sig)
{
	_exit(CHILD_CUT);
}

static void
child_begins(void)
{
	struct sigaction sa = { .sa_handler = on_sigbus_in_child };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

struct turns *
turns_begin(struct dump *d)
{
	int ends[2];
	pid_t child;

	tnf_out_flush(&d->out);
	if (d->out.error != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return NULL;
	if ((child = fork()) < 0) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	if (child == 0)
		child_begins();
	close(ends[child == 0]);
	struct turns *t = tnf_xcalloc(1, sizeof(*t));
	*t = (struct turns){ .child = child, .other = ends[child != 0], .fd = d->out.fd,
	    .mine = child != 0 };
	d->out.fd = -1;
	return t;
}

bool
turns_in_child(const struct turns *t)
{
	return t->child == 0;
}

static void
turns_wait(struct dump *d, struct turns *t)
{
	struct word word;
	ssize_t n;

	if (t->mine)
		return;
	while ((n = recv(t->other, &word, sizeof(word), 0)) < 0 && errno == EINTR)
		;
	t->mine = true;
	if (n == sizeof(word)) {
		t->noted = true;
		t->note = word.note;
	} else {
		/* After an error it ends before its turn. */
		t->gone = d->out.error == 0;
		word.error = EPIPE;
	}
	if (d->out.error == 0)
		d->out.error = word.error;
}

void
turns_take(struct dump *d, struct turns *t, uint64_t *ret_note)
{
	turns_wait(d, t);
	if (t->noted && ret_note != NULL)
		*ret_note = t->note;
}

void
turns_bound(struct dump *d, struct turns *t)
{
	if (d->out.fd >= 0 || (size_t)(d->out.p - d->out.base) < HELD_MAX)
		return;
	turns_wait(d, t);
	d->out.fd = t->fd;
	tnf_out_flush(&d->out);
}

void
turns_give(struct dump *d, struct turns *t, uint64_t note)
{
	struct word word = { .note = note };

	t->mine = false;
	d->out.fd = t->fd;
	tnf_out_flush(&d->out);
	d->out.fd = -1;
	word.error = d->out.error;
	/* It may be gone, because it has nothing more to write. */
	send(t->other, &word, sizeof(word), MSG_NOSIGNAL);
}

/* What the child's end means for us. */
static void
turns_reap(struct dump *d, const struct turns *t)
{
	int status = 0;

	while (waitpid(t->child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_CUT)
		raise(SIGBUS);
	/* It has said why it could not go on.  What is held here would come behind that. */
	if (t->gone && WIFEXITED(status) && WEXITSTATUS(status) != 0)
		_exit(WEXITSTATUS(status));
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
	turns_reap(d, t);
	d->out.fd = t->fd;
	free(t);
}
