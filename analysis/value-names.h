/*
 * value-names.h - names of values that a trace brings with it: of members of tracepoints, in
 * the context (tnf(5), "Context": values).
 */
#ifndef ANALYSIS_VALUE_NAMES_H
#define ANALYSIS_VALUE_NAMES_H

#include "common/out.h"

typedef void value_names_fn(struct out *, const char *, size_t);
/* Writes the names of a value by 'put', as the fact tells them: "symbolic 0xff 0x1=READ,...".
   false: there are none, and nothing is written; a fact of NULL has none.  If the output is
   NULL, the call only tells whether there are names. */
bool value_names_put(struct out *, const char *fact, uint64_t value, value_names_fn *put);

#endif
