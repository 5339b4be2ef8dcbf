/*
 * names.c - the sets and functions that $name and &name stand for.
 */
#include <stdlib.h>
#include <string.h>

#include "format/selector.h"
#include "prex/shell.h"

struct name *
names_find(const struct names *l, const char *name)
{
	struct name *n;

	TAILQ_FOREACH(n, l, entry)
		if (strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

struct name *
names_find_symbol(const struct names *l, const char *symbol)
{
	struct name *n;

	TAILQ_FOREACH(n, l, entry)
		if (strcmp(n->symbol, symbol) == 0)
			return n;
	return NULL;
}

static void
name_remove(struct names *l, struct name *n)
{
	TAILQ_REMOVE(l, n, entry);
	tnf_selectors_unref(n->selectors);
	free(n->symbol);
	free(n->name);
	free(n);
}

static struct name *
names_define(struct names *l, const char *name)
{
	struct name *n = names_find(l, name);

	if (n != NULL)
		name_remove(l, n);
	n = tnf_xcalloc(1, sizeof *n);
	n->name = tnf_xstrdup(name);
	TAILQ_INSERT_TAIL(l, n, entry);
	return n;
}

void
names_define_set(struct names *l, const char *name, struct tnf_selectors *s)
{
	s->refs++;
	names_define(l, name)->selectors = s;
}

void
names_define_known(struct names *l, const char *name)
{
	struct tnf_selectors *s = tnf_xcalloc(1, sizeof *s);

	tnf_selectors_add_set(s, name, strlen(name));
	names_define(l, name)->selectors = s;
}

void
names_define_fcn(struct names *l, const char *name, const char *symbol)
{
	names_define(l, name)->symbol = tnf_xstrdup(symbol);
}

void
names_free(struct names *l)
{
	while (!TAILQ_EMPTY(l))
		name_remove(l, TAILQ_FIRST(l));
}
