/*
 * cmd.c - the table of commands, and the one way from a statement to its command.
 */
#include "prex/shell.h"

#define COMMANDS(X)							\
	X(buffer) X(clear) X(connect) X(continue) X(create) X(disable)	\
	X(enable) X(freeze) X(help) X(import) X(ktrace) X(list) X(mark) X(pfilter)	\
	X(quit) X(remove) X(source) X(trace) X(untrace)

#define X(name) extern const struct cmd cmd_##name;
COMMANDS(X)
#undef X

#define X(name) &cmd_##name,
const struct cmd *const cmds[] = { COMMANDS(X) NULL };
#undef X

#define X(name) #name,
static const char *const names[] = { COMMANDS(X) NULL };
#undef X
const char *const *const cmd_names = names;

const struct cmd *
cmd_find(const char *name)
{
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static bool
cmd_has_word(const struct cmd *c, const char *word)
{
	if (strcmp(c->name, word) == 0)
		return true;
	for (const char *const *w = c->words; w != NULL && *w != NULL; w++)
		if (strcmp(*w, word) == 0)
			return true;
	return false;
}

bool
cmd_reserves(const char *word)
{
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if (!(*c)->is_free && cmd_has_word(*c, word))
			return true;
	/* No command uses it, but Solaris reserved it. */
	return strcmp(word, "filter") == 0;
}

static void
syntax_error(struct shell *sh, const struct statement *st)
{
	const struct token *tok = statement_peek(st);
	/* The end of a line is a token like any other, and printed as a newline. */
	char *text = tok->kind == TOK_END && *tok->text != ';' ?
	    tnf_xstrdup("\n") : printable(tok->text);

	fflush(stdout);
	shell_print_place(sh, tok->line);
	fprintf(stderr, "syntax error on or before \"%s\"\n", text);
	if (*tok->text == '\r')
		shell_say(sh, "\\r: lines end as in DOS: take the carriage returns out (dos2unix)");
	else if (*tok->text == ';' && tok->kind == TOK_BAD)
		shell_say(sh, ";: ends a command in -c alone: here each has a line of its own");
	else if (*tok->text == '"' && tok->kind == TOK_BAD)
		shell_say(sh, "\": texts are in single quotes: 'a text'");
	else if (st->hint != NULL)
		shell_say(sh, "%s", st->hint);
	free(text);
	sh->failed = true;
}

/* Writes the whole name of the command into the first token, where parsers look for it. */
static const struct cmd *
expand_command(struct statement *st)
{
	const char *name = parse_one_of(st, cmd_names);

	if (name == NULL)
		return NULL;
	free(st->v[0].value);
	st->v[0].value = tnf_xstrdup(name);
	return cmd_find(name);
}

static enum cmd_result
dispatch_run(struct shell *sh, const struct cmd *c, const struct args *a)
{
	/* After a bad regular expression, an interactive user may still want the rest. */
	if (sh->failed && !sh->interactive)
		return CMD_DONE;
	/* Commands for processes do no harm in kernel mode, and Solaris allowed them. */
	if (c->modes == MODE_KERNEL && sh->mode != MODE_KERNEL) {
		shell_error(sh, ERROR_PLAIN, "This command is only available "
		    "in kernel mode (prex invoked with the -k flag)");
		return CMD_DONE;
	}
	return c->apply != NULL ? probe_op_run(sh, c, a) : c->run(sh, a);
}

enum cmd_result
dispatch(struct shell *sh, struct statement *st)
{
	enum cmd_result result = CMD_DONE;
	const struct cmd *c;
	struct args a = { 0 };

	if (st->n == 0)
		return CMD_DONE;
	sh->now = st;
	c = expand_command(st);
	if (c != NULL && (c->parse == NULL || c->parse(sh, st, &a)) && statement_at_end(st))
		result = dispatch_run(sh, c, &a);
	else
		syntax_error(sh, st);
	args_free(&a);
	sh->now = NULL;
	return result;
}
