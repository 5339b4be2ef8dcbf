/*
 * shell.c - a session from the first prompt to the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/cmd.h"
#include "prex/dispatch.h"
#include "prex/ending.h"
#include "prex/kernel.h"
#include "prex/shell.h"
#include "prex/source.h"
#include "prex/statement.h"
#include "prex/target.h"

void
shell_init(struct shell *sh, const char *argv0)
{
	memset(sh, 0, sizeof *sh);
	sh->argv0 = argv0;
	sh->mode = MODE_USER;
	sh->at_quit = TNFCTL_TARG_DEFAULT;
	TAILQ_INIT(&sh->sets);
	TAILQ_INIT(&sh->fcns);
}

void
shell_free(struct shell *sh)
{
	while (sh->top != NULL)
		source_pop(sh);
	names_free(&sh->sets);
	names_free(&sh->fcns);
	history_free(&sh->history);
	trace_plan_free(&sh->plan);
}

static void
shell_banner(struct shell *sh)
{
	if (sh->mode == MODE_KERNEL) {
		puts("Type \"help\" for help ...");
		return;
	}
	if (sh->test_mode)
		printf("prex(%ld), target(%ld): ", (long)getpid(),
		    (long)target_pid(sh));
	if (sh->watched)
		puts("Target process runs on");
	else
		puts("Target process stopped");
	puts("Type \"continue\" to resume the target, \"help\" for help ...");
}

enum cmd_result
shell_commands(struct shell *sh)
{
	enum cmd_result r = CMD_DONE;
	struct statement st;

	while (r == CMD_DONE) {
		if (statement_read(sh, &st) == STATEMENT_EOF)
			r = CMD_QUIT;
		else
			r = dispatch(sh, &st);
		statement_free(&st);
		if (sh->failed && !sh->interactive)
			return CMD_QUIT;
		if (r == CMD_DONE)
			kernel_check_filter(sh);
	}
	return r;
}

static enum cmd_result
command_mode(struct shell *sh)
{
	kernel_check_filter(sh);
	shell_banner(sh);
	return shell_commands(sh);
}

int
shell_run(struct shell *sh)
{
	enum target_run run = TARGET_STOPPED;
	bool closed;

	while (run == TARGET_STOPPED && ending_signal() == 0 &&
	    command_mode(sh) == CMD_CONTINUE)
		run = target_run(sh);
	closed = target_close(sh);
	if (!closed || run == TARGET_FAILED)
		return EXIT_FAILURE;
	if (sh->interactive)
		return EXIT_SUCCESS;
	return sh->failed ? EXIT_FAILURE : sh->target_status;
}
