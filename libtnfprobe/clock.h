/*
 * clock.h - the counter that a hit reads.
 */
#ifndef LIBTNFPROBE_CLOCK_H
#define LIBTNFPROBE_CLOCK_H

#include <stdint.h>

#define ANCHOR_NS	10000000ull	/* an anchor is not used for longer */

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t
ticks(void)
{
	return __rdtsc();
}
#else
/* No counter we know: every hit finds its anchor too old and asks the kernel. */
static inline uint64_t
ticks(void)
{
	return 0;
}
#endif

static inline uint64_t
scaled(uint64_t t, uint64_t mult)
{
	return t * mult >> 32;
}

#endif /* LIBTNFPROBE_CLOCK_H */
