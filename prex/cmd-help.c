/*
 * cmd-help.c - tell about commands and topics.
 */
#include <stdio.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"
#include "prex/topic.h"
#include "prex/util.h"

static bool
cmd_help_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);

	if (statement_at_end(st))
		return true;
	if (tok->kind != TOK_IDENT &&
	    (tok->kind != TOK_WORD || cmd_find(tok->text) == NULL))
		return false;
	st->next++;
	a->name = tok->value;
	return true;
}

static void
list_commands(const char *title, unsigned modes)
{
	printf("\n%s\n", title);
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if ((*c)->modes == modes)
			printf("    %-10s %s\n", (*c)->name, (*c)->summary);
}

static void
cmd_help_summary(void)
{
	puts("usage: help [topic | command]");
	fputs("\nTopics:\n   ", stdout);
	for (const struct topic *t = topics; t->name != NULL; t++)
		printf(" %s", t->name);
	putchar('\n');
	list_commands("Commands:", MODE_BOTH);
	list_commands("Commands for processes only:", MODE_USER);
	list_commands("Commands for the kernel only (prex -k):", MODE_KERNEL);
}

static void
cmd_help_print_usage(const struct cmd *c)
{
	const char *form = c->usage, *start = "usage:";
	size_t len;

	for (;; form += len + 1) {
		len = strcspn(form, "\n");
		printf("%s %s%s%.*s\n", start, c->name, len > 0 ? " " : "",
		    (int)len, form);
		start = "      ";
		if (form[len] == '\0')
			break;
	}
}

static bool
help_command(const char *name)
{
	const struct cmd *c = cmd_find(name);

	if (c == NULL)
		return false;
	cmd_help_print_usage(c);
	printf("\n%s\nCommand: %s\n", c->help, c->name);
	return true;
}

static bool
help_topic(const char *name)
{
	for (const struct topic *t = topics; t->name != NULL; t++)
		if (strcmp(t->name, name) == 0) {
			printf("%s\nTopic: %s\n", t->help, t->name);
			return true;
		}
	return false;
}

static enum cmd_result
cmd_help_run(struct shell *sh, const struct args *a)
{
	if (a->name == NULL)
		cmd_help_summary();
	else if (!help_command(a->name) && !help_topic(a->name)) {
		printf("No help for %s\n", a->name);
		cmd_help_summary();
	}
	return CMD_DONE;
}

const struct cmd cmd_help = {
	.name = "help",
	.usage = "[topic | command]",
	.summary = "Tell about commands and topics",
	.help =
	    "Without a word, lists the commands and topics there are.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_HELP,
	.parse = cmd_help_parse,
	.run = cmd_help_run,
};
