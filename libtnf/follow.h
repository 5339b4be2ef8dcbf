/*
 * follow.h - what is added to files while they are being written.
 */
#ifndef LIBTNF_FOLLOW_H
#define LIBTNF_FOLLOW_H

#include <tnf/stream.h>

#include "libtnf/event.h"

/* How far a block has been read. */
struct seen {
	uint32_t generation;
	uint32_t used;
	uint32_t first;		/* 'used' when the first pass was over it */
	uint32_t lost;		/* the generation counted as lost, once a lap; 0: none */
	uint32_t due;		/* the lap in which it is to be used; 0: it is finished */
};

/* An event that waits for its time, and the block in which it is as long as that has
   this generation. */
struct waiting {
	struct tnf_event ev;
	uint32_t block;			/* offset */
	uint32_t generation;
};

struct follow {
	bool	 on;
	struct waiting *list;		/* [at, n) ascending by time */
	size_t	 n, at, room;
	bool	 unsorted;		/* the last refresh has not found them in order */
	size_t	 most;			/* in the last refreshes: what 'room' is for */
	unsigned refreshes;
	int64_t	 until;			/* later ones are not handed out yet */
	int64_t	 handed_out;		/* time of the latest */
};

/* The next event, of what was there at first and of what has come since; as
   tnf_stream_next(). */
int  tnf_follow_next(tnf_stream_t *, struct tnf_event *);
void tnf_follow_done(struct follow *);
/* A block was taken over before all that had been found in it was handed out. */
void tnf_follow_lost(struct tnf_file *, uint32_t off, uint32_t generation);
/* Room to remember how far each block was read; false: no memory. */
bool tnf_follow_file(struct tnf_file *);

#endif /* LIBTNF_FOLLOW_H */
