/*
 * cmd-create.c - name a selector list or a function.
 */
#include <string.h>

#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"

static bool
cmd_create_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;

	if ((tok = statement_take(st, TOK_SET)) != NULL) {
		a->set = tok->value;
		return parse_selectors(sh, st, a);
	}
	if ((tok = statement_take(st, TOK_FCN)) == NULL)
		return false;
	a->fcn = tok->value;
	if ((tok = statement_take(st, TOK_IDENT)) == NULL &&
	    (tok = statement_take(st, TOK_QSTR)) == NULL)
		return false;
	a->name = tok->value;
	return true;
}

static enum cmd_result
cmd_create_run(struct shell *sh, const struct args *a)
{
	if (a->set == NULL) {
		names_define_fcn(&sh->fcns, a->fcn, a->name);
	} else if (strcmp(a->set, "all") == 0) {
		/* "enable $all" is to mean all probes, whoever comes next. */
		shell_error(sh, ERROR_SEMANTIC,
		    "$all is every probe: choose another name");
	} else {
		names_define_set(&sh->sets, a->set, a->selectors);
		if (a->selectors->n == 0)
			shell_warn(sh, "$%s: an empty set selects no probe",
			    a->set);
	}
	return CMD_DONE;
}

const struct cmd cmd_create = {
	.name = "create",
	.usage = "$set selector ...\n&function symbol",
	.summary = "Name a list of selectors, or a function",
	.help =
	    "Gives a list of selectors, or a function of the target, a name for later\n"
	    "commands.  What had that name before is replaced, but for $all; commands given\n"
	    "already are not affected.  The function is looked up when it is connected.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_CREATE,
	.parse = cmd_create_parse,
	.run = cmd_create_run,
};
