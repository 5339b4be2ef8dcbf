/*
 * perprobe.h - an array that grows: something of one's own for each probe,
 * such as where in its events a member is.
 */
#ifndef ANALYSIS_PERPROBE_H
#define ANALYSIS_PERPROBE_H

#include <string.h>

#include <tnf/stream.h>

#include "common/xalloc.h"

struct perprobe {
	char	*base;
	size_t	 n;		/* by probe id */
};

/* Element of 'size' bytes, the same at each call; zero at first. */
static inline void *
perprobe(struct perprobe *t, const struct tnf_probe *p, size_t size)
{
	size_t n;

	if (__builtin_expect(p->id >= t->n, 0)) {
		n = (size_t)p->id + 64;
		t->base = tnf_xreallocarray(t->base, n, size);
		memset(t->base + t->n * size, 0, (n - t->n) * size);
		t->n = n;
	}
	return t->base + p->id * size;
}

/* Index of a member, or -1. */
static inline int
perprobe_member(const struct tnf_probe *p, const char *name)
{
	for (unsigned i = 0; i < p->n_members; i++)
		if (strcmp(p->members[i].name, name) == 0)
			return (int)i;
	return -1;
}

#endif
