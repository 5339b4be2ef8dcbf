/*
 * daemon-short.h - rings of programs that ended before they were attached to.
 *
 * A program of a section with from_start makes its ring itself.  If it ends before it is
 * attached to, the ring is found by its name.
 */
#ifndef TNFWATCH_DAEMON_SHORT_H
#define TNFWATCH_DAEMON_SHORT_H

#include <sys/types.h>

#include "common/map.h"

struct daemon;
struct source;
struct taker_report;

#define SHORT_ENDED	256	/* processes whose end is remembered */

struct short_rings {
	struct map dropped;	/* by path, an int64_t: up to when a ring was watched that is there
				   still, and was not to be any more */
	struct { pid_t pid; int status; int64_t time; } ended[SHORT_ENDED];	/* a ring */
	unsigned n_ended;
	uint64_t removed;	/* before their time, as there were too many */
	int64_t	 look;		/* monotonic: the next one */
};

void daemon_short_begin(struct daemon *);
void daemon_short_end(struct daemon *);
/* Looks for them, once a second. */
void daemon_short_care(struct daemon *, int64_t now);
/* A process has ended so. */
void daemon_short_ended(struct daemon *, pid_t, int status);
/* It was attached to after all. */
void daemon_short_taken(struct source *, const struct taker_report *);
/* The ring of a source that goes is not removed. */
void daemon_short_dropped(struct daemon *, const struct source *);
/* Since when events fire that did not before: 'from', or later. */
int64_t daemon_short_from(const struct daemon *, const struct source *, int64_t from);

#endif /* TNFWATCH_DAEMON_SHORT_H */
