/*
 * event.h - from an event's record to its time and thread.
 */
#ifndef LIBTNF_EVENT_H
#define LIBTNF_EVENT_H

#include "libtnf/schedule.h"
#include "libtnf/walk.h"


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

/* Of the event at which 'w' stands; 'c->sched' is who wrote it. */
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
