/*
 * cmd-enable.c - switch probes on.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static tnfctl_errcode_t
cmd_enable_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct probe_op *op)
{
	return tnfctl_probe_enable(h, p, NULL);
}

static enum cmd_result
cmd_enable_run(struct shell *sh, const struct args *a)
{
	return probe_op_run(sh, a, "enable", cmd_enable_apply);
}

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
	.run = cmd_enable_run,
};
