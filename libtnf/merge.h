/*
 * merge.h - events of many blocks in the order of time.
 *
 * The first pass leaves one small entry for each block that holds events: when
 * its first one happened.  Blocks are handed out in order of time, so that the
 * entries of a file form few ascending runs; a heap of runs says which block
 * comes next, and a heap of open blocks which event.  A block is open from its
 * first event to its last, so there are about as many as there were threads.
 */
#ifndef LIBTNF_MERGE_H
#define LIBTNF_MERGE_H

#include <tnf/stream.h>

#include "common/map.h"
#include "libtnf/event.h"

struct cursor;
struct damage;

/* A block that holds events. */
struct entry {
	int64_t	 min;		/* time of its earliest event; or, as long as it has
				   not been scanned, no later */
	uint32_t block : 28;	/* its number */
	uint32_t sorted : 1;	/* its events are in order of time */
	uint32_t scanned : 1;	/* the first pass has been over it */
	uint32_t opened : 1;	/* it has been handed out, or is being */
	/* A search for a time must not drop the block: its writer still holds it, or it is
	   a thread's last block that begins before that time and may reach beyond. */
	uint32_t held : 1;
	uint32_t generation;
};

struct stretch;
struct survey;

/* The result of the first pass over a file. */
struct scan {
	struct entry *entries;
	uint32_t n;
	uint32_t room;
	struct damage *damage;	/* while the pass is under way */
	struct survey *survey;	/* of a file that is read as it is asked for; or NULL */
	struct tnf_summary sum;
};

/* Entries [at, end) of a file, ascending; or stretches of the file, which become entries
   when their turn comes (survey.h). */
struct run {
	int64_t min;		/* of the first, not shifted */
	struct tnf_file *file;
	struct entry *at, *end;
	struct stretch *later, *later_end;
};

/* The caller's function, which is shown each event instead of being handed it. */
struct visit {
	tnf_stream_each_fn *fn;
	void		*arg;
};

struct merge {
	struct run	*runs;		/* heap by the time of 'at' */
	size_t		 n_runs, room_runs;
	struct cursor  **open;		/* heap by time, file, offset */
	size_t		 n_open, room_open;
	struct cursor	*spare;
	bool		 started;
	bool		 taken;		/* the event on top has been handed out */
	const struct visit *visit;	/* of the events of blocks that are opened; or NULL */
};

int  tnf_merge_add(struct merge *, struct tnf_file *, struct entry *, uint32_t n);
/* Stretches [from, end), ascending. */
int  tnf_merge_add_later(struct merge *, struct tnf_file *, struct stretch *from,
    struct stretch *end);
/* Forgets the blocks of a file that have not been opened. */
void tnf_merge_forget(struct merge *, const struct tnf_file *);
/* Hands out the next event: its writer, and the walk that stands at its record; 1, 0 or
   an error as tnf_stream_next(). */
int  tnf_merge_next(struct merge *, int64_t *time, const struct sched **,
    const struct walk **);
/* Tells the time of the next event, which stays the next. */
int  tnf_merge_peek(struct merge *, int64_t *time);
/* Shows all events, in the order of the blocks.  0 or an error. */
int  tnf_merge_visit(struct merge *, const struct visit *);
/* No event is left. */
static inline bool
merge_is_over(const struct merge *m)
{
	return m->n_runs == 0 && m->n_open == 0;
}
void tnf_merge_done(struct merge *);

/*
 * Snapshots of one buffer and segments of its history overlap.  Their events are
 * told apart by time, thread and probe.  If several files hold equal events, the stream
 * hands out n of them, where n is the most that any one file holds.
 */
#define SIBLINGS_FEW	16u

/* An event as the files of one writer share it; no padding. */
struct sibling_key {
	uint64_t tid;
	uint64_t name;		/* of the probe, a hash */
	uint32_t lwpid;
	int32_t	 pid;
	int32_t	 cpu;
	uint32_t block;
	uint32_t group;
	uint32_t file;		/* its number, from 1; 0: of all of the group */
};

/* All zero: no files. */
struct siblings {
	unsigned	 n;		/* groups of files */
	/* How often the files held each event of this time. */
	int64_t		 time;
	struct { struct sibling_key key; uint64_t n; } few[SIBLINGS_FEW];
	unsigned	 n_few;
	struct map	 more;		/* those that are not among the few */
};

/* Whether 'f' comes from the same writer as one of 'files'; sets f->sibling of both. */
void tnf_siblings_join(struct siblings *, struct tnf_file *f, struct tnf_file **files,
    unsigned n);
/* 1: another file has handed the event out; 0: it is new; negative: no memory. */
int  tnf_siblings_seen(struct siblings *, const struct tnf_event *);
void tnf_siblings_done(struct siblings *);

#endif /* LIBTNF_MERGE_H */
