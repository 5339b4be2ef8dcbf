/*
 * fast-none.c - a machine without fast probes, or a library without imported ones.
 */
#include "libtnfctl/fast.h"

static const char none[] = "this machine has no fast probes";

const char *
tnfctl_fast_none(tnfctl_handle_t *h, bool run)
{
	return none;
}

bool
tnfctl_fast_any(const tnfctl_handle_t *h)
{
	return false;
}

tnfctl_errcode_t
tnfctl_fast_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	return tnfctl_wrong_kind(none);
}

tnfctl_errcode_t
tnfctl_fast_make(tnfctl_handle_t *h, tnfctl_probe_t *p, bool others)
{
	return tnfctl_wrong_kind(none);
}

tnfctl_errcode_t
tnfctl_fast_where(tnfctl_handle_t *h, const tnfctl_probe_t *p, const char *conditions)
{
	return tnfctl_wrong_kind(none);
}

const char *
tnfctl_fast_return_none(tnfctl_handle_t *h, const char *function)
{
	return none;
}

void
tnfctl_fast_give_up(tnfctl_probe_t *p, const char *why)
{
}

void
tnfctl_fast_settle(tnfctl_handle_t *h)
{
}

void
tnfctl_fast_free(struct fast *f)
{
}

void
tnfctl_room_free(struct fast_room *r)
{
}

tnfctl_probe_t *
tnfctl_fast_at(const tnfctl_handle_t *h, uintptr_t address)
{
	return NULL;
}

void
tnfctl_fast_placed(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
}

struct fast *
tnfctl_fast_function(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    uint64_t address, const char **why)
{
	*why = none;
	return NULL;
}

struct fast *
tnfctl_fast_usdt(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    const struct usdt_probe *p, const char **why)
{
	*why = none;
	return NULL;
}
