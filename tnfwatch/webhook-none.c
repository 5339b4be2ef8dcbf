/*
 * webhook-none.c - built without libmicrohttpd or json-c.
 */
#include <stdio.h>

#include "tnfwatch/webhook.h"

struct webhook *
webhook_open(const char *address, webhook_fn *fn, void *arg, char why[WEBHOOK_WHY])
{
	snprintf(why, WEBHOOK_WHY, "this tnfwatch was built without libmicrohttpd and json-c");
	return NULL;
}

void
webhook_close(struct webhook *w)
{
}

void
webhook_forked(struct webhook *w)
{
}

int
webhook_fd(const struct webhook *w)
{
	return -1;
}

void
webhook_run(struct webhook *w)
{
}
