/*
 * event.h - from an event's record to its time and thread.
 */
#ifndef LIBTNF_EVENT_H
#define LIBTNF_EVENT_H

#include "libtnf/schedule.h"

struct walk;

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

#endif /* LIBTNF_EVENT_H */
