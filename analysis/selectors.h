/*
 * selectors.h - a list of numbers and names as an option has it: "0-3,8,sh*".
 *
 * It knows which of its words matched anything: a word that matches nothing is
 * more often a mistake than not.
 */
#ifndef ANALYSIS_SELECTORS_H
#define ANALYSIS_SELECTORS_H

#include "analysis/ranges.h"

struct selector {
	char		*text;		/* "0-3", "sh*" */
	struct ranges	 numbers;	/* none: it is a name */
	bool		 hit;		/* something matched */
};

struct selectors {
	struct selector	*s;
	unsigned	 n, n_hit, n_names;
};

/* Adds the words of a list; names are shell patterns.  false: one is empty, or
   is no number where names are not allowed. */
bool selectors_add(struct selectors *, const char *list, bool names);
bool selectors_number(struct selectors *, uint64_t);
bool selectors_name(struct selectors *, const char *);
void selectors_forget(struct selectors *);	/* that anything was hit */
void selectors_free(struct selectors *);

#endif
