/*
 * history.h - what a ring is about to overwrite, kept for as long as was promised; and rare events,
 * for longer.
 *
 * If a ring reaches back less than the promise, blocks that their writers are done with
 * are copied, as they are, into segments: trace files of their own, with the definitions
 * and a context, compressed.  A block is in one segment at most, and a copy of the ring
 * leaves out the blocks that are in a segment.
 */
#ifndef TNFWATCH_HISTORY_H
#define TNFWATCH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tnf/stream.h>

struct history;
struct source;

struct history_place {
	const char *directory;	/* where segments are made; NULL: in memory */
	int64_t	 keep;		/* ns */
	uint64_t limit;		/* bytes, of all sources together */
};

/* The history of one source, in numbers. */
struct history_status {
	size_t	 segments;
	uint64_t bytes;		/* compressed */
	uint64_t raw;		/* before that */
	uint64_t missed;	/* blocks that were overwritten before they were copied */
	uint64_t refused;	/* blocks that went for want of room */
	int64_t	 since;		/* with the ring it is everything from here on; 0: none */
	int64_t	 broken;	/* until when something is missing in it; 0: nothing is */
	int	 error;		/* errno of the last segment that could not be written */
};

/* Begins a history of a source whose file is mapped.  NULL: blocks of such a file cannot be
   copied. */
struct history *history_new(const struct source *, const struct history_place *);
void history_free(struct history *);	/* with its segments, on the disk as well */
/* Sets keep and limit of a configuration that has been read again; the directory stays. */
void history_promise(struct history *, const struct history_place *);

/* Copies blocks that may be overwritten before the next call; history_due() tells when that
   call is due.  Drops segments older than the promise, unless they are to be held for an
   incident; and, held or not, drops its oldest segments as long as those of all
   sources together take more bytes than the limit (history_trim()). */
void history_tick(struct history *, struct source *, int64_t now, bool hold);
int64_t history_due(const struct history *, int64_t now);

/* The size (bytes) with which the ring would not be overwritten faster than it can be copied; 0: its
   own will do. */
uint64_t history_size_wanted(const struct history *);

/* True if this block, as it was in its use 'generation', is in a segment. */
bool history_has(const struct history *, uint32_t block, uint32_t generation);
void history_status(const struct history *, struct history_status *);
/* True if segments and ring together have all that was ever written to the ring. */
bool history_has_all(const struct history *);

/* Puts the segments into the directory 'dir', as ID.0001.tnf.zst and so on, and calls
   fn() for each that was written.  Returns 0 if all were.  If a segment fails, the
   others are still tried, and the first errno is returned.  An errno that concerns the
   whole disk (disk_refuses()) ends the writing and is returned instead.  The caller is a
   process that was forked while the worker stood still. */
int history_put(const struct history *, int dir, const char *id,
    void (*fn)(void *arg, const char *name), void *arg);

/* Puts the source's channel, as ID.channel.tnf.zst: those of its events that neither these
   segments have nor the copy of the ring, which is in 'dir' under the name 'ring'. */
int history_put_channel(const struct history *, const struct source *, int dir, const char *ring,
    void (*fn)(void *arg, const char *name), void *arg);

/*
 * Rare events of the kernel, remembered longer than the ring has them.
 *
 * A busy probe fills the whole ring, and so overwrites the events of a rare probe.  Events
 * of the probes of a channel are copied as they are read, each with its schedule record and
 * the strings behind it, and remembered for as long as the channel is to reach back.
 */

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

/* Does the channel remember events of this probe? */
bool channel_wants(struct channel *, const struct tnf_probe *);
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

#endif /* TNFWATCH_HISTORY_H */
