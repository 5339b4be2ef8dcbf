/*
 * dump.h - a run of tnfdump inside a fuzz target.
 */
#ifndef FUZZ_DUMP_H
#define FUZZ_DUMP_H

#include "tnfdump/pipeline.h"

/* As on the command line; false: refused, and told why. */
bool dump_option(struct dump *, const char *name, const char *arg);
/* Prints that file to /dev/null. */
void dump_run(struct dump *, const void *base, size_t size);
/* Frees what the options have made. */
void dump_done(struct dump *);

#endif
