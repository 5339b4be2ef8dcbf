/*
 * losses.c - counts missing events, by reason.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/losses.h"
#include "common/xalloc.h"
#include "format/core.h"

static const char *const names[] = {
	[TNF_LOST_NO_BLOCK] = "no free block",
	[TNF_LOST_NESTED] = "inside another event",
	[TNF_LOST_TOO_LARGE] = "larger than a block",
	[TNF_LOST_NO_TAG_SPACE] = "no room for a definition",
	[TNF_LOST_BUSY] = "definition being written",
	[TNF_LOST_HOOK] = "skipped by the kernel",
	[TNF_LOST_PREEMPTED] = "writer preempted",
	[TNF_LOST_FULL] = "came when the file was full",
};

const char *
loss_name(unsigned reason)
{
	return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}

/* The copy of the extension of x's buffer, with the largest counters so far. */
static struct tnf_ext *
losses_buffer(struct losses *l, const struct tnf_ext *x)
{
	for (unsigned i = 0; i < l->n; i++)
		if (tnf_ext_same(&l->seen[i], x))
			return &l->seen[i];
	l->seen = tnf_xreallocarray(l->seen, l->n + 1, sizeof(*l->seen));
	l->seen[l->n] = *x;
	memset(l->seen[l->n].lost, 0, sizeof(x->lost));
	l->seen[l->n].shortened = 0;
	return &l->seen[l->n++];
}

static uint64_t
losses_more(uint64_t *known, uint64_t now)
{
	uint64_t more = now > *known ? now - *known : 0;

	*known += more;
	return more;
}

struct loss
losses_count(struct losses *l, const struct tnf_ext *x)
{
	struct loss r = { .events = 0 };

	if (x == NULL)
		return r;
	struct tnf_ext *known = losses_buffer(l, x);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		r.lost[i] = losses_more(&known->lost[i], x->lost[i]);
		r.events += r.lost[i];
	}
	r.shortened = losses_more(&known->shortened, x->shortened);
	return r;
}

void
losses_free(struct losses *l)
{
	free(l->seen);
	*l = (struct losses){ NULL, 0 };
}
