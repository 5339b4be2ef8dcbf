/*
 * util.c - memory and string lists.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/util.h"

static void *
util_check(void *p)
{
	if (p == NULL) {
		fputs("new; out of memory, aborting\n", stderr);
		abort();
	}
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	return util_check(calloc(n, size));
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	return util_check(reallocarray(p, n, size));
}

char *
xstrdup(const char *s)
{
	return util_check(strdup(s));
}

char *
xstrndup(const char *s, size_t n)
{
	return util_check(strndup(s, n));
}

char *
xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return util_check(s);
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void
strings_add(struct strings *l, char *s)
{
	if (l->n == l->size) {
		l->size = l->size > 0 ? 2 * l->size : 16;
		l->v = xreallocarray(l->v, l->size, sizeof *l->v);
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
