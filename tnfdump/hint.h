/*
 * hint.h - messages about names that are not there, with the names that were probably
 * meant.
 */
#ifndef TNFDUMP_HINT_H
#define TNFDUMP_HINT_H

#include "analysis/expr/expr.h"
#include "analysis/match.h"
#include "tnfdump/tnfdump.h"

/* Tells which members of the option's expression no probe of the stream has. */
void hint_members(struct dump *, const char *option, const struct expr *);
/* Tells which probes and members of --pair the stream lacks; a lacking member makes status
   an error. */
void hint_pairs(struct dump *);
/* Tells which of the processes or threads named by "-p" or "--tid" had no event. */
void hint_tasks(struct dump *, const char *option, const struct selectors *,
    bool threads);

#endif
