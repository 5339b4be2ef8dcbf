/*
 * units.h - numbers, durations and sizes with units, as people write them: 0x1f, 0o17, 1.5ms, 64K.
 */
#ifndef ANALYSIS_UNITS_H
#define ANALYSIS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/value.h"
#include "common/out.h"

/*
 * Reads a number at 's': decimal, 0x, 0o or with a fraction and exponent, then an optional
 * unit: ns us ms s m h d (result in ns), K M G T with an optional B or iB (powers of 1024).
 * Returns NULL and stores the value and the end; or returns what is wrong, and *end is the
 * place of the error.
 */
const char *number_parse(const char *s, const char **end, struct val *);

/* Writes a size in the largest unit that is exact: 4096 as 4K. */
void size_put(struct out *, uint64_t);

/* Reads a whole argument as a duration: "5ms", "2" (seconds); false: it is none. */
bool duration_parse(const char *s, int64_t *ns);

#endif
