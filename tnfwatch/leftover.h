/*
 * leftover.h - what an earlier tnfwatch has left: rings, segments, another boot's.
 */
#ifndef TNFWATCH_LEFTOVER_H
#define TNFWATCH_LEFTOVER_H

#include <stdbool.h>

struct config;
struct source;

/*
 * If the machine went down while a tnfwatch ran, makes an incident of the segments and
 * trace files that it left.  What nobody needs is removed.  From now on it is known
 * that this one runs.
 */
void leftover_begin(const struct config *);
/* We end in order: nothing has gone down. */
void leftover_end(const struct config *);

/* Calls fn for the ring of each process that has ended while nobody watched it, as far as
   it is wanted; those of processes that live are taken up with them. */
void leftover_rings(const struct config *,
    bool (*wants)(void *arg, const char *path, const char *section),
    void (*fn)(void *arg, struct source *), void *arg);

#endif /* TNFWATCH_LEFTOVER_H */
