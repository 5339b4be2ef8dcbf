/*
 * list-sets.c - list sets, functions and the history.
 */
#include <stdio.h>

#include "prex/attr.h"
#include "prex/list.h"
#include "prex/shell.h"

void
list_sets(struct shell *sh, const struct args *a)
{
	struct name *s;

	TAILQ_FOREACH(s, &sh->sets, entry) {
		printf("$%-8s ", s->name);
		selectors_print(s->selectors);
		putchar('\n');
	}
}

void
list_fcns(struct shell *sh, const struct args *a)
{
	struct name *f;

	TAILQ_FOREACH(f, &sh->fcns, entry)
		printf("&%-8s %-24s\n", f->name, f->symbol);
}

void
list_history(struct shell *sh, const struct args *a)
{
	for (size_t i = 0; i < sh->history.n; i++) {
		const struct probe_op *op = &sh->history.v[i];

		printf("[%zu] %-7s ", i, op->name);
		if (op->fcn != NULL)
			printf("&%s ", op->fcn);
		selectors_print(op->selectors);
		if (op->args != NULL)
			printf("args '%s' ", op->args);
		if (op->where != NULL)
			printf("where '%s'", op->where);
		putchar('\n');
	}
}
