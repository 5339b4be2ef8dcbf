/*
 * cmd-list.c - list probes, and what has been said about them.
 */
#include <string.h>

#include "prex/cmd.h"
#include "prex/list.h"
#include "prex/parse.h"
#include "prex/shell.h"
#include "prex/util.h"

static const char *const words[] = {
	"sets", "fcns", "history", "tracefile", "probes", "values", NULL
};

static void (*const lists[])(struct shell *, const struct args *) = {
	list_sets, list_fcns, list_history, list_tracefile, list_probes,
	list_values
};

/* An identifier before "probes" is an attribute.  One can only be short for a
   word of ours where otherwise there would be no such word. */
static bool
cmd_list_abbreviates(const struct statement *st, const struct token *tok,
    const char *word)
{
	if (tok->kind != TOK_IDENT ||
	    strncmp(word, tok->text, strlen(tok->text)) != 0)
		return false;
	for (size_t i = st->next; i < st->n; i++)
		if (token_is_word(&st->v[i], "probes"))
			return false;
	return true;
}

/* Who leaves out "probes" has written what is to be listed among the attributes. */
static void
hint_probes(struct statement *st, const struct token *tok)
{
	if (tok->kind == TOK_SET)
		statement_hint(st, tnf_xasprintf("list: \"probes\" is missing: "
		    "list probes %s", tok->text));
	else if (tok->kind == TOK_EQUAL)
		statement_hint(st, tnf_xstrdup("list: \"probes\" is missing: "
		    "list probes attribute=value"));
}

static bool
parse_probes(struct shell *sh, struct statement *st, struct args *a)
{
	for (;;) {
		const struct token *tok = statement_peek(st);

		if (token_is_word(tok, "probes") || cmd_list_abbreviates(st, tok, "probes")) {
			st->next++;
			a->word = "probes";
			return parse_target(sh, st, a);
		}
		if (!parse_spec(sh, st, a)) {
			hint_probes(st, tok);
			return false;
		}
	}
}

static bool
cmd_list_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);

	if (token_is_word(tok, "probes") ||
	    (tok->kind != TOK_WORD && st->n > 2 && !cmd_list_abbreviates(st, tok, "values")))
		return parse_probes(sh, st, a);
	if (tok->kind != TOK_WORD && tok->kind != TOK_IDENT)
		return parse_probes(sh, st, a);
	if ((a->word = parse_one_of(st, words)) == NULL)
		return tok->kind == TOK_IDENT && parse_probes(sh, st, a);
	if (strcmp(a->word, "probes") == 0)
		return parse_target(sh, st, a);
	return strcmp(a->word, "values") != 0 || parse_specs(sh, st, a);
}

static enum cmd_result
cmd_list_run(struct shell *sh, const struct args *a)
{
	for (size_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], a->word) == 0)
			lists[i](sh, a);
	return CMD_DONE;
}

const struct cmd cmd_list = {
	.name = "list",
	.usage = "[attribute ...] probes $set\n"
	    "[attribute ...] probes selector ...\n"
	    "values attribute ...\n"
	    "sets\nfcns\nhistory\ntracefile",
	.summary = "List probes, attribute values, sets, functions, ...",
	.help =
	    "Lists the selected probes with the given attributes (without any: name enable\n"
	    "trace file line funcs), the values that attributes have in all probes, the\n"
	    "sets, the functions, the probe commands given so far, or the name of the trace\n"
	    "file.  \"list /.*/ probes $all\" shows everything; words of the language are\n"
	    "quoted, as in  list name 'enable' probes $all .\n",
	.modes = MODE_BOTH,
	.words = words,
	.complete = COMPLETE_LIST,
	.parse = cmd_list_parse,
	.run = cmd_list_run,
};
