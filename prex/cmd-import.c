/*
 * cmd-import.c - probes of a file, in whatever process runs it.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"

static enum cmd_result
cmd_import_run(struct shell *sh, const struct args *a)
{
	tnfctl_errcode_t err = tnfctl_import_add(sh->target, "usdt", a->name);

	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err, "error in importing probes: ");
	return CMD_DONE;
}

const struct cmd cmd_import = {
	.name = "import",
	.usage = "'file'",
	.summary = "Have the probes of a program or library",
	.help =
	    "From now on the USDT probes of the file are among those that list, enable and\n"
	    "trace choose from: \"list probes keys=usdt\" shows them; and so are functions of it\n"
	    "that are asked for, as in \"enable function=/^malloc/\".  They are hit in every\n"
	    "process that runs the file, also in those that start later.  Where exceptions\n"
	    "may pass, a return that is traced would end the program: it is there for who\n"
	    "asks for it, as in \"enable return=malloc\".  A name with other characters than\n"
	    "letters, digits, \"_\", \".\" and \"%\" is quoted.\n",
	.modes = MODE_KERNEL,
	.complete = COMPLETE_FILE,
	.parse = parse_file_name,
	.run = cmd_import_run,
};
