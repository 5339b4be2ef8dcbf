/*
 * segment.h - some blocks of a ring as a trace file of its own, compressed.
 *
 * The file has the size of the ring, and each block is at its place in the ring, so that every
 * reference leads where it did; all other bytes are zero, and cost next to nothing.
 */
#ifndef TNFWATCH_SEGMENT_H
#define TNFWATCH_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment_block {
	uint32_t block;
	uint32_t generation;
};

enum segment_state { SEGMENT_WAITS, SEGMENT_DONE, SEGMENT_FAILED };

struct segment {
	struct segment *next;		/* newer; the history's */
	struct segment *queued;		/* behind it in the worker's queue */
	bool	 counted;		/* by the history, once it is made */
	int64_t	 first_time;		/* monotonic: its oldest event in order */
	int64_t	 cut;			/* all of its events are older */
	struct segment_block *blocks;	/* ascending by block; those of events */
	uint32_t n_blocks;

	/* The blocks to be compressed; freed when they have been. */
	uint32_t *at;			/* number of each block in the file, ascending */
	uint32_t *from;			/* where it is in 'raw', in blocks */
	uint32_t n_raw, room;		/* blocks there; and that it may have */
	unsigned char *raw;
	uint32_t block_size, n_file;	/* of the ring: blocks in all */
	char	*context;
	size_t	 context_size;

	/* The result.  'state' says when the result is there. */
	int	 state;			/* enum segment_state */
	int	 error;
	char	*path;			/* NULL: in memory */
	unsigned char *bytes;
	size_t	 size;
};

/* The worker: a thread that compresses, in order.  0 or an errno. */
int  segment_worker_start(void);
void segment_worker_stop(void);		/* when its queue is empty */
/* Bytes that wait for the worker. */
uint64_t segment_worker_load(void);
/* While the worker is paused, a forked process finds all segments in a consistent state. */
void segment_worker_pause(void);
void segment_worker_go_on(void);

/* Gives the segment to the worker. */
void segment_queue(struct segment *);
enum segment_state segment_state(const struct segment *);
void segment_free(struct segment *);	/* its file goes, too; not while it waits */

/* Makes a file NAME in the directory: a second name of a segment that is on the disk, or else
   a file that is written now.  In a forked process the segment may still wait for the worker.
   The maker of the directory syncs the file.  0 or an errno. */
int segment_put(const struct segment *, int dir, const char *name);

/* Zeros those blocks of the trace file 'fd' that are in the segment at 'path'; 0, an
   errno, or EBADMSG: 'path' is no segment of that file. */
int segment_blank(const char *path, int fd);

#endif /* TNFWATCH_SEGMENT_H */
