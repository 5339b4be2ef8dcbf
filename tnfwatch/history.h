/*
 * history.h - what a ring is about to overwrite, kept for as long as was promised.
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

/* Is this block, as it was in its use 'generation', in a segment? */
bool history_has(const struct history *, uint32_t block, uint32_t generation);
void history_status(const struct history *, struct history_status *);
/* Do segments and ring together have all that was ever written to the ring? */
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

#endif /* TNFWATCH_HISTORY_H */
