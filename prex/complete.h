/*
 * complete.h - how could the line go on?
 */
#ifndef PREX_COMPLETE_H
#define PREX_COMPLETE_H

#include "prex/util.h"

struct shell;

struct completion {
	char	*word;			/* what is to be completed, maybe "" */
	struct strings candidates;	/* what could be in its place; sorted */
};

/* Looks at the text before the cursor, and at the target. */
void	complete(struct shell *, const char *text, struct completion *);
void	completion_free(struct completion *);

#endif
