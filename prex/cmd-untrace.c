/*
 * cmd-untrace.c - let probes write no records.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static tnfctl_errcode_t
cmd_untrace_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct probe_op *op)
{
	return tnfctl_probe_untrace(h, p, NULL);
}

static enum cmd_result
cmd_untrace_run(struct shell *sh, const struct args *a)
{
	return probe_op_run(sh, a, "untrace", cmd_untrace_apply);
}

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
	.run = cmd_untrace_run,
};
