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
#include "prex/shell.h"

static const char *const words[] = { "on", "off", "add", "delete", NULL };

static bool
cmd_pfilter_parse(struct shell *sh, struct statement *st, struct args *a)
{
	if (!parse_word(sh, st, a))
		return false;
	if (a->word == NULL || a->word[0] == 'o')
		return true;
	return parse_numbers(sh, st, a);
}

static void
cmd_pfilter_show(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;
	pid_t *pids = NULL;
	int i, n = 0;

	if (!kernel_attrs(sh, &attrs))
		return;
	printf("Process filtering is %s\n", attrs.filter_state ? "on" : "off");
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

static void
set_state(struct shell *sh, boolean_t on)
{
	tnfctl_errcode_t err = tnfctl_filter_state_set(sh->target, on);

	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err, "pfilter: ");
}

static enum cmd_result
cmd_pfilter_run(struct shell *sh, const struct args *a)
{
	size_t i;

	if (a->word == NULL)
		cmd_pfilter_show(sh);
	else if (a->word[0] == 'o')
		set_state(sh, strcmp(a->word, "on") == 0 ? B_TRUE : B_FALSE);
	/* As on Solaris, the last one first. */
	for (i = a->n_numbers; i > 0; i--)
		cmd_pfilter_change(sh, a->word[0] == 'a', a->numbers[i - 1]);
	return CMD_DONE;
}

const struct cmd cmd_pfilter = {
	.name = "pfilter",
	.usage = "\non\noff\nadd pid[,pid...]\ndelete pid[,pid...]",
	.summary = "Trace some processes only",
	.help =
	    "While the filter is on, the kernel's probes write about the processes in the\n"
	    "filter set only.  Process 0 stands for threads without a process, such as\n"
	    "interrupts.  The set is kept while the filter is off; a process leaves it when\n"
	    "it exits, and children are not in it.\n",
	.modes = MODE_KERNEL,
	.words = words,
	.complete = COMPLETE_WORDS,
	.parse = cmd_pfilter_parse,
	.run = cmd_pfilter_run,
};
