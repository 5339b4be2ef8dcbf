/*
 * idset.h - a set of pairs of numbers; to count threads, for instance.
 */
#ifndef ANALYSIS_IDSET_H
#define ANALYSIS_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idset {
	struct idset_item { uint64_t a, b; } *items;	/* 0, 0: free */
	size_t	n, size;
	bool	zero;			/* 0, 0 is in it */
};

void   idset_add(struct idset *, uint64_t a, uint64_t b);
size_t idset_count(const struct idset *);
void   idset_free(struct idset *);

#endif
