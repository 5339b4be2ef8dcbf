/*
 * hint.c - what was probably meant.
 *
 * A probe or member that is not there is no error: another trace may have it.
 * But who mistypes a name should not have to wonder why nothing comes.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/guess.h"
#include "tnfdump/hint.h"
#include "tnfdump/pairs.h"
#include "tnfdump/perprobe.h"
#include "tnfdump/print.h"
#include "tnfdump/xalloc.h"

static bool
is_member(struct dump *d, const char *name)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(d->stream); i++)
		if (perprobe_member(tnf_stream_probe(d->stream, i), name) >= 0)
			return true;
	return false;
}

static bool
is_probe(struct dump *d, const char *name)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(d->stream); i++)
		if (strcmp(tnf_stream_probe(d->stream, i)->name, name) == 0)
			return true;
	return false;
}

/* The names of all members, NULL behind them. */
static const char **
members(struct dump *d)
{
	const char **list = xcalloc(1, sizeof(*list));
	const struct tnf_probe *p;
	size_t n = 0;
	unsigned i, k;

	for (i = 0; i < tnf_stream_probes(d->stream); i++) {
		p = tnf_stream_probe(d->stream, i);
		list = xreallocarray(list, n + p->n_members + 1, sizeof(*list));
		for (k = 0; k < p->n_members; k++)
			list[n++] = p->members[k].name;
		list[n] = NULL;
	}
	return list;
}

static const char **
probes(struct dump *d)
{
	unsigned i, n = tnf_stream_probes(d->stream);
	const char **list = xcalloc(n + 1, sizeof(*list));

	for (i = 0; i < n; i++)
		list[i] = tnf_stream_probe(d->stream, i)->name;
	return list;
}

/* Frees the list, which has what there is. */
static void
tell(struct dump *d, const char *option, const char *fact, const char *name,
    const char **list)
{
	const char *guess = word_guess(list, name);
	struct out text;

	out_memory(&text);
	if (guess != NULL) {
		out_lit(&text, ": did you mean ");
		print_escaped(&text, guess, strlen(guess));
		out_char(&text, '?');
	}
	out_char(&text, '\0');
	dump_note(d, "--%s: no probe %s %s%s", option, fact, name, text.base);
	out_close(&text);
	free(list);
}

static void
check_member(struct dump *d, const char *option, const char *name)
{
	if (!is_member(d, name))
		tell(d, option, "has a member", name, members(d));
}

static void
check_probe(struct dump *d, const char *option, const char *name)
{
	if (!is_probe(d, name))
		tell(d, option, "has the name", name, probes(d));
}

void
hint_members(struct dump *d, const char *option, const struct expr *e)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = expr_member(e, i)) != NULL; i++)
		check_member(d, option, name);
}

void
hint_pairs(struct dump *d)
{
	const struct pair_rule *rule;
	unsigned i, k;

	for (i = 0; (rule = pairs_rule(d->pairs, i)) != NULL; i++) {
		check_probe(d, "pair", rule->start);
		check_probe(d, "pair", rule->end);
		for (k = 0; k < PAIR_KEYS_MAX && rule->keys[k] != NULL; k++)
			check_member(d, "pair", rule->keys[k]);
	}
}
