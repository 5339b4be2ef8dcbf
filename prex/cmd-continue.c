/*
 * cmd-continue.c - let the target run.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"

static enum cmd_result
cmd_continue_run(struct shell *sh, const struct args *a)
{
	/* The kernel never stopped. */
	if (sh->mode == MODE_KERNEL)
		return CMD_DONE;
	return trace_make(sh) ? CMD_CONTINUE : CMD_DONE;
}

const struct cmd cmd_continue = {
	.name = "continue",
	.usage = "",
	.summary = "Let the target run until Ctrl-C",
	.help =
	    "Lets the target run.  Ctrl-C stops it and brings the prompt back; the target\n"
	    "does not see that signal.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_NOTHING,
	.parse = parse_nothing,
	.run = cmd_continue_run,
};
