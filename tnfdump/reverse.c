/*
 * reverse.c - --reverse: the latest event first.
 *
 * Events are read in order of time, so the kept ones are stored first.  Their values stay
 * in the files, which are not written any more or were copied.
 */
#include "common/xalloc.h"
#include "tnfdump/reverse.h"

struct reverse {
	struct tnf_event *v;
	size_t	 n, room;
};

int
reverse_set(struct dump *d, const char *arg)
{
	if (d->reverse == NULL)
		d->reverse = tnf_xcalloc(1, sizeof(*d->reverse));
	return 0;
}

void
reverse_add(struct dump *d, const struct tnf_event *ev)
{
	struct reverse *r = d->reverse;

	if (r->n == r->room) {
		r->room = r->room == 0 ? 1024 : r->room * 2;
		r->v = tnf_xreallocarray(r->v, r->room, sizeof(r->v[0]));
	}
	r->v[r->n++] = *ev;
}

bool
reverse_take(struct dump *d, struct tnf_event *ret)
{
	struct reverse *r = d->reverse;

	if (r->n == 0)
		return false;
	*ret = r->v[--r->n];
	/* A delta is the same as in forward order. */
	d->previous = r->n == 0 ? ret->time : r->v[r->n - 1].time;
	return true;
}

void
reverse_free(struct dump *d)
{
	if (d->reverse != NULL)
		free(d->reverse->v);
	free(d->reverse);
	d->reverse = NULL;
}
