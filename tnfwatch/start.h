/*
 * start.h - what programs that start are told, before they are attached to.
 *
 * The text "start" in the directory 'run' says which programs are meant, with which
 * probes, as far as sections have from_start.  libtnfprobe reads it at the start of a program (libtnfprobe/auto-watch.c), and
 * follows it only as long as who has left it holds its lock.
 */
#ifndef TNFWATCH_START_H
#define TNFWATCH_START_H

#include "tnfwatch/config.h"

/* Does a section have from_start? */
bool start_is_asked(const struct config *);
/* Leaves it, instead of one from before.  What it returns holds the lock until it is
   closed; -1: errno says why not, and no program is told anything. */
int start_tell(const struct config *);
void start_end(const struct config *);
/* Is it there, and somebody has its lock? */
bool start_is_told(const struct config *);

#endif /* TNFWATCH_START_H */
