/*
 * incident.h - what is kept of one stall: a directory, complete or not there.
 */
#ifndef TNFWATCH_INCIDENT_H
#define TNFWATCH_INCIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct config;
struct daemon;

#define INCIDENT_TEMP	".tmp-"		/* in front of the name of one that is written */
#define INCIDENT_PINNED	"pinned"	/* a file in one that is never removed for room */

/* A name that no incident has, and of which taken() does not say so:
   "20261121T031220Z-slow-order"; the caller frees it. */
char *incident_name(const struct config *, const char *trigger, int64_t wall,
    bool (*taken)(const void *arg, const char *id), const void *arg);

/* Starts the child that writes d->window, and tells 'written' (fleet.h) when it has
   its name; 0 or an errno. */
int incident_start(struct daemon *, int written, pid_t *ret);

/* Each incident has a number, from 1: their order, also where the clock was set back and
   names are not in order.  The highest one; 0: there is none. */
uint64_t incident_numbers(const struct config *);
/* false: they cannot be read, which is said.  There may be none yet. */
bool incidents_readable(const struct config *);
/* Incidents, in their order; the caller frees each and the list. */
size_t incident_list(const struct config *, char ***ret);
/* The one that is meant: its name, or the only one that begins so; NULL: none or
   several, which is said. */
char *incident_find(const struct config *, const char *text);
bool incident_pinned(const struct config *, const char *id);
/* All of it or nothing is gone, whenever it is interrupted; 0 or an errno. */
int incident_remove(const struct config *, const char *id);

/* What earlier runs have left half done. */
void incident_clean(const struct config *);
/* Until all below the directory takes no more than the limit, removes the oldest one
   that is not pinned of the trigger that has the most. */
void incident_make_room(const struct config *);

#endif /* TNFWATCH_INCIDENT_H */
