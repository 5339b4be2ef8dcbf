/*
 * history.c - what a ring is about to overwrite, kept for as long as was promised.
 */
#include <stdlib.h>

#include "tnfwatch/history.h"

struct history *
history_new(const struct source *s, const struct history_place *p)
{
	return NULL;
}

void
history_free(struct history *h)
{
}

void
history_tick(struct history *h, const struct source *s, int64_t now)
{
}

int64_t
history_due(const struct history *h, int64_t now)
{
	return INT64_MAX;
}

bool
history_has(const struct history *h, uint32_t block, uint32_t generation)
{
	return false;
}

void
history_status(const struct history *h, struct history_status *ret)
{
	*ret = (struct history_status){ .segments = 0 };
}

int
history_put(const struct history *h, int dir, const char *id, int64_t since,
    void (*fn)(void *arg, const char *name), void *arg)
{
	return 0;
}
