/*
 * fleet-none.c - tnfwatch that was built without libnats.
 */
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

static int
none_run(const struct watch_options *o, int argc, char **argv)
{
	say("built without libnats: many machines cannot be asked");
	return 1;
}

const struct watch_command command_agent = {
	.name = "agent", .usage = "", .run = none_run, .help = "not built in: needs libnats"
};
const struct watch_command command_ask = {
	.name = "ask", .usage = "[OPTION ...] -o DIRECTORY", .max = 64, .run = none_run,
	.help = "not built in: needs libnats"
};
