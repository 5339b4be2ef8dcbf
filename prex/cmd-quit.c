/*
 * cmd-quit.c - leave prex.
 */
#include <string.h>

#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"

static const char *const words[] = { "kill", "resume", "suspend", NULL };

static enum cmd_result
cmd_quit_run(struct shell *sh, const struct args *a)
{
	sh->at_quit = TNFCTL_TARG_DEFAULT;
	if (a->word == NULL)
		return CMD_QUIT;
	if (strcmp(a->word, "kill") == 0)
		sh->at_quit = TNFCTL_TARG_KILL;
	else if (strcmp(a->word, "resume") == 0)
		sh->at_quit = TNFCTL_TARG_RESUME;
	else
		sh->at_quit = TNFCTL_TARG_SUSPEND;
	return CMD_QUIT;
}

const struct cmd cmd_quit = {
	.name = "quit",
	.usage = "\nkill\nresume\nsuspend",
	.summary = "Leave prex and decide about the target",
	.help =
	    "Without a word, a target that prex started is killed, and one that it attached\n"
	    "to runs on.  With a word, the target is killed, runs on free, or stays stopped\n"
	    "until another prex lets it run, or it gets a SIGCONT (kill -CONT).\n"
	    "Probes keep their state and go on writing.  All that prex -k set in the kernel\n"
	    "stays in force.\n",
	.modes = MODE_BOTH,
	.words = words,
	.complete = COMPLETE_WORDS,
	.parse = parse_word,
	.run = cmd_quit_run,
};
