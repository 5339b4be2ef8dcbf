/*
 * idset.h - a set of pairs of numbers; to count threads, for instance.
 */
#ifndef ANALYSIS_IDSET_H
#define ANALYSIS_IDSET_H

#include "common/map.h"

/* All zero: empty. */
struct idset {
	struct map map;		/* no values */
	uint64_t   last[2];	/* the same pair often comes again and again */
};

void   idset_add(struct idset *, uint64_t a, uint64_t b);
size_t idset_count(const struct idset *);
void   idset_free(struct idset *);

#endif
