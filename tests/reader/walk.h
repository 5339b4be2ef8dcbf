/*
 * walk.h - reads all of a file, whatever it holds.
 */
#ifndef TESTS_WALK_H
#define TESTS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk_result {
	int	 error;		/* of opening */
	uint64_t events, records, damaged;
	uint64_t sum;		/* over all values, so that they are read */
	int64_t	 last;		/* time of the last event */
	unsigned disorder;	/* events before their predecessor */
	char	 reason[128];	/* of the first damage */
	uint64_t offset;
};

/* Aborts unless both ways tell the same. */
struct walk_result walk_stream(const void *base, size_t size);
/* At once, or block by block as it is asked for. */
void walk_one_way(const void *base, size_t size, bool lazily);
struct walk_result walk_classic(const void *base, size_t size);

/* The end of what stands there: flips of the zeros behind are all alike. */
static inline size_t
busy_end(const unsigned char *p, size_t from, size_t to)
{
	while (to > from && p[to - 1] == 0)
		to--;
	return to;
}

#endif
