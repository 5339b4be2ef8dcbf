/*
 * sqlite-members.h - a table for the members of each kind of probe, and a view
 * that joins it with the events.
 */
#ifndef TNFDUMP_TO_SQLITE_MEMBERS_H
#define TNFDUMP_TO_SQLITE_MEMBERS_H

#include "tnfdump/to/sqlite-file.h"
#include "tnfdump/tnfdump.h"

struct members;

struct members *members_new(struct dump *, struct sqlite *);
void members_free(struct members *);

/* The probe's row in table probes, made with its table at the first call. */
int64_t members_probe(struct members *, const struct tnf_probe *);

/* The arguments of event 'id'; of a probe without any, nothing. */
void members_add(struct members *, const struct tnf_event *, int64_t id);

#endif
