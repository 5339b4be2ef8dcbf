/*
 * hint.h - what was probably meant.
 */
#ifndef TNFDUMP_HINT_H
#define TNFDUMP_HINT_H

#include "analysis/expr/expr.h"
#include "analysis/match.h"
#include "tnfdump/tnfdump.h"

/* Tells which members of the option's expression no probe of the stream has. */
void hint_members(struct dump *, const char *option, const struct expr *);
/* The same for the probes and members of --pair; status becomes an error. */
void hint_pairs(struct dump *);
/* Which of the processes, or threads, of "-p" or "--tid" no event had. */
void hint_tasks(struct dump *, const char *option, const struct selectors *,
    bool threads);

#endif
