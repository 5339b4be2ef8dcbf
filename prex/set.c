/*
 * set.c - named selector lists.
 */
#include <stdlib.h>
#include <string.h>

#include "selector.h"
#include "set.h"
#include "util.h"

struct set *
sets_find(const struct sets *sets, const char *name)
{
	struct set *s;

	TAILQ_FOREACH(s, sets, entry)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static void
set_remove(struct sets *sets, struct set *s)
{
	TAILQ_REMOVE(sets, s, entry);
	selectors_unref(s->selectors);
	free(s->name);
	free(s);
}

void
sets_define(struct sets *sets, const char *name, struct selectors *l)
{
	struct set *s = sets_find(sets, name);

	if (s != NULL)
		set_remove(sets, s);
	s = xcalloc(1, sizeof *s);
	s->name = xstrdup(name);
	s->selectors = selectors_ref(l);
	TAILQ_INSERT_TAIL(sets, s, entry);
}

void
sets_free(struct sets *sets)
{
	while (!TAILQ_EMPTY(sets))
		set_remove(sets, TAILQ_FIRST(sets));
}
