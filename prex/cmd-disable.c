/*
 * cmd-disable.c - switch probes off.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static tnfctl_errcode_t
cmd_disable_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct probe_op *op)
{
	return tnfctl_probe_disable(h, p, NULL);
}

static enum cmd_result
cmd_disable_run(struct shell *sh, const struct args *a)
{
	return probe_op_run(sh, a, "disable", cmd_disable_apply);
}

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
	.run = cmd_disable_run,
};
