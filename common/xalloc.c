/*
 * xalloc.c - memory, or the end of the program.
 */
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

	if (p == NULL)
		err(1, "out of memory");
	return p;
}

void *
xreallocarray(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n > 0 ? n : 1, size);

	if (p == NULL)
		err(1, "out of memory");
	return p;
}

char *
xstrndup(const char *s, size_t len)
{
	char *p = xcalloc(len + 1, 1);

	memcpy(p, s, len);
	return p;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

void *
xmap_put(struct map *m, const void *key, size_t key_size, bool *fresh)
{
	void *value = map_put(m, key, key_size, fresh);

	if (value == NULL)
		err(1, "out of memory");
	return value;
}
