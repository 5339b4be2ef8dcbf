/*
 * cmd-connect.c - connect a function of the target to probes.
 */
#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"

static bool
cmd_connect_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_FCN);

	if (tok == NULL)
		return false;
	a->fcn = tok->value;
	return parse_target(sh, st, a);
}

static tnfctl_errcode_t
cmd_connect_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct probe_op *op = arg;

	return tnfctl_probe_connect(h, p, NULL, op->symbol);
}

const struct cmd cmd_connect = {
	.name = "connect",
	.usage = "&function $set\n&function selector ...",
	.summary = "Connect a function of the target to probes",
	.help =
	    "The function runs each time one of the selected probes is hit while it is\n"
	    "enabled, before those that were connected earlier.  Connected twice, it runs\n"
	    "twice.  &debug prints the probe and its arguments on the target's standard\n"
	    "error; \"help functions\" tells how to name others.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_CONNECT,
	.parse = cmd_connect_parse,
	.apply = cmd_connect_apply,
};
