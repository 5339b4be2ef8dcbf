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
/* From now on remembers the events that 'enable' selects, for 'keep' ns; NULL: no further event.
   The caller keeps *enable until the next call.  Events remembered before stay. */
void channel_set(struct channel *, const struct enable *, int64_t keep);
void channel_free(struct channel *);

/* To be called for each event of the kernel's ring 'b' as it is read. */
void channel_event(struct channel *, const struct blocks *b, const struct tnf_event *);
/* To be called when events were lost before they could be read. */
void channel_missed(struct channel *, int64_t now);
/* Forgets chunks of events of which the latest is older than 'keep'; with 'hold' (an incident may
   need them) forgets none.  If the events take 32 MiB, the next one drops the oldest chunk, held
   or not: channel_status() then tells a later 'since'. */
void channel_tick(struct channel *, int64_t now, bool hold);
void channel_status(const struct channel *, struct channel_status *);

/* The place at which channel_blocks() goes on; zeros at first. */
struct channel_place {
	const struct channel_chunk *chunk;
	size_t	 at;
	bool	 begun;
};

/*
 * Writes the next events into blocks of b->block_size bytes at 'to', n at most, each with a header
 * in front.  Returns the number of blocks; fewer than n: there are no further events.  Leaves
 * out an event if elsewhere() says that the incident has the event's block anyway, in the same
 * use (generation).
 */
size_t channel_blocks(const struct channel *, const struct blocks *b, struct channel_place *,
    unsigned char *to, size_t n,
    bool (*elsewhere)(void *arg, uint32_t block, uint32_t generation), void *arg);

#endif /* TNFWATCH_CHANNEL_H */
