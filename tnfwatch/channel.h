/*
 * channel.h - rare events of the kernel, remembered longer than the ring has them.
 *
 * A busy probe fills the whole ring, and so overwrites the events of a rare probe.  Events
 * of the probes of a channel are copied as they are read, each with its schedule record and
 * the strings behind it, and remembered for as long as the channel is to reach back.
 */
#ifndef TNFWATCH_CHANNEL_H
#define TNFWATCH_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>
#include <tnf/stream.h>

struct blocks;
struct channel;
struct enable;

struct channel_status {
	uint64_t events;	/* remembered */
	uint64_t bytes;
	int64_t	 since;		/* monotonic: it has all from here on */
};

struct channel *channel_new(void);
/* Remembers events of these probes from now on; the probes last until the next call; NULL:
   none.  Events remembered before stay. */
void channel_set(struct channel *, const struct enable *, int64_t keep);
void channel_free(struct channel *);

/* To be called for each event of the kernel's ring 'b' as it is read. */
void channel_event(struct channel *, const struct blocks *b, const struct tnf_event *);
/* To be called when events were lost before they could be read. */
void channel_missed(struct channel *, int64_t now);
/* Forgets events older than 'keep', unless they are to be held for an incident. */
void channel_tick(struct channel *, int64_t now, bool hold);
void channel_status(const struct channel *, struct channel_status *);

/* The place at which channel_blocks() goes on; zeros at first. */
struct channel_place {
	const struct channel_chunk *chunk;
	size_t	 at;
	bool	 begun;
};

/*
 * Writes events into blocks of b->block_size bytes at 'to', n at most, each with a
 * header like 'header' in front, and returns how many blocks there are.  Leaves out events of
 * blocks (with their generation) that the incident has anyway, as elsewhere() says.
 */
size_t channel_blocks(const struct channel *, const struct blocks *b, struct channel_place *,
    unsigned char *to, size_t n,
    bool (*elsewhere)(void *arg, uint32_t block, uint32_t generation), void *arg);

/*
 * The blocks of a buffer of this machine's own writers, as bytes.
 *
 * The bytes may change at any moment and are not to be trusted: we check offsets, and the
 * caller must check values.
 */
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

#endif /* TNFWATCH_CHANNEL_H */
