/*
 * slice-context.h - the context of a trace that is made from others.
 */
#ifndef TNFDUMP_TO_SLICE_CONTEXT_H
#define TNFDUMP_TO_SLICE_CONTEXT_H

#include "tnfdump/tnfdump.h"

/* Its text, to be freed; NULL: no file has one. */
char *slice_context(struct dump *, size_t *size);

#endif
