/*
 * xalloc.h - for programs, not for libraries: memory, or the end of the program; and where
 * our other programs are.  <errno.h>, <stdlib.h> and <string.h> come with it.
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct map;

static inline void
tnf_autofree(void *variable)
{
	int e = errno;
	void *p;

	memcpy(&p, variable, sizeof(p));
	free(p);
	errno = e;
}

/* Frees a local variable at the end of its block, on each way out; errno stays:
   autofree char *path = tnf_xasprintf(...); */
#define autofree __attribute__((cleanup(tnf_autofree)))

/* Allocates zeroed memory, at least one byte. */
void *tnf_xcalloc(size_t n, size_t size);
void *tnf_xreallocarray(void *, size_t n, size_t size);
/* Makes room for one more than n in an array that grows by doubling. */
static inline void *
tnf_xgrow(void *array, size_t n, size_t size)
{
	return (n & (n - 1)) != 0 ? array : tnf_xreallocarray(array, n == 0 ? 1 : 2 * n, size);
}
/* Copies a string up to its NUL, or to the given number of characters. */
char *tnf_xstrndup(const char *, size_t);
char *tnf_xstrdup(const char *);
char *tnf_xvasprintf(const char *fmt, va_list) __attribute__((format(printf, 1, 0)));
char *tnf_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *tnf_xmap_put(struct map *, const void *key, size_t key_size, bool *fresh);

/* Called when there is no memory, to say so in the program's own words and to end it.  If it
   is NULL or returns, the program ends with a message like that of err(3), and status 1. */
extern void (*tnf_xalloc_failed)(void);

/* The path of a program that is beside ours, or beside it in the build, or else in PATH;
   the name without a slash: there is none.  The caller frees it. */
char *tnf_program_path(const char *name);

#endif
