/*
 * frames.h - the stack of an event: where the kernel was, called from where the program was.
 *
 * A stack is an array of symbols.  If an event has several, each later member is further out:
 * the kernel's frames come first, then the program's.
 */
#ifndef TNFDUMP_FRAMES_H
#define TNFDUMP_FRAMES_H

#include "tnfdump/tnfdump.h"

#define FRAMES_MAX	160u	/* of an event; what lies further out is left away */
#define FRAME_NAMES_MAX	16u	/* functions that are inlined in each other at one address */

struct frame {
	uint64_t pc;		/* as it was recorded */
	uint64_t at;		/* in the instruction under way: callers' pc are behind their calls */
	bool	 cut;		/* the kernel's outermost frame, whose callers were not recorded */
};

/* The frames of the event's stack, the outermost first; returns how many.  0: it has none. */
unsigned frames_of(struct dump *, const struct tnf_event *, struct frame ret[FRAMES_MAX]);

/* The frames of a program that keeps no frame pointers, from the words of its stack that a sample
   brings; 0: it brings none, or they lead nowhere. */
unsigned frames_unwound(struct dump *, const struct tnf_event *, struct frame ret[FRAMES_MAX]);

/* The functions at a frame: the one that was called, then those that are inlined there, each
   in the one before; returns how many.  0: not known. */
unsigned frame_names(struct dump *, const struct tnf_event *, const struct frame *,
    const char *ret[FRAME_NAMES_MAX]);

#endif
