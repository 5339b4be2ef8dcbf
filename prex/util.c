/*
 * util.c - lists of strings.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/util.h"

void
strings_add(struct strings *l, char *s)
{
	if (l->n == l->size) {
		l->size = l->size > 0 ? 2 * l->size : 16;
		l->v = tnf_xreallocarray(l->v, l->size, sizeof *l->v);
	}
	l->v[l->n++] = s;
}

static int
util_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
strings_sort(struct strings *l)
{
	size_t i, n = 0;

	if (l->n == 0)
		return;
	qsort(l->v, l->n, sizeof *l->v, util_compare);
	for (i = 1; i < l->n; i++) {
		if (strcmp(l->v[n], l->v[i]) == 0)
			free(l->v[i]);
		else
			l->v[++n] = l->v[i];
	}
	l->n = n + 1;
}

void
strings_free(struct strings *l)
{
	while (l->n > 0)
		free(l->v[--l->n]);
	free(l->v);
	memset(l, 0, sizeof *l);
}
