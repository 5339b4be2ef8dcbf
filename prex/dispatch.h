/*
 * dispatch.h - the one way from a statement to its command.
 */
#ifndef PREX_DISPATCH_H
#define PREX_DISPATCH_H

#include "prex/cmd.h"

struct statement;

enum cmd_result dispatch(struct shell *, struct statement *);

#endif
