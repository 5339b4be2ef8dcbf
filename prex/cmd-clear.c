/*
 * cmd-clear.c - disconnect all functions from probes.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static tnfctl_errcode_t
cmd_clear_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct probe_op *op)
{
	return tnfctl_probe_disconnect_all(h, p, NULL);
}

static enum cmd_result
cmd_clear_run(struct shell *sh, const struct args *a)
{
	return probe_op_run(sh, a, "clear", cmd_clear_apply);
}

const struct cmd cmd_clear = {
	.name = "clear",
	.usage = "$set\nselector ...",
	.summary = "Disconnect all functions from probes",
	.help =
	    "Takes all functions that were connected to the selected probes off them.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.run = cmd_clear_run,
};
