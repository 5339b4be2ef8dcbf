/*
 * arena.c - memory that is given back all at once, and has a limit.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnf/arena.h"

#define CHUNK	((size_t)16 << 10)
#define ALIGN	((size_t)16)

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t	    pad;
};

static int
arena_grow(struct arena *a, size_t n)
{
	struct arena_chunk *c;
	size_t size = n > CHUNK ? n : CHUNK;

	if ((c = calloc(1, sizeof *c + size)) == NULL)
		return -1;
	c->next = a->chunks;
	a->chunks = c;
	a->next = (unsigned char *)(c + 1);
	a->left = size;
	return 0;
}

void *
tnf_arena_zalloc(struct arena *a, size_t n)
{
	n = (n + ALIGN - 1) & ~(ALIGN - 1);
	if (n == 0)
		n = ALIGN;
	if (a->limit != 0 && n > a->limit - a->used)
		return NULL;
	if (n > a->left && arena_grow(a, n) != 0)
		return NULL;
	void *p = a->next;
	a->next += n;
	a->left -= n;
	a->used += n;
	return p;
}

char *
tnf_arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p;

	if ((p = tnf_arena_zalloc(a, n + 1)) != NULL)
		memcpy(p, s, n);
	return p;
}

void
tnf_arena_free(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	memset(a, 0, sizeof *a);
}
