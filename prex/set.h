/*
 * set.h - named selector lists: $name.
 */
#ifndef PREX_SET_H
#define PREX_SET_H

#include <sys/queue.h>

struct selectors;

struct set {
	TAILQ_ENTRY(set) entry;
	char	*name;
	struct selectors *selectors;
};
TAILQ_HEAD(sets, set);

/* Takes a reference of l.  A set of that name goes; the new one comes last. */
void	sets_define(struct sets *, const char *name, struct selectors *l);
struct set *sets_find(const struct sets *, const char *name);
void	sets_free(struct sets *);

#endif
