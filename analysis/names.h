/*
 * names.h - names of probes and members that a stream knows, of processes and threads that
 * contexts know, and which of them a user has probably meant.
 */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include <tnf/context.h>

#include "analysis/match.h"
#include "common/map.h"

bool stream_has_probe(tnf_stream_t *, const char *name);
bool stream_has_member(tnf_stream_t *, const char *name);	/* of any probe */
/* True if a definition of the probe has the member, or if there is no such probe. */
bool stream_probe_has(tnf_stream_t *, const char *probe, const char *member);

/* A similar name that the stream has and owns; NULL: there is none. */
const char *stream_guess_probe(tnf_stream_t *, const char *name);
const char *stream_guess_member(tnf_stream_t *, const char *name);

/* True if it is the number or the name of a thread that is not the leader of its process. */
bool task_names_thread(const tnf_context_t *const *, size_t n, const struct selector *);

/* A similar name of a process, or of any thread, owned by the context; NULL: there is none. */
const char *task_names_guess(const tnf_context_t *const *, size_t n, const char *name,
    bool threads);

/*
 * The processes and threads that were seen so far, and sets of pairs of numbers.
 */
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
