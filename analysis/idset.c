/*
 * idset.c - a set of pairs of numbers.
 */
#include "analysis/idset.h"
#include "common/xalloc.h"

void
idset_add(struct idset *s, uint64_t a, uint64_t b)
{
	if (s->map.n > 0 && s->last[0] == a && s->last[1] == b)
		return;
	s->last[0] = a;
	s->last[1] = b;
	tnf_xmap_put(&s->map, s->last, sizeof(s->last), NULL);
}

size_t
idset_count(const struct idset *s)
{
	return s->map.n;
}

void
idset_free(struct idset *s)
{
	tnf_map_free(&s->map);
}
