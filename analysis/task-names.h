/*
 * task-names.h - processes and threads that contexts tell of, and which was probably meant.
 */
#ifndef ANALYSIS_TASK_NAMES_H
#define ANALYSIS_TASK_NAMES_H

#include <tnf/context.h>

#include "analysis/selectors.h"

/* Is it the number, or the name, of a thread that is not the first of its process? */
bool task_names_thread(const tnf_context_t *const *, size_t n, const struct selector *);

/* A name much like this one, of a process, or of any thread; it is the context's.  NULL:
   there is none. */
const char *task_names_guess(const tnf_context_t *const *, size_t n, const char *name,
    bool threads);

#endif
