/*
 * parse.c - the grammar that commands share.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "parse.h"
#include "shell.h"
#include "statement.h"
#include "util.h"

bool
parse_nothing(struct shell *sh, struct statement *st, struct args *a)
{
	return true;
}

const char *
parse_one_of(struct statement *st, const char *const *words)
{
	const struct token *tok = statement_peek(st);
	const char *word = NULL, *guess;
	char *list;

	if (tok->kind != TOK_IDENT && tok->kind != TOK_WORD)
		return NULL;
	switch (word_find(words, tok->text, &word)) {
	case WORD_ONE:
		st->next++;
		return word;
	case WORD_SEVERAL:
		list = word_candidates(words, tok->text);
		st->hint = xasprintf("ambiguous: %s", list);
		free(list);
		return NULL;
	case WORD_NONE:
		break;
	}
	if ((guess = word_guess(words, tok->text)) != NULL)
		st->hint = xasprintf("did you mean \"%s\"?", guess);
	return NULL;
}

/* At most one of the command's own words. */
bool
parse_word(struct shell *sh, struct statement *st, struct args *a)
{
	const struct cmd *c = cmd_find(st->v[0].value);

	if (statement_at_end(st))
		return true;
	return (a->word = parse_one_of(st, c->words)) != NULL;
}

static bool
take_spec(struct shell *sh, struct statement *st, struct spec *spec)
{
	const struct token *tok = statement_peek(st);

	if (tok->kind != TOK_IDENT && tok->kind != TOK_QSTR &&
	    tok->kind != TOK_REGEX)
		return false;
	st->next++;
	if (!spec_init(spec, tok->value, tok->kind == TOK_REGEX))
		shell_error(sh, ERROR_SEMANTIC, "invalid regular expression");
	return true;
}

bool
parse_spec(struct shell *sh, struct statement *st, struct args *a)
{
	struct spec spec;

	if (!take_spec(sh, st, &spec))
		return false;
	specs_add(&a->specs, spec);
	return true;
}

bool
parse_specs(struct shell *sh, struct statement *st, struct args *a)
{
	while (parse_spec(sh, st, a))
		;
	return true;
}

bool
parse_selectors(struct shell *sh, struct statement *st, struct args *a)
{
	struct spec attr, value;

	if (a->selectors == NULL)
		a->selectors = selectors_new();
	while (take_spec(sh, st, &attr)) {
		if (statement_take(st, TOK_EQUAL) == NULL) {
			value = attr;
			spec_init(&attr, "keys", false);
		} else if (!take_spec(sh, st, &value)) {
			spec_free(&attr);
			return false;
		}
		selectors_add(a->selectors, attr, value);
	}
	return true;
}

bool
parse_target(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_SET);

	if (tok == NULL)
		return parse_selectors(sh, st, a);
	a->set = tok->value;
	return true;
}

bool
parse_numbers(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;
	long *v = NULL;

	do {
		if ((tok = statement_take(st, TOK_INT)) == NULL) {
			free(v);
			return false;
		}
		v = xreallocarray(v, a->n_numbers + 1, sizeof *v);
		v[a->n_numbers++] = tok->number;
	} while (statement_take(st, TOK_COMMA) != NULL);
	a->numbers = v;
	return true;
}

void
args_free(struct args *a)
{
	selectors_unref(a->selectors);
	specs_free(&a->specs);
	free((long *)a->numbers);
}
