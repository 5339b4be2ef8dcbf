/*
 * dump.h - a run of tnfdump inside a fuzz target.
 */
#ifndef FUZZ_DUMP_H
#define FUZZ_DUMP_H

#include "tnfdump/pipeline.h"

/* As on the command line; false: refused, and told why. */
bool dump_option(struct dump *, const char *name, const char *arg);
/* Prints that file to /dev/null, and frees all that belongs to *d. */
void dump_run(struct dump *, const void *base, size_t size);

#endif
