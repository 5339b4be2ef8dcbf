/*
 * util.h - memory that is always there, and words that are almost right.
 */
#ifndef PREX_UTIL_H
#define PREX_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/guess.h"

/* These end the program when there is no memory. */
void	*xcalloc(size_t n, size_t size);
void	*xreallocarray(void *p, size_t n, size_t size);
char	*xstrdup(const char *s);
char	*xstrndup(const char *s, size_t n);
char	*xvasprintf(const char *fmt, va_list) __attribute__((format(printf, 1, 0)));
char	*xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A growing list of strings, each freed with it. */
struct strings {
	char	**v;
	size_t	n, size;
};

void	strings_add(struct strings *l, char *s);	/* takes s */
void	strings_sort(struct strings *l);		/* bytewise; drops doubles */
void	strings_free(struct strings *l);

/* Looks a word up in a NULL-ended list: exactly, or as an abbreviation. */
enum word_match { WORD_NONE, WORD_ONE, WORD_SEVERAL };
enum word_match word_find(const char *const *words, const char *text,
	    const char **ret);
/* The words that begin with text, as "a, b, c".  The caller frees it. */
char	*word_candidates(const char *const *words, const char *text);

#endif
