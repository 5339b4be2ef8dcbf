/*
 * nest.h - limits for records inside of records.
 *
 * A file can have records that contain themselves, or each other in so many ways that the
 * printed text would fit no disk.  The position of each record on the way down is compared
 * with that at the last power of two of the depth, which is enough to find a cycle (Brent's
 * method).
 *
 * All values of a run share a budget: files hold no more items than bytes, unless they
 * refer to the same records again and again.
 */
#ifndef ANALYSIS_NEST_H
#define ANALYSIS_NEST_H

#include <tnf/stream.h>

#define NEST_DEPTH_MAX	4096
#define NEST_ITEMS_MAX	65536	/* in a value, nested ones included */

struct nest {
	uint64_t *budget;		/* items left to the run; NULL: no limit */
	unsigned depth, items;
	bool	 partial;		/* the value was not visited completely */
	uint32_t mark[13];		/* positions at depth 1, 2, 4, ... 4096 */
};

static inline unsigned
nest_log2(unsigned n)
{
	return 31 - (unsigned)__builtin_clz(n);
}

/* Enters a record or an array; false: treat it as empty. */
static inline bool
nest_enter(struct nest *n, const struct tnf_value *v)
{
	if (n->depth == NEST_DEPTH_MAX || (n->depth > 0 &&
	    n->mark[nest_log2(n->depth)] == v->u.r.pos)) {
		n->partial = true;
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

/* Gets member or element i. */
static inline bool
nest_item(struct nest *n, const struct tnf_file *f, const struct tnf_value *r,
    unsigned i, struct tnf_value *v)
{
	if (!tnf_value_item(f, r, i, v))
		return false;
	if (n->items == NEST_ITEMS_MAX ||
	    (n->budget != NULL && *n->budget == 0)) {
		n->partial = true;
		return false;
	}
	n->items++;
	if (n->budget != NULL)
		--*n->budget;
	return true;
}

#endif
