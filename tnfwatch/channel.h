/*
 * channel.h - rare events of the kernel, remembered longer than the ring has them.
 *
 * A busy probe fills the whole ring, and so overwrites the events of a rare probe.  Events
 * of the probes of a channel are copied as they are read, each with its schedule record and
 * the strings behind it, and remembered for as long as the channel is to reach back.
 */
#ifndef TNFWATCH_CHANNEL_H
#define TNFWATCH_CHANNEL_H

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

#endif /* TNFWATCH_CHANNEL_H */
