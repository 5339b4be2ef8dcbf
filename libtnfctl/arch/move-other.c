/*
 * move-other.c - a machine whose instructions are not known.
 */
#include "libtnfctl/arch/arch.h"

#define UNKNOWN		"the code of this machine is not known"

const bool tnfctl_move_needs_branches = false;

const char *
tnfctl_move_unknown(void)
{
	return UNKNOWN;
}

size_t
tnfctl_move_landing(const uint8_t *bytes, size_t n)
{
	return 0;
}

bool
tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance)
{
	return false;
}

const char *
tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s)
{
	return UNKNOWN;
}

const char *
tnfctl_site_relocate(const struct site *s, uint64_t from, uint64_t pad,
    uint8_t ret[SITE_MOVED_MAX], size_t *length)
{
	return UNKNOWN;
}

uint64_t
tnfctl_site_to_pad(const struct site *s, uint64_t from, uint64_t pad, uint64_t ip)
{
	return 0;
}
