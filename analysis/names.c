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

/* Names to guess among, borrowed. */
struct name_list {
	const char **v;
	size_t	 n, room;
};

static void
name_list_add(struct name_list *l, const char *name)
{
	if (l->n + 1 >= l->room) {
		l->room = l->room == 0 ? 64 : 2 * l->room;
		l->v = tnf_xreallocarray(l->v, l->room, sizeof(*l->v));
	}
	l->v[l->n++] = name;
	l->v[l->n] = NULL;
}

/* The name in the list that is most like 'name'; frees the list. */
static const char *
name_list_guess(struct name_list *l, const char *name)
{
	const char *like = l->n > 0 ? tnf_word_guess(l->v, name) : NULL;

	free(l->v);
	return like;
}

const char *
stream_guess_member(tnf_stream_t *s, const char *name)
{
	struct name_list l = { 0 };

	for (unsigned i = 0; i < tnf_stream_probes(s); i++) {
		const struct tnf_probe *p = tnf_stream_probe(s, i);
		for (unsigned k = 0; k < p->n_members; k++)
			name_list_add(&l, p->members[k].name);
	}
	return name_list_guess(&l, name);
}

const char *
stream_guess_probe(tnf_stream_t *s, const char *name)
{
	struct name_list l = { 0 };

	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		name_list_add(&l, tnf_stream_probe(s, i)->name);
	return name_list_guess(&l, name);
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
	struct name_list l = { 0 };
	size_t n_tasks;

	for (size_t i = 0; i < n; i++) {
		const struct tnf_context_task *t = tnf_context_tasks(c[i], &n_tasks);
		for (size_t k = 0; t != NULL && k < n_tasks; k++)
			if (threads || t[k].tid == t[k].pid)
				name_list_add(&l, t[k].comm);
	}
	return name_list_guess(&l, name);
}
