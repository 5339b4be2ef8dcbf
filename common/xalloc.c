/*
 * xalloc.c - memory, or the end of the program.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"

void (*tnf_xalloc_failed)(void);

static void *
xalloc_check(void *p)
{
	if (p == NULL && tnf_xalloc_failed != NULL)
		tnf_xalloc_failed();
	if (p == NULL)
		err(1, "out of memory");
	return p;
}

void *
tnf_xcalloc(size_t n, size_t size)
{
	return xalloc_check(calloc(n > 0 ? n : 1, size > 0 ? size : 1));
}

void *
tnf_xreallocarray(void *old, size_t n, size_t size)
{
	return xalloc_check(reallocarray(old, n > 0 ? n : 1, size));
}

char *
tnf_xstrndup(const char *s, size_t len)
{
	char *p = tnf_xcalloc(len + 1, 1);

	memcpy(p, s, strnlen(s, len));
	return p;
}

char *
tnf_xstrdup(const char *s)
{
	return tnf_xstrndup(s, strlen(s));
}

char *
tnf_xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return xalloc_check(s);
}

char *
tnf_xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void *
tnf_xmap_put(struct map *m, const void *key, size_t key_size, bool *fresh)
{
	return xalloc_check(tnf_map_put(m, key, key_size, fresh));
}
