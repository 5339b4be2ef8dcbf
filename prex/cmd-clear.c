/*
 * cmd-clear.c - disconnect all functions from probes.
 */
#include "prex/cmd.h"
#include "prex/parse.h"

const struct cmd cmd_clear = {
	.name = "clear",
	.usage = "$set\nselector ...",
	.summary = "Disconnect all functions from probes",
	.help =
	    "Takes all functions that were connected to the selected probes off them.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_disconnect_all,
};
