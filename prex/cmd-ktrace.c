/*
 * cmd-ktrace.c - the master switch of the kernel's probes.
 */
#include <stdio.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/kernel.h"
#include "prex/parse.h"
#include "prex/shell.h"

static const char *const words[] = { "on", "off", NULL };

static enum cmd_result
cmd_ktrace_run(struct shell *sh, const struct args *a)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;

	if (a->word == NULL) {
		if (kernel_attrs(sh, &attrs))
			printf("Tracing is %s\n",
			    attrs.trace_state ? "on" : "off");
		return CMD_DONE;
	}
	err = tnfctl_trace_state_set(sh->target,
	    strcmp(a->word, "on") == 0 ? B_TRUE : B_FALSE);
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err,
		    "error in setting tracing state: ");
	return CMD_DONE;
}

const struct cmd cmd_ktrace = {
	.name = "ktrace",
	.usage = "\non\noff",
	.summary = "Switch kernel tracing on or off, or tell which it is",
	.help =
	    "No probe of the kernel writes anything unless this switch is on.  The usual\n"
	    "order is: buffer alloc, trace, enable, ktrace on.\n",
	.modes = MODE_KERNEL,
	.words = words,
	.complete = COMPLETE_WORDS,
	.parse = parse_word,
	.run = cmd_ktrace_run,
};
