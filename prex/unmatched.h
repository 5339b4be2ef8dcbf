/*
 * unmatched.h - a command that has selected nothing says so.
 */
#ifndef PREX_UNMATCHED_H
#define PREX_UNMATCHED_H

#include <stdbool.h>

struct tnf_selectors;
struct shell;
struct specs;

/* Warns of the selectors that no probe has matched, with what was probably
   meant.  used has a flag for each; those of a set (NULL: none was named) are
   told of only if none of them has matched. */
void	unmatched_tell(struct shell *, const char *command, const char *set,
	    const struct tnf_selectors *, const bool *used);
/* The same about attributes that no probe has. */
void	unmatched_attributes(struct shell *, const struct specs *);

#endif
