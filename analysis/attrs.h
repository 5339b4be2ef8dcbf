/*
 * attrs.h - what a trace says beside its events: the definition of a probe, with data that
 * users of events keep for each probe, and how many events are missing.
 */
#ifndef ANALYSIS_ATTRS_H
#define ANALYSIS_ATTRS_H

#include <stdint.h>

#include <tnf/com.h>
#include <tnf/stream.h>

#include "common/xalloc.h"

/* The value of an attribute and its length; NULL: the attribute is missing or has no value. */
const char *attrs_find(const char *attrs, const char *name, size_t *len);

/* The level of an event: 0 application, 1 system call, 2 kernel, 3 interrupt. */
unsigned attrs_level(const struct tnf_event *);

#define MARK_TEXT_MAX	256

/* True if the event is of a probe "mark" with a string "text" (<tnf/com.h>); copies the
   string into 'text', cut if it does not fit. */
bool	mark_text(const struct tnf_event *, char text[MARK_TEXT_MAX]);

/* A growing array with an element for each probe, for example the index of a member. */
struct perprobe {
	char	*base;
	size_t	 n;		/* by probe id */
};

/* The probe's element of 'size' bytes, zero at first; 'size' is the same in each call. */
static inline void *
perprobe(struct perprobe *t, const struct tnf_probe *p, size_t size)
{
	size_t n;

	if (__builtin_expect(p->id >= t->n, 0)) {
		n = (size_t)p->id + 64;
		t->base = tnf_xreallocarray(t->base, n, size);
		memset(t->base + t->n * size, 0, (n - t->n) * size);
		t->n = n;
	}
	return t->base + p->id * size;
}

/* Index of a member, or -1. */
static inline int
perprobe_member(const struct tnf_probe *p, const char *name)
{
	for (unsigned i = 0; i < p->n_members; i++)
		if (strcmp(p->members[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* False: the event has no such member, or none that is to be read, or null. */
static inline bool
member_value(const struct tnf_event *ev, const char *name, struct tnf_value *v)
{
	int i = perprobe_member(ev->probe, name);

	return i >= 0 && tnf_event_value(ev, (unsigned)i, v) && !v->null;
}

/*
 * Counts missing events, by reason.
 */

/* The text of an enum tnf_lost; NULL: this version does not know the reason. */
const char *loss_name(unsigned reason);

/* Events that could not be written to a file, and values that were shortened. */
struct loss {
	uint64_t lost[TNF_LOST_REASONS];
	uint64_t events;	/* their sum */
	uint64_t shortened;	/* values */
};

/* The buffers whose files were counted; zeroed: none. */
struct losses {
	struct tnf_ext *seen;
	unsigned n;
};

/*
 * Counts a file.  Counters count from the beginning of the buffer, so the result is what
 * they have beyond those of earlier files of the same buffer.  x stays the caller's; NULL:
 * the file has no counters.
 */
struct loss losses_count(struct losses *, const struct tnf_ext *x);
void losses_free(struct losses *);

#endif
