/*
 * tab.c - put what complete() found into the line, or show it.
 */
#include <sys/ioctl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "prex/complete.h"
#include "prex/tab.h"

enum { MAX_SHOWN = 300 };

struct shell *tab_shell;

static size_t
common_prefix(const struct strings *l)
{
	size_t i, n, len = strlen(l->v[0]);

	for (i = 1; i < l->n; i++) {
		for (n = 0; n < len && l->v[i][n] == l->v[0][n]; n++)
			;
		len = n;
	}
	return len;
}

static size_t
tab_columns(void)
{
	struct winsize ws;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col == 0 ? 80 : ws.ws_col;
}

static void
tab_show(const struct strings *l)
{
	size_t i, width = 0, per_line, n = l->n;

	for (i = 0; i < l->n; i++)
		if (strlen(l->v[i]) + 2 > width)
			width = strlen(l->v[i]) + 2;
	per_line = tab_columns() / width;
	if (per_line == 0)
		per_line = 1;
	if (n > MAX_SHOWN)
		n = MAX_SHOWN;
	putchar('\n');
	for (i = 0; i < n; i++) {
		bool last = i + 1 == n || (i + 1) % per_line == 0;

		printf("%-*s%s", last ? 0 : (int)width, l->v[i],
		    last ? "\n" : "");
	}
	if (n < l->n)
		printf("... and %zu more\n", l->n - n);
	fflush(stdout);
}

static size_t
tab_characters(const char *s)
{
	size_t n = mbstowcs(NULL, s, 0);

	return n == (size_t)-1 ? strlen(s) : n;
}

static void
tab_replace(EditLine *el, const char *old, const char *new)
{
	size_t n = tab_characters(old);

	if (n > 0)
		el_deletestr(el, n);
	el_insertstr(el, new);
}

/* A word that is whole gets the blank behind it. */
static char *
tab_replacement(const struct strings *l)
{
	char *s = tnf_xstrndup(l->v[0], common_prefix(l)), *t;
	size_t len = strlen(s);

	if (l->n > 1 || len == 0 || strchr("=/", s[len - 1]) != NULL)
		return s;
	t = tnf_xasprintf("%s ", s);
	free(s);
	return t;
}

/* Does it say more than the word did, quotes apart? */
static bool
goes_further(const char *new, const char *word)
{
	if (*new == '\'' && *word != '\'')
		new++;
	return strlen(new) > strlen(word) &&
	    strncmp(new, word, strlen(word)) == 0;
}

static unsigned char
tab_insert(EditLine *el, const struct completion *c)
{
	char *new = tab_replacement(&c->candidates);
	unsigned char r = CC_REFRESH;

	if (c->candidates.n == 1 || goes_further(new, c->word)) {
		tab_replace(el, c->word, new);
	} else {
		tab_show(&c->candidates);
		r = CC_REDISPLAY;
	}
	free(new);
	return r;
}

unsigned char
tab_complete(EditLine *el, int ch)
{
	const LineInfo *li = el_line(el);
	char *text = tnf_xstrndup(li->buffer, li->cursor - li->buffer);
	struct completion c;
	unsigned char r = CC_ERROR;

	complete(tab_shell, text, &c);
	if (c.candidates.n > 0)
		r = tab_insert(el, &c);
	completion_free(&c);
	free(text);
	return r;
}
