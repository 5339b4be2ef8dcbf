/*
 * names.c - names that streams and contexts know, and guesses at those that they do not.
 */
#include <string.h>

#include "analysis/attrs.h"
#include "analysis/match.h"
#include "analysis/names.h"
#include "common/text.h"
#include "common/xalloc.h"

bool
stream_has_member(tnf_stream_t *s, const char *name)
{
	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		if (perprobe_member(tnf_stream_probe(s, i), name) >= 0)
			return true;
	return false;
}

bool
stream_has_probe(tnf_stream_t *s, const char *name)
{
	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		if (strcmp(tnf_stream_probe(s, i)->name, name) == 0)
			return true;
	return false;
}

bool
stream_probe_has(tnf_stream_t *s, const char *probe, const char *member)
{
	bool there = false;

	for (unsigned i = 0; i < tnf_stream_probes(s); i++) {
		const struct tnf_probe *p = tnf_stream_probe(s, i);
		if (strcmp(p->name, probe) != 0)
			continue;
		if (perprobe_member(p, member) >= 0)
			return true;
		there = true;
	}
	return !there;
}

/* The name of the list that is most like 'name'; frees the list, but not the stream's names. */
static const char *
stream_names_guess(const char *name, const char **list)
{
	const char *like = tnf_word_guess(list, name);

	free(list);
	return like;
}

const char *
stream_guess_member(tnf_stream_t *s, const char *name)
{
	const char **list = tnf_xcalloc(1, sizeof(*list));
	size_t n = 0;

	for (unsigned i = 0; i < tnf_stream_probes(s); i++) {
		const struct tnf_probe *p = tnf_stream_probe(s, i);
		list = tnf_xreallocarray(list, n + p->n_members + 1, sizeof(*list));
		for (unsigned k = 0; k < p->n_members; k++)
			list[n++] = p->members[k].name;
		list[n] = NULL;
	}
	return stream_names_guess(name, list);
}

const char *
stream_guess_probe(tnf_stream_t *s, const char *name)
{
	unsigned i, n = tnf_stream_probes(s);
	const char **list = tnf_xcalloc(n + 1, sizeof(*list));

	for (i = 0; i < n; i++)
		list[i] = tnf_stream_probe(s, i)->name;
	return stream_names_guess(name, list);
}

bool
task_names_thread(const tnf_context_t *const *c, size_t n, const struct selector *s)
{
	size_t n_tasks;

	for (size_t i = 0; i < n; i++) {
		const struct tnf_context_task *t = tnf_context_tasks(c[i], &n_tasks);
		for (size_t k = 0; t != NULL && k < n_tasks; k++)
			if (t[k].tid != t[k].pid && (s->numbers.n == 0 ?
			    match_glob(s->text, t[k].comm) :
			    ranges_has(&s->numbers, (uint64_t)t[k].tid)))
				return true;
	}
	return false;
}

const char *
task_names_guess(const tnf_context_t *const *c, size_t n, const char *name, bool threads)
{
	const struct tnf_context_task *t;
	const char **list = tnf_xcalloc(1, sizeof(*list)), *like;
	size_t n_names = 0, n_tasks;

	for (size_t i = 0; i < n; i++) {
		if ((t = tnf_context_tasks(c[i], &n_tasks)) == NULL)
			continue;
		list = tnf_xreallocarray(list, n_names + n_tasks + 1, sizeof(*list));
		for (size_t k = 0; k < n_tasks; k++)
			if (threads || t[k].tid == t[k].pid)
				list[n_names++] = t[k].comm;
		list[n_names] = NULL;
	}
	like = tnf_word_guess(list, name);
	free(list);
	return like;
}
