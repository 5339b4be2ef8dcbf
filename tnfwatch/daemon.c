/*
 * daemon.c - tnfwatch in the foreground.
 */
#include <stdio.h>

#include "tnfwatch/config.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

int
watch_run(const struct watch_options *o)
{
	struct config *c = config_read(o->config, stderr);

	if (c == NULL)
		return 1;
	config_free(c);
	return 1;
}
