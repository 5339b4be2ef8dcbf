/*
 * arena.h - memory that is given back all at once, and has a limit.
 *
 * A file's types may refer to each other in ways that would make them larger
 * in memory than any file; the limit, taken from the file's size, ends that.
 */
#ifndef LIBTNF_ARENA_H
#define LIBTNF_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	unsigned char	*next;
	size_t		 left;
	uint64_t	 used;
	uint64_t	 limit;		/* 0: none */
};

void	*tnf_arena_zalloc(struct arena *, size_t);	/* NULL: no memory, or limit */
char	*tnf_arena_strndup(struct arena *, const char *, size_t);
void	 tnf_arena_free(struct arena *);

#endif /* LIBTNF_ARENA_H */
