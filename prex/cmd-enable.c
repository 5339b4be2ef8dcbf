/*
 * cmd-enable.c - switch probes on.
 */
#include "prex/cmd.h"
#include "prex/parse.h"

const struct cmd cmd_enable = {
	.name = "enable",
	.usage = "$set\nselector ...",
	.summary = "Switch probes on",
	.help =
	    "Makes the selected probes active: a thread that comes by writes a record if\n"
	    "the probe is traced, and runs the functions that are connected to it.\n"
	    "Probes are disabled at first.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_enable,
};
