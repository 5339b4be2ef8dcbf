/*
 * parse.h - the grammar that commands share.  Each function takes what it is
 * called after from the statement, and returns false where that is a syntax
 * error: the statement's current token is the place.
 */
#ifndef PREX_PARSE_H
#define PREX_PARSE_H

#include <stdbool.h>

#include "prex/cmd.h"
#include "prex/statement.h"

bool	parse_nothing(struct shell *, struct statement *, struct args *);
bool	parse_word(struct shell *, struct statement *, struct args *);
bool	parse_target(struct shell *, struct statement *, struct args *);
bool	parse_selectors(struct shell *, struct statement *, struct args *);
bool	parse_spec(struct shell *, struct statement *, struct args *);
bool	parse_specs(struct shell *, struct statement *, struct args *);
bool	parse_numbers(struct statement *, struct args *);

/* The current token, whole or abbreviated, as one of the words; NULL if it is
   none, with a hint left in the statement. */
const char *parse_one_of(struct statement *, const char *const *words);

void	args_free(struct args *);

/* A command's file: a quoted name, or a word. */
bool	parse_file_name(struct shell *, struct statement *, struct args *);

#endif
