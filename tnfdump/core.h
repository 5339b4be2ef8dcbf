/*
 * core.h - the trace file that a process had mapped, by its core.
 */
#ifndef TNFDUMP_CORE_H
#define TNFDUMP_CORE_H

#include "tnfdump/tnfdump.h"

/* True if the file is an ELF core. */
bool core_is(int fd);
/* A descriptor of the trace: a copy of the mapping if the core has it, otherwise the file that the
   core names.  -1: there is neither, which was told.  The caller closes both. */
int core_trace(struct dump *, const char *path, int fd);

#endif
