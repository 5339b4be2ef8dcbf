/*
 * names.h - names of probes and members that a stream knows, of processes and threads that
 * contexts know, and which of them a user has probably meant.
 */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include <tnf/context.h>
#include <tnf/stream.h>

#include "analysis/match.h"

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

#endif
