/*
 * always.h - the kernel probes that may be on for ever.
 */
#ifndef PREX_ALWAYS_H
#define PREX_ALWAYS_H

struct selectors;

/* What "$always" stands for; the caller gives it back with selectors_unref(). */
struct selectors *always_selectors(void);

#endif
