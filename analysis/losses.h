/*
 * losses.h - counts missing events, by reason.
 */
#ifndef ANALYSIS_LOSSES_H
#define ANALYSIS_LOSSES_H

#include <stdint.h>

#include <tnf/com.h>

/* The text of an enum tnf_lost; NULL: this version does not know the reason. */
const char *loss_name(unsigned reason);

/* Events that could not be written to a file, and values that were shortened. */
struct loss {
	uint64_t lost[TNF_LOST_REASONS];
	uint64_t events;	/* their sum */
	uint64_t shortened;	/* values */
};

/* The buffers whose files were counted; zeroed: none. */
struct losses {
	struct tnf_ext *seen;
	unsigned n;
};

/*
 * Counts a file.  Counters count from the beginning of the buffer, so the result is what
 * they have beyond those of earlier files of the same buffer.  x stays the caller's; NULL:
 * the file has no counters.
 */
struct loss losses_count(struct losses *, const struct tnf_ext *x);
void losses_free(struct losses *);

#endif
