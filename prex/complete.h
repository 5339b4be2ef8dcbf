/*
 * complete.h - how could the line go on?
 */
#ifndef PREX_COMPLETE_H
#define PREX_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#include "prex/util.h"

struct shell;

struct completion {
	char	*word;			/* what is to be completed, maybe "" */
	struct strings candidates;	/* what could be in its place; sorted */
};

/* Looks at the text before the cursor, and at the target. */
void	complete(struct shell *, const char *text, struct completion *);
void	completion_free(struct completion *);
/* Takes a candidate; one that does not begin as the word does is dropped. */
void	completion_add(struct completion *, char *text);

/* A part of complete(): rules of "pfilter add", or of "pfilter delete". */
void	complete_filter(struct shell *, const char *text, bool delete, struct completion *);

#endif
