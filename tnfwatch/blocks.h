/*
 * blocks.h - the blocks of a buffer of this machine's own writers, as bytes.
 *
 * The bytes may change at any moment and are not to be trusted: we check offsets, and the
 * caller must check values.
 */
#ifndef TNFWATCH_BLOCKS_H
#define TNFWATCH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

struct blocks {
	const unsigned char *base;
	size_t	 size;		/* that the header declares */
	uint32_t block_size;
	uint32_t first;		/* number of the first block behind the directory */
	uint32_t n;		/* of all */
	uint32_t data;		/* number of the first data block */
	bool	 kernel;
	bool	 live;		/* a writer has it, as far as its header knows */
	int64_t	 start;		/* when the writer set it up, monotonic */
};

struct blocks_mark {
	uint32_t generation;
	uint32_t used;		/* bytes, its header included */
	bool	 held;		/* a writer has it */
	int64_t	 time;		/* of its first event; INT64_MAX: it has none */
	int32_t	 cpu;		/* kernel: that wrote it, ... */
	uint32_t number;	/* ... and which of the CPU's blocks it is, from 1 */
};

/* false: the buffer was not written by a writer of ours on this machine, or is damaged. */
bool blocks_open(struct blocks *, const void *base, size_t size);
/* How many data blocks have been taken so far. */
uint64_t blocks_cursor(const struct blocks *);
/* Reads the header of a block; false: the block holds no events. */
bool blocks_look(const struct blocks *, uint32_t block, struct blocks_mark *);
/* How long ago the block was taken, in blocks. */
uint64_t blocks_age(const struct blocks *, uint32_t block, const struct blocks_mark *,
    uint64_t cursor);
/* Does the block hold definitions? */
bool blocks_is_tag(const struct blocks *, uint32_t block);
uint64_t blocks_lost(const struct blocks *);	/* events, by the writer's count */

static inline const unsigned char *
blocks_at(const struct blocks *b, uint32_t block)
{
	return b->base + (size_t)block * b->block_size;
}

#endif /* TNFWATCH_BLOCKS_H */
