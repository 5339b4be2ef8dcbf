/*
 * stream_impl.h - inside of a stream: its files, probes and merge, what is added to files
 * while they are being written, and what could not be read.
 */
#ifndef LIBTNF_STREAM_IMPL_H
#define LIBTNF_STREAM_IMPL_H

#include "common/map.h"
#include "libtnf/file.h"

/*
 * Events of many blocks in the order of time.
 *
 * The first pass leaves one small entry for each block that holds events: when
 * its first one happened.  Blocks are handed out in order of time, so that the
 * entries of a file form few ascending runs; a heap of runs says which block
 * comes next, and a heap of open blocks which event.  A block is open from its
 * first event to its last, so there are about as many as there were threads.
 */

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
	uint32_t keep : 1;
	uint32_t generation;
};

struct stretch;
struct survey;

/* The result of the first pass over a file. */
struct scan {
	struct entry *entries;
	uint32_t n;
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
/* Hands out the next event; as tnf_stream_next().  Leaves out those of probes for which there is no
   memory. */
int  tnf_merge_next(struct merge *, tnf_stream_t *, struct tnf_event *);
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

/* How far a block has been read. */
struct seen {
	uint32_t generation;
	uint32_t used;
	uint32_t first;		/* 'used' when the first pass was over it */
	uint32_t lost;		/* the generation counted as lost, once a lap; 0: none */
	uint32_t due;		/* the lap in which it is to be used; 0: it is finished */
};

/* An event that waits for its time, and its block, which holds the event as long as the block
   has this generation. */
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
	tnf_stream_want_fn *want;	/* or NULL: all events are wanted */
	void	*want_arg;
	unsigned asking;		/* from 1, changed when 'want' is set: what a type was asked
					   before counts no more */
};

/* Hands out the next event, of those that were there at first and those that have come since;
   as tnf_stream_next(). */
int  tnf_follow_next(tnf_stream_t *, struct tnf_event *);
/* Shows all events that tnf_follow_next() would hand out.  0 or an error. */
int  tnf_follow_each(tnf_stream_t *, const struct visit *);
void tnf_follow_done(struct follow *);
/* Notes that a block was taken over before all events found in it were handed out. */
void tnf_follow_lost(struct tnf_file *, uint32_t off, uint32_t generation);
/* Makes room to note how far each block was read; false: no memory. */
bool tnf_follow_file(struct tnf_file *);

struct tnf_stream {
	struct tnf_file	 **files;
	unsigned	   n_files;
	struct tnf_probe **probes;	/* by id */
	unsigned	   n_probes;
	struct merge	   merge;
	struct follow	   follow;
	struct siblings	   siblings;
	struct arena	   arena;	/* probes */
	tnf_stream_damage_fn *damage;
	void		  *damage_arg;
	bool		   accept_cut;
	uint64_t	   lazy;	/* files of so many bytes are read as they are
					   asked for; 0: none is */
};

/*
 * Makes the first pass over a file: finds its probes, its blocks' times, its damage.  If the
 * file is read as it is asked for (survey.h), the pass finds only what must be known at
 * once, and the rest of the pass is made as blocks are opened.
 */
int tnf_scan_file(tnf_stream_t *, struct tnf_file *, struct scan *);
/* Makes the whole pass for the block at 'off'. */
void tnf_scan_block_at(tnf_stream_t *, struct tnf_file *, uint32_t off, struct scan *);
/* Makes the rest of the pass for a block that is opened, and shows its events to the visit, if
   there is one; false: the block has no events, or has been taken over. */
bool tnf_scan_entry(tnf_stream_t *, struct tnf_file *, struct entry *, struct walk,
    const struct visit *);
/* Times of a block's first and last event; nothing is noted.  false: the block has no event. */
bool tnf_scan_times(tnf_stream_t *, struct tnf_file *, const struct entry *,
    int64_t *first, int64_t *last);
/* True if the block's header says that a thread holds the block. */
bool tnf_scan_is_held(const struct tnf_file *, uint32_t off);
/* Tells what the pass found damaged, once. */
void tnf_scan_tell_damage(tnf_stream_t *, struct tnf_file *);

/* The probe of an event's type; NULL: out of memory. */
struct tnf_probe *tnf_probe_of(tnf_stream_t *, struct tnf_file *, struct type *);

/* Fills in the event at which 'w' stands, at this time on the stream's time line; false: out
   of memory. */
static inline bool
stream_fill(tnf_stream_t *s, struct tnf_event *ev, int64_t time, const struct walk *w,
    const struct sched *sched)
{
	ev->time = time;
	ev->probe = w->type->probe;
	if (ev->probe == NULL && (ev->probe = tnf_probe_of(s, w->file, w->type)) == NULL)
		return false;
	ev->tid = sched->tid;
	ev->lwpid = sched->lwpid;
	ev->pid = sched->pid;
	ev->cpu = sched->cpu;
	ev->kernel = sched->kernel;
	ev->block = sched->block;
	ev->file = w->file;
	ev->pos = w->pos;
	return true;
}

/*
 * Numbers the probes from 'first' on by the order of their definitions in
 * the file: events may precede these, in data blocks before late definitions.
 */
void tnf_probes_sort(tnf_stream_t *, unsigned first);

void tnf_stream_damage(tnf_stream_t *, struct tnf_file *, uint32_t block,
    const char *text);

/*
 * Damage that the first pass over a file met, by its cause.  One bit in a definition can
 * make every block unreadable.  The caller is told once for each cause, and how much is
 * left out because of that cause.
 */
#define DAMAGE_CAUSES	64u	/* told apart; others are told as one */
#define DAMAGE_TEXT	256u

enum damage_extent {
	DAMAGE_TOLD,		/* 'why' says all */
	DAMAGE_VALUE,		/* a member of a record */
	DAMAGE_RECORD,		/* the record */
	DAMAGE_REST,		/* ... and what follows it in its block */
	DAMAGE_BLOCK,
	DAMAGE_EXTENTS
};

struct cause {
	const char *why;	/* static text; NULL: many */
	uint64_t at;		/* what is wrong stands there */
	uint32_t block;		/* the first that suffers from it */
	uint64_t n[DAMAGE_EXTENTS];
};

struct damage {
	unsigned	n;
	struct cause	causes[DAMAGE_CAUSES + 1];
};

/* Adds the damage file->why, which was met in 'block'. */
void tnf_damage_add(struct damage *, const struct tnf_file *, uint32_t block,
    enum damage_extent);
/* Adds all causes of another damage. */
void tnf_damage_merge(struct damage *, const struct damage *);
/* Sorts causes by the first block that suffers from each. */
void tnf_damage_sort(struct damage *);
/* One cause in words. */
void tnf_damage_text(const struct cause *, char buf[DAMAGE_TEXT]);

#endif /* LIBTNF_STREAM_IMPL_H */
