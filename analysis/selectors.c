/*
 * selectors.c - a list of numbers and names as an option has it.
 */
#include <string.h>

#include "analysis/match.h"
#include "analysis/selectors.h"
#include "common/xalloc.h"

static bool
selectors_add_word(struct selectors *l, const char *word, bool names)
{
	struct selector s = { 0 };

	if (*word == '\0' || (!ranges_add(&s.numbers, word) && !names)) {
		free(s.numbers.r);
		return false;
	}
	s.text = tnf_xstrdup(word);
	l->n_names += s.numbers.n == 0;
	l->s = tnf_xreallocarray(l->s, l->n + 1, sizeof *l->s);
	l->s[l->n++] = s;
	return true;
}

bool
selectors_add(struct selectors *l, const char *list, bool names)
{
	char *copy = tnf_xstrdup(list), *next = copy, *word;
	bool good = true;

	while (good && (word = strsep(&next, ",")) != NULL)
		good = selectors_add_word(l, word, names);
	free(copy);
	return good;
}

static void
selectors_hit(struct selectors *l, struct selector *s)
{
	l->n_hit += !s->hit;
	s->hit = true;
}

/* Once all have been hit, the first match is as good as another. */
bool
selectors_number(struct selectors *l, uint64_t v)
{
	bool found = false;

	for (unsigned i = 0; i < l->n && !(found && l->n_hit == l->n); i++)
		if (ranges_has(&l->s[i].numbers, v)) {
			selectors_hit(l, &l->s[i]);
			found = true;
		}
	return found;
}

bool
selectors_name(struct selectors *l, const char *name)
{
	bool found = false;

	for (unsigned i = 0; i < l->n && !(found && l->n_hit == l->n); i++)
		if (l->s[i].numbers.n == 0 && match_glob(l->s[i].text, name)) {
			selectors_hit(l, &l->s[i]);
			found = true;
		}
	return found;
}

void
selectors_forget(struct selectors *l)
{
	for (unsigned i = 0; i < l->n; i++)
		l->s[i].hit = false;
	l->n_hit = 0;
}

void
selectors_free(struct selectors *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		free(l->s[i].text);
		free(l->s[i].numbers.r);
	}
	free(l->s);
	*l = (struct selectors){ 0 };
}
