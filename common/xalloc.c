/*
 * xalloc.c - memory, or the end of the program.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"

void (*xalloc_failed)(void);

static void *
xalloc_check(void *p)
{
	if (p == NULL && xalloc_failed != NULL)
		xalloc_failed();
	if (p == NULL)
		err(1, "out of memory");
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	return xalloc_check(calloc(n > 0 ? n : 1, size > 0 ? size : 1));
}

void *
xreallocarray(void *old, size_t n, size_t size)
{
	return xalloc_check(reallocarray(old, n > 0 ? n : 1, size));
}

char *
xstrndup(const char *s, size_t len)
{
	char *p = xcalloc(len + 1, 1);

	memcpy(p, s, strnlen(s, len));
	return p;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return xalloc_check(s);
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

void *
xmap_put(struct map *m, const void *key, size_t key_size, bool *fresh)
{
	return xalloc_check(map_put(m, key, key_size, fresh));
}
