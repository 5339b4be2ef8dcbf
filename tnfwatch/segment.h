/*
 * segment.h - the blocks of a ring, and some of them as a trace file of its own, compressed.
 *
 * This file, a segment, has the size of the ring, and each block is at the place that it has in
 * the ring, so that every reference leads where it did; all other bytes are zero, and cost next
 * to nothing.
 */
#ifndef TNFWATCH_SEGMENT_H
#define TNFWATCH_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

/*
 * blocks.c: the blocks of a buffer that a writer of ours fills on this machine, as bytes.
 *
 * The bytes may change at any moment and are not to be trusted: we check offsets, and the
 * caller must check values.
 */
struct blocks {
	const unsigned char *base;
	size_t	 size;		/* by the header */
	uint32_t block_size;
	uint32_t first;		/* number of the first block behind the directory */
	uint32_t n;		/* of all */
	uint32_t data;		/* number of the first data block */
	bool	 kernel;
	bool	 live;		/* by its header, a writer has the buffer open */
	int64_t	 start;		/* when the writer set it up, monotonic */
};

struct blocks_mark {
	uint32_t generation;
	uint32_t used;		/* bytes, its header included */
	bool	 held;		/* a writer still fills the block */
	int64_t	 time;		/* of its first event; INT64_MAX: it has none */
	int32_t	 cpu;		/* kernel: the CPU that wrote the block */
	uint32_t number;	/* kernel: how many-th block of this CPU, from 1 */
};

/* false: the buffer was not written by a writer of ours on this machine, or is damaged. */
bool blocks_open(struct blocks *, const void *base, size_t size);
/* Returns how many data blocks have been taken so far. */
uint64_t blocks_cursor(const struct blocks *);
/* Reads the header of a block; false: the block holds no events. */
bool blocks_look(const struct blocks *, uint32_t block, struct blocks_mark *);
/* Returns how many data blocks have been taken since this one. */
uint64_t blocks_age(const struct blocks *, uint32_t block, const struct blocks_mark *,
    uint64_t cursor);
/* True if the block holds definitions. */
bool blocks_is_tag(const struct blocks *, uint32_t block);
uint64_t blocks_lost(const struct blocks *);	/* events, by the writer's count */

static inline const unsigned char *
blocks_at(const struct blocks *b, uint32_t block)
{
	return b->base + (size_t)block * b->block_size;
}

/* Blocks of a ring, copied at a cut, and the file that is made of them (segment.c). */
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
