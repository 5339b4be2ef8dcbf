/*
 * halves.c - one output, made by two processes.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tnfdump/halves.h"
#include "tnfdump/input.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/columns.h"

#define EVENTS_BEFORE	65536u	/* few events are done sooner by one */
#define PIECE		16384u	/* events that one process formats at a time */

struct halves {
	pid_t	 child;		/* 0: this is it */
	int	 turn;		/* to the other: a byte, when it may write */
	int	 fd;		/* of the output, which is kept in memory meanwhile */
	uint32_t left;		/* events of this piece */
	bool	 mine;		/* this piece is */
	bool	 first;		/* nobody has written yet */
};

static bool
two_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

/* A file that somebody writes may be read in place: then two see different events. */
static bool
somebody_writes(const struct dump *d)
{
	const struct tnf_ext *x;

	for (unsigned i = 0; i < d->n_inputs; i++)
		if (d->inputs[i].file != NULL && (x = tnf_file_ext(d->inputs[i].file)) != NULL &&
		    x->kind == TNF_EXT_PROCESS && x->attached > x->ended)
			return true;
	return false;
}

/* Is each event's text its own?  Columns, names for numbers, machines and templates
   remember more. */
static bool
halves_possible(const struct dump *d)
{
	return d->output->alone && d->follow == NULL && d->reverse == NULL && d->hosts == NULL &&
	    d->template == NULL && !d->pretty && !columns_asked(d) && !d->escape && two_cpus() &&
	    !somebody_writes(d);
}

void
halves_begin(struct dump *d)
{
	struct halves *h;
	int ends[2];
	pid_t child;

	if (d->events != EVENTS_BEFORE || !halves_possible(d))
		return;
	out_flush(&d->out);
	if (d->out.error != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	if ((child = fork()) < 0) {
		close(ends[0]);
		close(ends[1]);
		return;
	}
	close(ends[child == 0]);
	h = xcalloc(1, sizeof(*h));
	*h = (struct halves){ .child = child, .turn = ends[child != 0], .fd = d->out.fd,
	    .left = PIECE, .mine = child != 0, .first = child != 0 };
	d->halves = h;
	d->quiet = child == 0;
	d->out.fd = -1;
}

/* The other has written what comes before; or it has failed, as we then do. */
static void
halves_wait(struct dump *d)
{
	struct halves *h = d->halves;
	unsigned char error;
	ssize_t n;

	while ((n = recv(h->turn, &error, 1, 0)) < 0 && errno == EINTR)
		;
	if (n == 1 && error == 0)
		return;
	d->out.error = n == 1 ? error : EPIPE;
}

static void
halves_write(struct dump *d)
{
	struct halves *h = d->halves;
	unsigned char error;

	if (!h->first)
		halves_wait(d);
	h->first = false;
	d->out.fd = h->fd;
	out_flush(&d->out);
	d->out.fd = -1;
	error = (unsigned char)d->out.error;
	/* It may be gone, because it has nothing more to write. */
	send(h->turn, &error, 1, MSG_NOSIGNAL);
}

/* Is the event that comes now this process's? */
static bool
halves_mine(struct dump *d)
{
	struct halves *h = d->halves;

	if (h->left-- == 0) {
		if (h->mine)
			halves_write(d);
		h->mine = !h->mine;
		h->left = PIECE - 1;
	}
	return h->mine;
}

int
halves_put(struct dump *d, const struct tnf_event *ev)
{
	int r;

	if (d->halves == NULL)
		return d->output->event(d, ev);
	if (!halves_mine(d))
		return 0;
	d->quiet = false;
	r = d->output->event(d, ev);
	d->quiet = d->halves->child == 0;
	return r;
}

/* What the child's end means for us. */
static void
halves_reap(struct dump *d, pid_t child)
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
halves_end(struct dump *d)
{
	struct halves *h = d->halves;

	if (h == NULL)
		return;
	if (h->mine)
		halves_write(d);
	if (h->child == 0)
		_exit(d->status);
	if (!h->mine)
		halves_wait(d);
	close(h->turn);
	halves_reap(d, h->child);
	d->out.fd = h->fd;
	free(h);
	d->halves = NULL;
}
