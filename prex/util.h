/*
 * util.h - lists of strings, words that are almost right, and text for a terminal.  <stdio.h>
 * and the headers that common/xalloc.h brings come with it.
 */
#ifndef PREX_UTIL_H
#define PREX_UTIL_H

#include "common/text.h"
#include "common/xalloc.h"

/* A growing list of strings, each freed with the list.  A NULL is behind the last one. */
struct strings {
	char	**v;
	size_t	n, size;
};

void	strings_add(struct strings *l, char *s);	/* takes s */
void	strings_sort(struct strings *l);		/* bytewise; drops doubles */
void	strings_free(struct strings *l);

/* Appends to s, which the call frees, or replaces it where it is "". */
char	*string_append(char *s, const char *between, const char *more);

/* Looks a word up in a NULL-ended list: exactly, or as an abbreviation. */
enum word_match { WORD_NONE, WORD_ONE, WORD_SEVERAL };
enum word_match word_find(const char *const *words, const char *text,
	    const char **ret);
/* The words that begin with text, as "a, b, c".  The caller frees it. */
char	*word_candidates(const char *const *words, const char *text);

/* With control characters escaped; the caller frees it. */
char	*printable(const char *s);
/* Prints s as it is, but printable where fp is a terminal. */
void	print_text(FILE *fp, const char *s);

#endif
