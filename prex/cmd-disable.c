/*
 * cmd-disable.c - switch probes off.
 */
#include "prex/cmd.h"
#include "prex/parse.h"

const struct cmd cmd_disable = {
	.name = "disable",
	.usage = "$set\nselector ...",
	.summary = "Switch probes off",
	.help =
	    "Makes the selected probes inactive: nothing happens there, whatever else was\n"
	    "set for them.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_disable,
};
