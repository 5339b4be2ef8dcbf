/*
 * gaps.h - places of a kernel's trace where events are missing.
 *
 * The blocks of a CPU are numbered.  A missing number is a block that was overwritten or lost.
 */
#ifndef ANALYSIS_GAPS_H
#define ANALYSIS_GAPS_H

#include <tnf/stream.h>

enum gap {
	GAP_NONE,
	GAP_BEGINNING,	/* before the event, the first one of its CPU */
	GAP_BETWEEN,	/* between the event and the one before it of its CPU */
};

struct gaps {			/* zeroed: no event yet */
	struct gaps_host {
		uint32_t *block;	/* by CPU: the highest number so far; 0: none */
		int	  n;
	} *hosts;		/* by tnf_file_host() */
	unsigned n_hosts;
};

/* Feeds the next event in order of time, of the kernel or of a process. */
enum gap gaps_feed(struct gaps *, const struct tnf_event *);
void gaps_free(struct gaps *);

#endif
