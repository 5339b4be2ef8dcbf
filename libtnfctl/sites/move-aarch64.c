/*
 * move-aarch64.c - a branch in place of one nop: nothing moves.
 */
#include <string.h>

#include "libtnfctl/sites/sites.h"

#define NOP		0xd503201fu
#define BRANCH		0x14000000u	/* with 26 bits of distance in instructions */
#define BRANCH_BITS	0x03ffffffu

static uint32_t
instruction(const uint8_t *bytes, size_t n)
{
	uint32_t v = 0;

	if (n >= sizeof v)
		memcpy(&v, bytes, sizeof v);
	return v;
}

const bool tnfctl_move_needs_branches = false;

const char *
tnfctl_move_unknown(void)
{
	return NULL;
}

/* bti, bti c, bti j, bti jc */
size_t
tnfctl_move_landing(const uint8_t *bytes, size_t n)
{
	return (instruction(bytes, n) & ~0xc0u) == 0xd503241fu ? 4 : 0;
}

/* The jump replaces one instruction, and nobody comes back into it. */
size_t
tnfctl_move_first(const uint8_t *bytes, size_t n, struct site *s)
{
	return 0;
}

bool
tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance)
{
	return distance % 4 == 0;
}

const char *
tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s)
{
	if (inside < SITE_JUMP || instruction(bytes, n) != NOP || s->address % 4 != 0)
		return "no nop is there: build it with -fpatchable-function-entry=1";
	s->length = SITE_JUMP;
	s->calls = false;
	s->nops = true;
	memcpy(s->bytes, bytes, SITE_JUMP);
	return NULL;
}

const char *
tnfctl_site_relocate(const struct site *s, uint64_t from, uint64_t pad,
    uint8_t ret[SITE_MOVED_MAX], size_t *length)
{
	int64_t distance = (int64_t)(pad - from);
	uint32_t branch = BRANCH | ((uint32_t)((from + SITE_JUMP - pad) / 4) & BRANCH_BITS);

	if (s->refused != NULL)
		return s->refused;
	if (distance > SITE_REACH || distance < -SITE_REACH)
		return "too far from any pad";
	memcpy(ret, &branch, sizeof branch);
	*length = sizeof branch;
	return NULL;
}

uint64_t
tnfctl_site_to_pad(const struct site *s, uint64_t from, uint64_t pad, uint64_t ip)
{
	return s->refused == NULL && ip == from ? pad : 0;
}
