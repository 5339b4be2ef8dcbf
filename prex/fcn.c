/*
 * fcn.c - handles for functions of the target.
 */
#include <stdlib.h>
#include <string.h>

#include "fcn.h"
#include "util.h"

struct fcn *
fcns_find(const struct fcns *fcns, const char *name)
{
	struct fcn *f;

	TAILQ_FOREACH(f, fcns, entry)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

struct fcn *
fcns_find_symbol(const struct fcns *fcns, const char *symbol)
{
	struct fcn *f;

	TAILQ_FOREACH(f, fcns, entry)
		if (strcmp(f->symbol, symbol) == 0)
			return f;
	return NULL;
}

static void
fcn_remove(struct fcns *fcns, struct fcn *f)
{
	TAILQ_REMOVE(fcns, f, entry);
	free(f->name);
	free(f->symbol);
	free(f);
}

void
fcns_define(struct fcns *fcns, const char *name, const char *symbol)
{
	struct fcn *f = fcns_find(fcns, name);

	if (f != NULL)
		fcn_remove(fcns, f);
	f = xcalloc(1, sizeof *f);
	f->name = xstrdup(name);
	f->symbol = xstrdup(symbol);
	TAILQ_INSERT_TAIL(fcns, f, entry);
}

void
fcns_free(struct fcns *fcns)
{
	while (!TAILQ_EMPTY(fcns))
		fcn_remove(fcns, TAILQ_FIRST(fcns));
}
