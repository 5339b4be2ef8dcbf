/*
 * cmd-untrace.c - let probes write no records.
 */
#include "prex/cmd.h"
#include "prex/parse.h"

const struct cmd cmd_untrace = {
	.name = "untrace",
	.usage = "$set\nselector ...",
	.summary = "Let probes write no records",
	.help =
	    "Keeps the selected probes from writing records.  If they are enabled, the\n"
	    "functions connected to them still run.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_untrace,
};
