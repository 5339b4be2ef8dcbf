/*
 * halves.c - one output, made by two processes.
 */
#include "common/xalloc.h"
#include "tnfdump/halves.h"
#include "tnfdump/input.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/turns.h"

#define EVENTS_BEFORE	65536u	/* few events are done sooner by one */
#define PIECE		16384u	/* events that one process formats at a time */

struct halves {
	struct turns *turns;
	uint32_t left;		/* events of this piece */
	bool	 mine;		/* this piece is */
};

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
	return d->output->halves && d->follow == NULL && d->reverse == NULL && d->hosts == NULL &&
	    d->template == NULL && !d->pretty && !columns_asked(d) && !d->escape && turns_worth_it() &&
	    !somebody_writes(d);
}

void
halves_begin(struct dump *d)
{
	struct turns *turns;

	if (d->events != EVENTS_BEFORE || !halves_possible(d) || (turns = turns_begin(d)) == NULL)
		return;
	bool child = turns_in_child(turns);
	d->halves = tnf_xcalloc(1, sizeof(*d->halves));
	*d->halves = (struct halves){ .turns = turns, .left = PIECE, .mine = !child };
	d->quiet = child;
}

static void
halves_write(struct dump *d)
{
	turns_take(d, d->halves->turns, NULL);
	turns_give(d, d->halves->turns, 0);
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
	if (d->halves == NULL)
		return d->output->event(d, ev);
	if (!halves_mine(d))
		return 0;
	d->quiet = false;
	int r = d->output->event(d, ev);
	d->quiet = turns_in_child(d->halves->turns);
	turns_bound(d, d->halves->turns);
	return r;
}

void
halves_end(struct dump *d)
{
	struct halves *h = d->halves;

	if (h == NULL)
		return;
	if (h->mine)
		halves_write(d);
	turns_end(d, h->turns, h->mine);
	free(h);
	d->halves = NULL;
}
