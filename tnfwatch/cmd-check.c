/*
 * cmd-check.c - tnfwatch check: is the configuration right?
 */
#include "common/printable.h"
#include "tnfwatch/config.h"
#include "tnfwatch/watch.h"

static int
check_run(const struct watch_options *o, int argc, char **argv)
{
	struct config *c = config_read(o->config, stderr);

	if (c == NULL)
		return 1;
	tnf_printable_printf(stdout, "%s: right: %zu [process], %zu [file], %zu [trigger]%s\n",
	    o->config, c->n_processes, c->n_files, c->n_triggers, c->kernel ? ", [kernel]" : "");
	config_free(c);
	return fflush(stdout) == 0 ? 0 : 1;
}

const struct watch_command command_check = {
	.name = "check",
	.usage = "",
	.help = "tell every mistake of the configuration",
	.run = check_run
};
