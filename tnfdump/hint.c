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
#include "analysis/stream-names.h"
#include "tnfdump/text/print.h"
#include "common/xalloc.h"

/* ": did you mean NAME?", or nothing, in memory. */
static struct out
hint_guessed(const char *guess)
{
	struct out text;

	out_memory(&text);
	if (guess != NULL) {
		out_lit(&text, ": did you mean ");
		print_escaped(&text, guess, strlen(guess));
		out_char(&text, '?');
	}
	out_char(&text, '\0');
	return text;
}

static void
hint_tell(struct dump *d, const char *option, const char *fact, const char *name,
    const char *guess)
{
	struct out text = hint_guessed(guess);

	dump_note(d, "--%s: no probe %s %s%s", option, fact, name, text.base);
	out_close(&text);
}

static void
check_member(struct dump *d, const char *option, const char *name)
{
	if (!stream_has_member(d->stream, name))
		hint_tell(d, option, "has a member", name, stream_guess_member(d->stream, name));
}

static void
check_probe(struct dump *d, const char *option, const char *name)
{
	if (!stream_has_probe(d->stream, name))
		hint_tell(d, option, "has the name", name, stream_guess_probe(d->stream, name));
}

void
hint_members(struct dump *d, const char *option, const struct expr *e)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = expr_member(e, i)) != NULL; i++)
		check_member(d, option, name);
}

/* Events that lack a member cannot be told apart by it: they pair with none. */
static void
check_key(struct dump *d, const struct pair_rule *rule, const char *member)
{
	const char *lacks = !stream_probe_has(d->stream, rule->start, member) ? rule->start :
	    !stream_probe_has(d->stream, rule->end, member) ? rule->end : NULL;
	bool known = stream_has_member(d->stream, member);

	check_member(d, "pair", member);
	if (known && lacks != NULL)
		dump_note(d, "--pair: %s has no member %s: %s and %s are not "
		    "paired", lacks, member, rule->start, rule->end);
	if (lacks != NULL || !known)
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
	const char **list;
	struct out text;

	for (s = l->s; s < l->s + l->n && !d->diff; s++) {
		if (s->hit)
			continue;
		if (!threads && is_thread(d, s)) {
			dump_note(d, "%s %s: a thread, not a process: --tid %s",
			    option, s->text, s->text);
			continue;
		}
		list = task_names(d, threads);
		text = hint_guessed(s->numbers.n > 0 ? NULL : word_guess(list, s->text));
		dump_note(d, s->numbers.n > 0 ?
		    "%s %s: no event that was read is of that %s%s" :
		    "%s %s: no event that was read is of a %s of that name%s",
		    option, s->text, what, text.base);
		out_close(&text);
		free(list);
	}
}
