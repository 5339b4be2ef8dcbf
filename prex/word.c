/*
 * word.c - find a word in a list: whole or abbreviated.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/util.h"

enum word_match
word_find(const char *const *words, const char *text, const char **ret)
{
	size_t len = strlen(text), found = 0;

	for (; *words != NULL; words++) {
		if (strncmp(*words, text, len) != 0)
			continue;
		*ret = *words;
		if ((*words)[len] == '\0')
			return WORD_ONE;
		found++;
	}
	if (found > 1)
		*ret = NULL;
	return found == 0 ? WORD_NONE : found == 1 ? WORD_ONE : WORD_SEVERAL;
}

char *
word_candidates(const char *const *words, const char *text)
{
	char *s = tnf_xstrdup(""), *t;
	size_t len = strlen(text);

	for (; *words != NULL; words++) {
		if (strncmp(*words, text, len) != 0)
			continue;
		t = tnf_xasprintf("%s%s%s", s, *s != '\0' ? ", " : "", *words);
		free(s);
		s = t;
	}
	return s;
}
