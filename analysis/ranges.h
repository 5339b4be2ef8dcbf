/*
 * ranges.h - a set of numbers as people write it: "0-3,8".
 */
#ifndef ANALYSIS_RANGES_H
#define ANALYSIS_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct ranges {
	struct { uint64_t low, high; } *r;
	unsigned n;
};

/* Adds a list; false: it is not one. */
bool ranges_add(struct ranges *, const char *list);
bool ranges_has(const struct ranges *, uint64_t);

#endif
