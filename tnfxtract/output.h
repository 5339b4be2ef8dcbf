/*
 * output.h - the copy's file: whole (common/files.h), or standard output.
 */
#ifndef TNFXTRACT_OUTPUT_H
#define TNFXTRACT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/files.h"

struct output {
	const char *name;	/* as the user gave it; "-": standard output */
	const char *base;	/* its last component, in 'dir' */
	int	    dir;
	struct whole file;	/* standard output: one without a name, copied in the end */
};

/* These return 0 or an errno. */
int  output_open(struct output *, const char *name);
int  output_put(struct output *, uint64_t offset, const void *, size_t n);
int  output_commit(struct output *, bool sync);	/* under the asked name */

/* Gives up what is not committed.  Safe in signal handlers and when repeated. */
void output_discard(struct output *);

#endif /* TNFXTRACT_OUTPUT_H */
