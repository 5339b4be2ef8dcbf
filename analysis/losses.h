/*
 * losses.h - why events are missing, in words, and how many.
 */
#ifndef ANALYSIS_LOSSES_H
#define ANALYSIS_LOSSES_H

#include <stdint.h>

#include <tnf/com.h>

/* Of an enum tnf_lost; NULL: a reason that this version does not know. */
const char *loss_name(unsigned reason);

/* What could not be written to a file, or not whole. */
struct loss {
	uint64_t lost[TNF_LOST_REASONS];
	uint64_t events;	/* their sum */
	uint64_t shortened;	/* values */
};

/* The buffers whose files were counted; zeros: none. */
struct losses {
	struct tnf_ext *seen;
	unsigned n;
};

/*
 * Counts a file: what its counters tell that no earlier file of the same buffer has told,
 * as they count from the beginning of the buffer.  x is NULL, of a file without counters, or
 * stays the caller's.
 */
struct loss losses_count(struct losses *, const struct tnf_ext *x);
void losses_free(struct losses *);

#endif
