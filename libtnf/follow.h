/*
 * follow.h - what is added to files while they are being written.
 */
#ifndef LIBTNF_FOLLOW_H
#define LIBTNF_FOLLOW_H

#include <tnf/stream.h>

#include "libtnf/schedule.h"
#include "libtnf/walk.h"

/* How far a block has been read. */
struct seen {
	uint32_t generation;
	uint32_t used;
	uint32_t first;		/* 'used' when the first pass was over it */
	uint32_t lost;		/* the generation counted as lost, once a lap; 0: none */
	uint32_t due;		/* the lap in which it is to be used; 0: it is finished */
};

/* An event that waits for its time. */
struct waiting {
	int64_t	     time;
	struct walk  walk;
	struct sched sched;
};

struct follow {
	bool	 on;
	struct waiting *list;		/* [at, n) ascending by time */
	size_t	 n, at, room;
	size_t	 most;			/* in the last refreshes: what 'room' is for */
	unsigned refreshes;
	int64_t	 until;			/* later ones are not handed out yet */
	int64_t	 handed_out;		/* time of the latest */
};

/* As tnf_merge_next(): of what was there at first and of what has come since. */
int  tnf_follow_next(tnf_stream_t *, int64_t *time, const struct sched **,
    const struct walk **);
void tnf_follow_done(struct follow *);
/* A block was taken over before all that had been found in it was handed out. */
void tnf_follow_lost(struct tnf_file *, uint32_t off, uint32_t generation);
/* Room to remember how far each block was read; false: no memory. */
bool tnf_follow_file(struct tnf_file *);

#endif /* LIBTNF_FOLLOW_H */
