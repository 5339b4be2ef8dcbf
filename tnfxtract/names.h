/*
 * names.h - the names that go with a copy, read while it is made.
 */
#ifndef TNFXTRACT_NAMES_H
#define TNFXTRACT_NAMES_H

#include <pthread.h>
#include <stdbool.h>

#include "libtnf/context-write.h"

struct source;

struct names {
	struct source *source;
	struct context_writer context;
	pthread_t thread;
	bool	  beside;	/* the thread reads them */
	bool	  begun;
};

/* Begins to read; beside the caller, where it may run on two CPUs. */
void names_begin(struct names *, struct source *);
/* Waits, if it must; what was lost has been counted as well. */
void names_end(struct names *);
void names_free(struct names *);

#endif /* TNFXTRACT_NAMES_H */
