/*
 * hint.h - what was probably meant.
 */
#ifndef TNFDUMP_HINT_H
#define TNFDUMP_HINT_H

#include "tnfdump/expr.h"
#include "tnfdump/tnfdump.h"

/* Tells which members of the expression no probe of the stream has. */
void hint_members(struct dump *, const struct expr *);

#endif
