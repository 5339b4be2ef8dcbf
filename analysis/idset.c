/*
 * idset.c - a set of pairs of numbers.
 */
#include <stdlib.h>

#include "analysis/idset.h"
#include "common/xalloc.h"

static struct idset_item *
idset_place(const struct idset *s, uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu);
	struct idset_item *i;
	size_t at;

	h ^= h >> 29;
	for (at = h & (s->size - 1);; at = (at + 1) & (s->size - 1)) {
		i = &s->items[at];
		if ((i->a == a && i->b == b) || (i->a == 0 && i->b == 0))
			return i;
	}
}

static void
idset_grow(struct idset *s)
{
	struct idset n = { .size = s->size == 0 ? 64 : 2 * s->size,
	    .n = s->n, .zero = s->zero };
	size_t i;

	n.items = xcalloc(n.size, sizeof *n.items);
	for (i = 0; i < s->size; i++)
		if (s->items[i].a != 0 || s->items[i].b != 0)
			*idset_place(&n, s->items[i].a, s->items[i].b) = s->items[i];
	free(s->items);
	*s = n;
}

void
idset_add(struct idset *s, uint64_t a, uint64_t b)
{
	struct idset_item *i;

	if (a == 0 && b == 0) {
		s->zero = true;
		return;
	}
	if (2 * s->n >= s->size)
		idset_grow(s);
	i = idset_place(s, a, b);
	if (i->a == 0 && i->b == 0) {
		*i = (struct idset_item){ a, b };
		s->n++;
	}
}

size_t
idset_count(const struct idset *s)
{
	return s->n + s->zero;
}

void
idset_free(struct idset *s)
{
	free(s->items);
}
