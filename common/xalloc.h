/*
 * xalloc.h - memory, or the end of the program.
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <stdbool.h>
#include <stddef.h>

struct map;

void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *, size_t n, size_t size);
char *xstrndup(const char *, size_t);
char *xstrdup(const char *);
void *xmap_put(struct map *, const void *key, size_t key_size, bool *fresh);

#endif
