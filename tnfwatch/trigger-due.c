/*
 * trigger-due.c - what has begun and will be too long one day.
 *
 * Beginnings come in order of time, or nearly so; each list belongs to one trigger
 * in one source, and so to one limit.  What ends before is taken out.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "tnfwatch/trigger-impl.h"

/* Events that come late are put so far back at most. */
#define BACK_MAX 64

static void
due_unlink(struct due_list *l, struct due *d)
{
	*(d->before != NULL ? &d->before->next : &l->head) = d->next;
	*(d->next != NULL ? &d->next->before : &l->tail) = d->before;
	l->n--;
}

static void
due_insert(struct due_list *l, struct due *d)
{
	struct due *after = l->tail;

	for (int i = 0; i < BACK_MAX && after != NULL && after->since > d->since; i++)
		after = after->before;
	d->before = after;
	d->next = after != NULL ? after->next : l->head;
	*(d->before != NULL ? &d->before->next : &l->head) = d;
	*(d->next != NULL ? &d->next->before : &l->tail) = d;
	l->n++;
}

struct due *
due_add(struct due_list *l, int64_t since, const struct tnf_event *ev, void **chain)
{
	struct due *d = l->spare;

	if (d != NULL)
		l->spare = d->next;
	else
		d = tnf_xcalloc(1, sizeof(*d));
	d->list = l;
	d->since = since;
	d->ev = *ev;
	d->sibling = *chain;
	*chain = d;
	due_insert(l, d);
	return d;
}

static void
due_to_spare(struct due_list *l, struct due *d)
{
	d->list = NULL;
	d->next = l->spare;
	l->spare = d;
}

/*
 * It has fired.  It stays in its chain, which somebody else holds, until that is
 * dropped: only then it may be used again.
 */
void
due_take(struct due_list *l, struct due *d)
{
	due_unlink(l, d);
	d->next = d;
}

void
due_drop(void **chain)
{
	struct due *d, *sibling;

	for (d = *chain; d != NULL; d = sibling) {
		sibling = d->sibling;
		if (d->next != d)
			due_unlink(d->list, d);
		due_to_spare(d->list, d);
	}
	*chain = NULL;
}

void
due_free(struct due_list *l)
{
	struct due *d;

	while ((d = l->spare) != NULL) {
		l->spare = d->next;
		free(d);
	}
}
