/*
 * cmd-pfilter.c - the processes that the kernel's probes are about.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/kernel.h"
#include "prex/parse.h"
#include "prex/printable.h"
#include "prex/shell.h"
#include "prex/statement.h"
#include "prex/util.h"

#define EXCEPT	"except"

static const char *const words[] = { "on", "off", "add", "delete", NULL };

/* "except" is no word of the language: it is one only here, and stands alone. */
static bool
is_except(const struct statement *st)
{
	return st->n == 2 && st->v[1].kind == TOK_IDENT && strcmp(st->v[1].text, "except") == 0;
}

/* A rule goes to the end of the command: paths need no quotes. */
static bool
parse_rule(struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_IDENT);
	char *text, *more;

	if (tok == NULL || statement_peek(st)->kind != TOK_EQUAL)
		return false;
	text = tnf_xstrdup(tok->text);
	while (!statement_at_end(st)) {
		tok = &st->v[st->next++];
		more = tnf_xasprintf("%s%s", text, tok->kind == TOK_QSTR ? tok->value : tok->text);
		free(text);
		text = more;
	}
	a->rule = text;
	return true;
}

static bool
cmd_pfilter_parse(struct shell *sh, struct statement *st, struct args *a)
{
	if (is_except(st)) {
		st->next = st->n;
		a->word = EXCEPT;
		return true;
	}
	if (!parse_word(sh, st, a))
		return false;
	if (a->word == NULL || a->word[0] == 'o')
		return true;
	return statement_peek(st)->kind == TOK_INT ? parse_numbers(st, a) : parse_rule(st, a);
}

static void
show_rule(void *arg, const char *rule)
{
	printf("Process filter rule: ");
	print_text(stdout, rule);
	putchar('\n');
}

static void
cmd_pfilter_show(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;
	pid_t *pids = NULL;
	unsigned except = 0;
	int i, n = 0;

	if (!kernel_attrs(sh, &attrs))
		return;
	tnfctl_setting_get(sh->target, "filter_except", &except);
	printf("Process filtering is %s%s\n", attrs.filter_state ? "on" : "off",
	    attrs.filter_state && except ? ", except for the set" : "");
	tnfctl_filter_rule_apply(sh->target, show_rule, NULL);
	err = tnfctl_filter_list_get(sh->target, &pids, &n);
	if (err != TNFCTL_ERR_NONE) {
		shell_tnfctl_error(sh, ERROR_PLAIN, err,
		    "error in getting process filter list: ");
		return;
	}
	if (n == 0)
		puts("Process filter set is empty.");
	for (i = 0; i < n; i++)
		printf("%s%ld%s", i == 0 ? "Process filter set is {" : ", ",
		    (long)pids[i], i == n - 1 ? "}\n" : "");
	free(pids);
}

static void
cmd_pfilter_change(struct shell *sh, bool add, long pid)
{
	tnfctl_errcode_t err;

	/* What the lexer makes of a number that is too large. */
	if (pid < 0 || pid > INT_MAX) {
		shell_error(sh, ERROR_PLAIN, "no process has so large a number: "
		    "ps tells those that there are");
		return;
	}
	err = (add ? tnfctl_filter_list_add :
	    tnfctl_filter_list_delete)(sh->target, pid);
	if (err == TNFCTL_ERR_NONE)
		return;
	if (!add && err == TNFCTL_ERR_NOPROCESS)
		printf("Process %ld has exited\n", pid);
	else
		shell_tnfctl_error(sh, ERROR_PLAIN, err, "Process %ld: ", pid);
}

/* "children=4711" is a process with those that it will have; others are rules. */
static void
change_rule(struct shell *sh, bool add, const char *rule)
{
	tnfctl_errcode_t err;
	char *end = NULL;
	long pid = 0;

	if (strncmp(rule, "children=", 9) == 0 || strncmp(rule, "pid=", 4) == 0) {
		pid = strtol(strchr(rule, '=') + 1, &end, 10);
		if (pid < 1 || pid > INT_MAX || *end != '\0') {
			shell_error(sh, ERROR_PLAIN, "%s: not the number of a process", rule);
			return;
		}
		if (!add || rule[0] == 'p') {
			cmd_pfilter_change(sh, add, pid);
			return;
		}
		err = tnfctl_filter_list_follow(sh->target, (pid_t)pid);
	} else
		err = (add ? tnfctl_filter_rule_add : tnfctl_filter_rule_delete)(sh->target,
		    rule);
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err, "pfilter: ");
}

static void
set_state(struct shell *sh, boolean_t on, bool except)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (on)
		err = tnfctl_setting_set(sh->target, "filter_except", except);
	if (err == TNFCTL_ERR_NONE)
		err = tnfctl_filter_state_set(sh->target, on);

	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err, "pfilter: ");
}

static enum cmd_result
cmd_pfilter_run(struct shell *sh, const struct args *a)
{
	if (a->word == NULL)
		cmd_pfilter_show(sh);
	else if (a->word[0] == 'o' || a->word[0] == 'e')
		set_state(sh, strcmp(a->word, "off") != 0 ? B_TRUE : B_FALSE,
		    a->word[0] == 'e');
	else if (a->rule != NULL)
		change_rule(sh, a->word[0] == 'a', a->rule);
	/* As on Solaris, the last one first. */
	for (size_t i = a->n_numbers; i > 0; i--)
		cmd_pfilter_change(sh, a->word[0] == 'a', a->numbers[i - 1]);
	return CMD_DONE;
}

const struct cmd cmd_pfilter = {
	.name = "pfilter",
	.usage = "\non\noff\nexcept\nadd pid[,pid...]\ndelete pid[,pid...]\n"
	    "add children=pid | name=program | cgroup=/path | unit=name\n"
	    "delete ... (the same)",
	.summary = "Trace some processes only",
	.help =
	    "While the filter is on, the kernel's probes write about the processes in the\n"
	    "filter set only.  Process 0 stands for threads without a process, such as\n"
	    "interrupts.  The set is kept while the filter is off; a process leaves it when\n"
	    "it exits, and children are not in it, unless they are asked for.\n"
	    "Rules put processes into the set as long as they hold: by the name of the program,\n"
	    "by cgroup (with what is in it), by the unit of systemd.  With \"except\", what is\n"
	    "not in the set is recorded.\n",
	.modes = MODE_KERNEL,
	.words = words,
	.complete = COMPLETE_FILTER,
	.parse = cmd_pfilter_parse,
	.run = cmd_pfilter_run,
};
