/*
 * probe-list.c - a list of patterns that probes are chosen by: decided once for
 * each probe.
 */
#include <string.h>

#include "analysis/match.h"
#include "analysis/probe-list.h"
#include "common/xalloc.h"

enum { UNDECIDED, KEEP, DROP };

static bool
name_matches(const struct tnf_probe *p, const char *pattern)
{
	return p->name != NULL && match_glob(pattern, p->name);
}

static bool
key_matches(const struct tnf_probe *p, const char *pattern)
{
	char *copy, *next, *word;
	bool found = false;

	if (p->keys == NULL)
		return false;
	copy = next = tnf_xstrdup(p->keys);
	while (!found && (word = strsep(&next, " ")) != NULL)
		found = *word != '\0' && match_glob(pattern, word);
	free(copy);
	return found;
}

static bool
probe_list_matches(const struct probe_list *l, const struct tnf_probe *p, const char *pattern)
{
	return l->by_key ? key_matches(p, pattern) : name_matches(p, pattern);
}

static bool
matches_any(const struct probe_list *l, const struct tnf_probe *p)
{
	for (unsigned i = 0; i < l->n; i++)
		if (probe_list_matches(l, p, l->patterns[i]))
			return true;
	return false;
}

bool
probe_list_has(struct probe_list *l, const struct tnf_probe *p)
{
	unsigned id = p->id, n;

	if (id >= l->n_verdicts) {
		n = id < 32 ? 64 : id * 2;
		l->verdicts = tnf_xreallocarray(l->verdicts, n, 1);
		memset(l->verdicts + l->n_verdicts, UNDECIDED,
		    n - l->n_verdicts);
		l->n_verdicts = n;
	}
	if (l->verdicts[id] == UNDECIDED)
		l->verdicts[id] = matches_any(l, p) ? KEEP : DROP;
	return l->verdicts[id] == KEEP;
}

static bool
pattern_is_found(const struct probe_list *l, tnf_stream_t *s, const char *pattern)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(s); i++)
		if (probe_list_matches(l, tnf_stream_probe(s, i), pattern))
			return true;
	return i == 0;
}

const char *
probe_list_begin(struct probe_list *l, tnf_stream_t *s)
{
	l->n_verdicts = 0;
	for (unsigned i = 0; i < l->n; i++)
		if (!pattern_is_found(l, s, l->patterns[i]))
			return l->patterns[i];
	return NULL;
}

void
probe_list_free(struct probe_list *l)
{
	while (l->n > 0)
		free(l->patterns[--l->n]);
	free(l->patterns);
	free(l->verdicts);
}

bool
probe_list_add(struct probe_list *l, const char *list)
{
	char *copy = tnf_xstrdup(list), *next = copy, *word;
	bool good = true;

	while (good && (word = strsep(&next, ",")) != NULL) {
		if (!(good = *word != '\0'))
			break;
		l->patterns = tnf_xreallocarray(l->patterns, l->n + 1,
		    sizeof(char *));
		l->patterns[l->n++] = tnf_xstrdup(word);
	}
	free(copy);
	return good;
}
