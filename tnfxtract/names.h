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
	const struct source *source;
	struct context_writer context;
	pthread_t thread;
	bool	  beside;	/* the thread reads them */
	bool	  begun;
};

/* Begins to read; beside the caller, where it may run on two CPUs. */
void names_begin(struct names *, const struct source *);
/* Waits, if it must, and adds what only the end of the copy can tell. */
struct context_writer *names_end(struct names *, struct source *);
void names_free(struct names *);

#endif /* TNFXTRACT_NAMES_H */
