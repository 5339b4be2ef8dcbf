/*
 * event.c - from an event's record to its time and thread.
 */
#include "libtnf/event.h"
#include "libtnf/file.h"
#include "libtnf/ref.h"
#include "libtnf/type.h"
#include "libtnf/walk.h"

/* The schedule record that the event at 'w' names. */
static enum event_status
find_sched(struct event_clock *c, const struct walk *w, uint32_t *pos)
{
	int16_t d = (int16_t)(w->word & 0xfffc);

	/* Mostly that of the event before, a few bytes off in this block. */
	if (d != 0 && c->sched_pos == (uint32_t)((int64_t)w->pos + d)) {
		*pos = c->sched_pos;
		return EVENT_OK;
	}
	switch (tnf_ref_pair_arg(w->file, w->pos, w->word, pos)) {
	case REF_OK:
		return EVENT_OK;
	case REF_NULL:
		return EVENT_LOST;
	case REF_BAD:
		break;
	}
	tnf_file_fail(w->file, w->pos, "an event's schedule reference is bad");
	return EVENT_BAD;
}

enum event_status
tnf_event_time(struct event_clock *c, const struct walk *w, int64_t *time)
{
	struct tnf_file *f = w->file;
	const struct sched *s;
	enum event_status r;
	uint32_t pos;

	if ((r = find_sched(c, w, &pos)) != EVENT_OK)
		return r;
	if (c->sched_pos != pos) {
		if ((s = tnf_sched_at(f, pos)) == NULL)
			return EVENT_BAD;
		c->sched = *s;
		c->sched_pos = pos;
	}
	if (w->type->delta == 0) {
		tnf_file_fail(f, w->pos, "an event without time_delta");
		return EVENT_BAD;
	}
	*time = (int64_t)((uint64_t)c->sched.base +
	    bytes_u32(&f->bytes, (uint64_t)w->pos + w->type->delta));
	return EVENT_OK;
}
