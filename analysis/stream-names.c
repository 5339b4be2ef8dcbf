/*
 * stream-names.c - names of probes and members that a stream knows, and those that
 * were probably meant.
 */
#include <string.h>

#include "analysis/perprobe.h"
#include "analysis/stream-names.h"
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

/* Frees the list, whose names are the stream's. */
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
