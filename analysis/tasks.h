/*
 * tasks.h - the processes and threads seen so far, and sets of pairs of numbers.
 */
#ifndef ANALYSIS_TASKS_H
#define ANALYSIS_TASKS_H

#include <tnf/stream.h>

#include "common/map.h"

#define TASK_NEW_THREAD		1u
#define TASK_NEW_PROCESS	2u

struct tasks;

struct tasks *tasks_new(void);
void tasks_free(struct tasks *);

/* TASK_NEW_* flags for the thread that wrote the event; 0: it was seen before. */
unsigned tasks_seen(struct tasks *, const struct tnf_event *);

/* A set of pairs of numbers; zeroed: empty. */
struct idset {
	struct map map;		/* no values */
	uint64_t   last[2];	/* last pair: it often comes again */
};

void   idset_add(struct idset *, uint64_t a, uint64_t b);
size_t idset_count(const struct idset *);
void   idset_free(struct idset *);

#endif
