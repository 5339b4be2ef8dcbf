/*
 * cmd-trace.c - let probes write records.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static tnfctl_errcode_t
cmd_trace_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct probe_op *op)
{
	return tnfctl_probe_trace(h, p, NULL);
}

static enum cmd_result
cmd_trace_run(struct shell *sh, const struct args *a)
{
	return probe_op_run(sh, a, "trace", cmd_trace_apply);
}

const struct cmd cmd_trace = {
	.name = "trace",
	.usage = "$set\nselector ...",
	.summary = "Let probes write records",
	.help =
	    "Lets the selected probes write a record each time they are hit, if they are\n"
	    "enabled as well.  Probes of a process are traced at first, those of the kernel\n"
	    "are not.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.run = cmd_trace_run,
};
