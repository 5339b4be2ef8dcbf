/*
 * hint.c - what was probably meant.
 *
 * A member that no probe has is no error: another trace may have it.  But who
 * mistypes a name should not have to wonder why nothing comes.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/guess.h"
#include "tnfdump/hint.h"
#include "tnfdump/perprobe.h"
#include "tnfdump/print.h"
#include "tnfdump/xalloc.h"

static bool
known(struct dump *d, const char *name)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(d->stream); i++)
		if (perprobe_member(tnf_stream_probe(d->stream, i), name) >= 0)
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

static void
tell(struct dump *d, const char *name)
{
	const char **list = members(d), *guess = word_guess(list, name);
	struct out text;

	out_memory(&text);
	if (guess != NULL) {
		out_lit(&text, ": did you mean ");
		print_escaped(&text, guess, strlen(guess));
		out_char(&text, '?');
	}
	out_char(&text, '\0');
	dump_note(d, "--where: no probe has a member %s%s", name, text.base);
	out_close(&text);
	free(list);
}

void
hint_members(struct dump *d, const struct expr *e)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = expr_member(e, i)) != NULL; i++)
		if (!known(d, name))
			tell(d, name);
}
