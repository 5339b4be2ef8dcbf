/*
 * util.c - lists of strings, words of a list (whole or abbreviated), and text for a terminal.
 */
#include <unistd.h>

#include "prex/util.h"

void
strings_add(struct strings *l, char *s)
{
	if (l->n == l->size) {
		l->size = l->size > 0 ? 2 * l->size : 16;
		l->v = tnf_xreallocarray(l->v, l->size + 1, sizeof *l->v);
	}
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

static int
util_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
strings_sort(struct strings *l)
{
	size_t i, n = 0;

	if (l->n == 0)
		return;
	qsort(l->v, l->n, sizeof *l->v, util_compare);
	for (i = 1; i < l->n; i++) {
		if (strcmp(l->v[n], l->v[i]) == 0)
			free(l->v[i]);
		else
			l->v[++n] = l->v[i];
	}
	l->n = n + 1;
	l->v[l->n] = NULL;
}

void
strings_free(struct strings *l)
{
	while (l->n > 0)
		free(l->v[--l->n]);
	free(l->v);
	memset(l, 0, sizeof *l);
}

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
string_append(char *s, const char *between, const char *more)
{
	char *longer = tnf_xasprintf("%s%s%s", s, *s != '\0' ? between : "", more);

	free(s);
	return longer;
}

char *
word_candidates(const char *const *words, const char *text)
{
	char *s = tnf_xstrdup("");

	for (; *words != NULL; words++)
		if (strncmp(*words, text, strlen(text)) == 0)
			s = string_append(s, ", ", *words);
	return s;
}

char *
printable(const char *s)
{
	char *out = tnf_xcalloc(strlen(s) * 4 + 1, 1), *p = out;
	const char *end = s + strlen(s), *letter;
	size_t n;

	for (; s < end; s += n) {
		n = tnf_printable_length((const unsigned char *)s, (size_t)(end - s));
		if (n > 0) {
			p = mempcpy(p, s, n);
			continue;
		}
		n = 1;
		letter = strchr("\nn\tt\rr", *s);
		p += letter != NULL ? sprintf(p, "\\%c", letter[1]) :
		    sprintf(p, "\\%03o", (unsigned char)*s);
	}
	return out;
}

void
print_text(FILE *fp, const char *s)
{
	if (!isatty(fileno(fp))) {
		fputs(s, fp);
		return;
	}
	autofree char *text = printable(s);
	fputs(text, fp);
}
