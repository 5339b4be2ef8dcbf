/*
 * hint.c - what was probably meant.
 *
 * A probe or member that is not there is no error: another trace may have it.
 * But who mistypes a name should not have to wonder why nothing comes.  Only
 * what would be paired wrongly is one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/guess.h"
#include "tnfdump/hint.h"
#include "tnfdump/input.h"
#include "analysis/match.h"
#include "tnfdump/origin.h"
#include "analysis/pairs.h"
#include "analysis/perprobe.h"
#include "tnfdump/text/print.h"
#include "common/xalloc.h"

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
hint_probes(struct dump *d)
{
	unsigned i, n = tnf_stream_probes(d->stream);
	const char **list = xcalloc(n + 1, sizeof(*list));

	for (i = 0; i < n; i++)
		list[i] = tnf_stream_probe(d->stream, i)->name;
	return list;
}

/* ": did you mean NAME?", or nothing, in memory.  Frees the list. */
static struct out
hint_guessed(const char *name, const char **list)
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
	free(list);
	return text;
}

/* Frees the list, which has what there is. */
static void
hint_tell(struct dump *d, const char *option, const char *fact, const char *name,
    const char **list)
{
	struct out text = hint_guessed(name, list);

	dump_note(d, "--%s: no probe %s %s%s", option, fact, name, text.base);
	out_close(&text);
}

static void
check_member(struct dump *d, const char *option, const char *name)
{
	if (!is_member(d, name))
		hint_tell(d, option, "has a member", name, members(d));
}

static void
check_probe(struct dump *d, const char *option, const char *name)
{
	if (!is_probe(d, name))
		hint_tell(d, option, "has the name", name, hint_probes(d));
}

void
hint_members(struct dump *d, const char *option, const struct expr *e)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = expr_member(e, i)) != NULL; i++)
		check_member(d, option, name);
}

/* Has some definition of the probe the member?  Or is there no such probe. */
static bool
probe_has(struct dump *d, const char *probe, const char *member)
{
	const struct tnf_probe *p;
	bool there = false;

	for (unsigned i = 0; i < tnf_stream_probes(d->stream); i++) {
		p = tnf_stream_probe(d->stream, i);
		if (strcmp(p->name, probe) != 0)
			continue;
		if (perprobe_member(p, member) >= 0)
			return true;
		there = true;
	}
	return !there;
}

/* Events that lack a member cannot be told apart by it: they pair with none. */
static void
check_key(struct dump *d, const struct pair_rule *rule, const char *member)
{
	const char *lacks = !probe_has(d, rule->start, member) ? rule->start :
	    !probe_has(d, rule->end, member) ? rule->end : NULL;

	if (!is_member(d, member))
		hint_tell(d, "pair", "has a member", member, members(d));
	else if (lacks != NULL)
		dump_note(d, "--pair: %s has no member %s: %s and %s are not "
		    "paired", lacks, member, rule->start, rule->end);
	if (lacks != NULL || !is_member(d, member))
		d->status = STATUS_ERROR;
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
			check_key(d, rule, rule->keys[k]);
	}
}

/* The names of all tasks of all files that are processes, or all. */
static const char **
task_names(struct dump *d, bool threads)
{
	const struct tnf_context_task *t;
	const char **list = xcalloc(1, sizeof(*list));
	const tnf_context_t *c;
	size_t n = 0, m;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		c = origin_context(d, d->inputs[i].file);
		t = c != NULL ? tnf_context_tasks(c, &m) : NULL;
		if (t == NULL)
			continue;
		list = xreallocarray(list, n + m + 1, sizeof(*list));
		for (size_t k = 0; k < m; k++)
			if (threads || t[k].tid == t[k].pid)
				list[n++] = t[k].comm;
		list[n] = NULL;
	}
	return list;
}

/* Is it the number, or the name, of a thread? */
static bool
is_thread(struct dump *d, const struct selector *s)
{
	const struct tnf_context_task *t;
	const tnf_context_t *c;
	size_t n;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		c = origin_context(d, d->inputs[i].file);
		t = c != NULL ? tnf_context_tasks(c, &n) : NULL;
		for (size_t k = 0; t != NULL && k < n; k++)
			if (t[k].tid != t[k].pid && (s->numbers.n == 0 ?
			    match_glob(s->text, t[k].comm) :
			    ranges_has(&s->numbers, (uint64_t)t[k].tid)))
				return true;
	}
	return false;
}

void
hint_tasks(struct dump *d, const char *option, const struct selectors *l,
    bool threads)
{
	const char *what = threads ? "thread" : "process";
	const struct selector *s;
	struct out text;

	for (s = l->s; s < l->s + l->n && !d->diff; s++) {
		if (s->hit)
			continue;
		if (!threads && is_thread(d, s)) {
			dump_note(d, "%s %s: a thread, not a process: --tid %s",
			    option, s->text, s->text);
			continue;
		}
		text = hint_guessed(s->text, s->numbers.n > 0 ?
		    xcalloc(1, sizeof(char *)) : task_names(d, threads));
		dump_note(d, s->numbers.n > 0 ?
		    "%s %s: no event that was read is of that %s%s" :
		    "%s %s: no event that was read is of a %s of that name%s",
		    option, s->text, what, text.base);
		out_close(&text);
	}
}
