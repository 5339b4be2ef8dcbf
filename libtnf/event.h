/*
 * event.h - the records of a block one after another, and an event's time and thread.
 */
#ifndef LIBTNF_EVENT_H
#define LIBTNF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "libtnf/file.h"
#include "libtnf/type.h"

struct walk {
	struct tnf_file *file;
	uint32_t block;		/* offset */
	uint32_t generation;
	uint32_t end;		/* of what is committed */
	uint32_t next;		/* where the next record is looked for */

	/* The current record. */
	uint32_t pos;
	uint32_t word;		/* its first */
	struct type *type;
};

/* UNREADABLE: a record whose type is damaged, but not its size: see file->why;
   the walk goes on behind it. */
enum walk_status { WALK_BAD = -1, WALK_END = 0, WALK_RECORD = 1,
	WALK_UNREADABLE = 2 };

/* Starts a walk before the first record behind the header of the block at 'off'.  END: the
   block was never used; BAD: see file->why. */
enum walk_status tnf_walk_start(struct walk *, struct tnf_file *, uint32_t off);
enum walk_status tnf_walk_next(struct walk *);
/* Can everything be read to which the record's members refer?  false: see file->why. */
bool tnf_members_sound(const struct walk *);

/* Bytes of the record at 'pos' of type 't'; 0: its size makes no sense. */
static inline uint32_t
walk_size(const struct tnf_file *f, const struct type *t, uint32_t pos)
{
	uint32_t size = t->step;

	if (type_has(t, PROP(ARRAY))) {
		size = bytes_u32(&f->bytes, (uint64_t)pos + 4);
		if (size < t->header_size || size > f->block_size)
			return 0;
		size = (size + 3) & ~3u;
	}
	return size;
}

/* The current record is an event: its first word is a pair. */
static inline bool
walk_is_event(const struct walk *w)
{
	return (w->word & TNF_REF32_T_MASK) == TNF_REF32_T_PAIR &&
	    w->type->pub.kind == TNF_K_STRUCT;
}

/* A schedule record: who was running, and from when deltas count. */
struct sched {
	uint32_t pos;
	uint32_t generation;	/* of its block */
	int64_t	 base;
	uint64_t tid;
	uint32_t lwpid;
	int32_t	 pid;
	int32_t	 cpu;		/* -1: not told */
	bool	 kernel;
	uint32_t block;		/* kernel: its number among those of the CPU, or 0 */
};

struct sched_cache;

struct sched_cache *tnf_sched_cache_new(void);
void		    tnf_sched_cache_free(struct sched_cache *);

/* The schedule record at 'pos', valid until the next call; NULL: there is none, see
   file->why. */
const struct sched *tnf_sched_at(struct tnf_file *, uint32_t pos);

/* Follows events through a block; start with zeros at each block. */
struct event_clock {
	uint32_t     sched_pos;		/* 0: none yet */
	struct sched sched;
};

enum event_status {
	EVENT_OK,
	EVENT_LOST,	/* its schedule has been overwritten: it has no time */
	EVENT_BAD	/* see file->why */
};

/* The time of the event at which 'w' stands; 'c->sched' then says who wrote it. */
enum event_status tnf_event_time(struct event_clock *c, const struct walk *w,
    int64_t *time);

/* The same for an event that has the schedule record of the one before it, as nearly all
   have; false: ask tnf_event_time(). */
static inline bool
event_time_again(const struct event_clock *c, const struct walk *w, int64_t *time)
{
	int16_t d = (int16_t)(w->word & 0xfffc);

	if (d == 0 || c->sched_pos != (uint32_t)((int64_t)w->pos + d) || w->type->delta == 0)
		return false;
	*time = (int64_t)((uint64_t)c->sched.base +
	    bytes_u32(&w->file->bytes, (uint64_t)w->pos + w->type->delta));
	return true;
}

#endif /* LIBTNF_EVENT_H */
