/*
 * xalloc.h - memory, or the end of the program.
 */
#ifndef TNFDUMP_XALLOC_H
#define TNFDUMP_XALLOC_H

#include <stddef.h>

void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *, size_t n, size_t size);
char *xstrndup(const char *, size_t);
char *xstrdup(const char *);

#endif
