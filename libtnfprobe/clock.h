/*
 * clock.h - the counter that a hit reads, as time.
 */
#ifndef LIBTNFPROBE_CLOCK_H
#define LIBTNFPROBE_CLOCK_H

#include "libtnfprobe/arch/arch.h"

#define ANCHOR_NS	10000000ull	/* an anchor is not used for longer */

static inline uint64_t
scaled(uint64_t t, uint64_t mult)
{
	return t * mult >> 32;
}

#endif /* LIBTNFPROBE_CLOCK_H */
