/*
 * cmd-source.c - read commands from a file.
 */
#include <string.h>

#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/shell.h"
#include "prex/source.h"

static enum cmd_result
cmd_source_run(struct shell *sh, const struct args *a)
{
	int error = source_push_file(sh, a->name);

	if (error == 0)
		return CMD_DONE;
	/* The reason is on a line of its own: it is not in the message. */
	shell_error(sh, ERROR_SEMANTIC, "cannot open \"%s\"", a->name);
	shell_say(sh, "%s: %s", a->name, strerror(error));
	return CMD_DONE;
}

const struct cmd cmd_source = {
	.name = "source",
	.usage = "'file'",
	.summary = "Read commands from a file",
	.help =
	    "Reads commands from the file, and then goes on here.  Files may source others.\n"
	    "A name with other characters than letters, digits, \"_\", \".\" and \"%\" is quoted.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_FILE,
	.parse = parse_file_name,
	.run = cmd_source_run,
};
