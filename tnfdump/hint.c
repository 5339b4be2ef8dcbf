/*
 * hint.c - messages about names that are not there, with the names that were probably
 * meant.
 *
 * A probe or member that is not there is no error, since another trace may have it; but a
 * message says so, in case the name was mistyped.  Only a member that would pair events
 * wrongly is an error.
 */
#include "tnfdump/pipeline.h"
#include "tnfdump/origin.h"
#include "analysis/names.h"
#include "tnfdump/text/pretty.h"

/* ": did you mean NAME?", or nothing, in memory. */
static struct out
hint_guessed(const char *guess)
{
	struct out text;

	tnf_out_memory(&text);
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
	tnf_out_close(&text);
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

	for (unsigned i = 0; (name = expr_member(e, i)) != NULL; i++)
		check_member(d, option, name);
}

/* Events that lack the member that tells pairs apart would pair with none: an error. */
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

	for (unsigned i = 0; (rule = pairs_rule(d->pairs, i)) != NULL; i++) {
		check_probe(d, "pair", rule->start);
		check_probe(d, "pair", rule->end);
		for (unsigned k = 0; k < PAIR_KEYS_MAX && rule->keys[k] != NULL; k++)
			check_key(d, rule, rule->keys[k]);
	}
}

/* The contexts of the run's files, without the files that have none. */
static const tnf_context_t **
hint_contexts(struct dump *d, size_t *n)
{
	const tnf_context_t **list = tnf_xcalloc(d->n_inputs + 1, sizeof(*list));

	*n = 0;
	for (unsigned i = 0; i < d->n_inputs; i++)
		if ((list[*n] = origin_context(d, d->inputs[i].file)) != NULL)
			++*n;
	return list;
}

void
hint_tasks(struct dump *d, const char *option, const struct selectors *l,
    bool threads)
{
	const char *what = threads ? "thread" : "process";
	const tnf_context_t **list = NULL;
	struct out text;
	size_t n = 0;

	for (const struct selector *s = l->s; s < l->s + l->n && !d->diff; s++) {
		if (s->hit)
			continue;
		if (list == NULL)
			list = hint_contexts(d, &n);
		if (!threads && task_names_thread(list, n, s)) {
			dump_note(d, "%s %s: a thread, not a process: --tid %s",
			    option, s->text, s->text);
			continue;
		}
		text = hint_guessed(s->numbers.n > 0 ? NULL :
		    task_names_guess(list, n, s->text, threads));
		dump_note(d, s->numbers.n > 0 ?
		    "%s %s: no event that was read is of that %s%s" :
		    "%s %s: no event that was read is of a %s of that name%s",
		    option, s->text, what, text.base);
		tnf_out_close(&text);
	}
	free(list);
}
