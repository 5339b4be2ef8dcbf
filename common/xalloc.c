/*
 * xalloc.c - memory, or the end of the program; and where our other programs are.
 */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

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

/* Takes the path; NULL: there is no such program. */
static char *
program_there(char *path)
{
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *
program_beside(const char *name)
{
	char self[PATH_MAX], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	if ((slash = strrchr(self, '/')) == NULL)
		return NULL;
	*slash = '\0';
	if ((path = program_there(tnf_xasprintf("%s/%s", self, name))) != NULL)
		return path;
	/* In a build directory each program has one of its own. */
	return program_there(tnf_xasprintf("%s/../%s/%s", self, name, name));
}

char *
tnf_program_path(const char *name)
{
	char *path = program_beside(name);
	const char *list = getenv("PATH"), *end;

	for (; path == NULL && list != NULL && *list != '\0'; list = end + (*end == ':')) {
		end = strchrnul(list, ':');
		if (end > list)
			path = program_there(tnf_xasprintf("%.*s/%s", (int)(end - list), list, name));
	}
	return path != NULL ? path : tnf_xstrdup(name);
}
