/*
 * sibling.h - files that hold parts of what one writer wrote.
 *
 * Snapshots of one buffer and segments of its history overlap.  Their events are
 * told apart by time, thread and probe.  If several files hold equal events, the stream
 * hands out n of them, where n is the most that any one file holds.
 */
#ifndef LIBTNF_SIBLING_H
#define LIBTNF_SIBLING_H

#include <tnf/stream.h>

#include "common/map.h"

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
	/* How often each event of this time was there. */
	int64_t		 time;
	struct { struct sibling_key key; uint64_t n; } few[SIBLINGS_FEW];
	unsigned	 n_few;
	struct map	 more;		/* those that are not among the few */
};

/* Whether 'f' comes from the same writer as one of 'files'; sets f->sibling of both. */
void tnf_siblings_join(struct siblings *, struct tnf_file *f, struct tnf_file **files,
    unsigned n);
/* 1: another file has handed it out; 0: it is new; negative: no memory. */
int  tnf_siblings_seen(struct siblings *, const struct tnf_event *);
void tnf_siblings_done(struct siblings *);

#endif /* LIBTNF_SIBLING_H */
