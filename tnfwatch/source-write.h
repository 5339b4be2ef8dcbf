/*
 * source-write.h - what a source holds, as a trace file of an incident.
 */
#ifndef TNFWATCH_SOURCE_WRITE_H
#define TNFWATCH_SOURCE_WRITE_H

#include "tnfwatch/source.h"

/* Into the empty file 'fd', without the blocks that are in segments.  0, an errno, or
   ENODATA: nothing has been recorded. */
int source_write(struct source *, int fd);
int kernel_write(const struct source *, int fd);

#endif /* TNFWATCH_SOURCE_WRITE_H */
