/*
 * nest.h - records in records: how far to go.
 *
 * A file can make records lead into themselves, or into each other by so many
 * ways that no disk would hold them in print.  The way down is compared with
 * the record that it passed at the last power of two, which is enough to see a
 * circle (Brent's method).
 *
 * All values of a run together have a budget: no writer makes more items than
 * its files have bytes, unless it refers to the same records again and again.
 */
#ifndef ANALYSIS_NEST_H
#define ANALYSIS_NEST_H

#include <tnf/stream.h>

#define NEST_DEPTH_MAX	4096
#define NEST_ITEMS_MAX	65536	/* of a value, with all that is in it */

struct nest {
	uint64_t *budget;		/* items left to the run; NULL: any number */
	unsigned depth, items;
	bool	 cut;			/* not all of the value was gone through */
	uint32_t mark[13];		/* positions at depth 1, 2, 4, ... 4096 */
};

static inline unsigned
nest_log2(unsigned n)
{
	return 31 - (unsigned)__builtin_clz(n);
}

/* Into a record or an array.  false: it is to be taken as empty. */
static inline bool
nest_enter(struct nest *n, const struct tnf_value *v)
{
	if (n->depth == NEST_DEPTH_MAX || (n->depth > 0 &&
	    n->mark[nest_log2(n->depth)] == v->u.r.pos)) {
		n->cut = true;
		return false;
	}
	n->depth++;
	if ((n->depth & (n->depth - 1)) == 0)
		n->mark[nest_log2(n->depth)] = v->u.r.pos;
	return true;
}

static inline void
nest_leave(struct nest *n)
{
	n->depth--;
}

/* Member or element i. */
static inline bool
nest_item(struct nest *n, const struct tnf_file *f, const struct tnf_value *r,
    unsigned i, struct tnf_value *v)
{
	if (!tnf_value_item(f, r, i, v))
		return false;
	if (n->items == NEST_ITEMS_MAX ||
	    (n->budget != NULL && *n->budget == 0)) {
		n->cut = true;
		return false;
	}
	n->items++;
	if (n->budget != NULL)
		--*n->budget;
	return true;
}

#endif
