/*
 * move-x86-64.c - the instructions that a jump replaces: which there are, and what they
 * become in a pad.
 */
#include <string.h>

#include "libtnfctl/sites/code.h"
#include "libtnfctl/sites/sites.h"

#define TOO_FAR		"too far from any pad"

struct pad {
	uint8_t	*bytes;
	size_t	 n;
	uint64_t address;	/* of bytes[0] */
	bool	 too_far;
};

static void
pad_put(struct pad *p, const void *bytes, size_t n)
{
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

/* The four bytes that lead from behind themselves, and 'behind' bytes more, to the target. */
static void
pad_put_distance(struct pad *p, uint64_t target, size_t behind)
{
	int64_t distance = (int64_t)(target - (p->address + p->n + 4 + behind));
	int32_t d = (int32_t)distance;

	p->too_far |= d != distance;
	pad_put(p, &d, sizeof d);
}

static void
pad_put_jump(struct pad *p, uint64_t target)
{
	pad_put(p, "\xe9", 1);
	pad_put_distance(p, target, 0);
}

/* The instruction itself; what it says relative to itself is set right. */
static void
pad_put_same(struct pad *p, const uint8_t *bytes, const struct insn *i, uint64_t place)
{
	if (!i->has_place) {
		pad_put(p, bytes, i->length);
		return;
	}
	pad_put(p, bytes, i->displacement);
	pad_put_distance(p, place, i->length - i->displacement - 4u);
	pad_put(p, bytes + i->displacement + 4, i->length - i->displacement - 4u);
}

/*
 * push next(%rip); jmp TARGET; next: .quad RETURN_TO
 *
 * The function that is called returns to where it always did.
 */
static void
pad_put_call(struct pad *p, const uint8_t *bytes, const struct insn *i, uint64_t place,
    uint64_t return_to)
{
	size_t jump = i->kind == INSN_CALL ? 5 : i->length;
	int32_t behind = (int32_t)jump;
	uint8_t other[INSN_MAX];

	pad_put(p, "\xff\x35", 2);
	pad_put(p, &behind, sizeof behind);
	if (i->kind == INSN_CALL) {
		pad_put_jump(p, place);
	} else {
		/* call is the third of the group of instructions, jmp is the fifth. */
		memcpy(other, bytes, i->length);
		other[i->modrm] = (uint8_t)((other[i->modrm] & ~0x38) | 4 << 3);
		pad_put_same(p, other, i, place);
	}
	pad_put(p, &return_to, sizeof return_to);
}

/* Returns whether the next instruction comes behind it. */
static bool
pad_put_moved(struct pad *p, const uint8_t *bytes, const struct insn *i, uint64_t from)
{
	uint64_t place = from + i->length + (uint64_t)i->relative;
	uint8_t condition[2] = { 0x0f, (uint8_t)(0x80 | i->condition) };

	switch (i->kind) {
	case INSN_NOP:
	case INSN_LANDING:
		return true;
	case INSN_JUMP:
		pad_put_jump(p, place);
		return false;
	case INSN_BRANCH:
		pad_put(p, condition, sizeof condition);
		pad_put_distance(p, place, 0);
		return true;
	case INSN_CALL:
	case INSN_CALL_TO:
		pad_put_call(p, bytes, i, place, from + i->length);
		return false;
	default:
		pad_put_same(p, bytes, i, place);
		return i->kind == INSN_PLAIN;
	}
}

/* Moves the instructions; *at, if it is not NULL: one at this offset of the site, which becomes
   its offset in the pad, or SIZE_MAX. */
static const char *
move_all(const struct site *s, uint64_t from, struct pad *p, size_t *at)
{
	bool goes_on = true;
	size_t wanted = at != NULL ? *at : SIZE_MAX;
	struct insn i;

	if (at != NULL)
		*at = SIZE_MAX;
	if (s->refused != NULL || s->length < SITE_JUMP)
		return s->refused != NULL ? s->refused : "it is no site";
	for (size_t n = 0; n < s->length && goes_on; n += i.length) {
		if (n == wanted)
			*at = p->n;
		if (!tnfctl_insn_decode(s->bytes + n, s->length - n, &i))
			return "it is no site";
		goes_on = pad_put_moved(p, s->bytes + n, &i, from + n);
	}
	if (goes_on)
		pad_put_jump(p, from + s->length);
	return p->too_far ? TOO_FAR : NULL;
}

const char *
tnfctl_site_relocate(const struct site *s, uint64_t from, uint64_t pad,
    uint8_t ret[SITE_MOVED_MAX], size_t *length)
{
	struct pad p = { .bytes = ret, .address = pad };
	int64_t distance = (int64_t)(pad - from);
	const char *why = move_all(s, from, &p, NULL);

	if (why == NULL && (distance > SITE_REACH || distance < -SITE_REACH))
		why = TOO_FAR;
	if (why == NULL)
		*length = p.n;
	return why;
}

uint64_t
tnfctl_site_to_pad(const struct site *s, uint64_t from, uint64_t pad, uint64_t ip)
{
	uint8_t moved[SITE_MOVED_MAX];
	struct pad p = { .bytes = moved, .address = pad };
	size_t at = ip - from;

	return move_all(s, from, &p, &at) == NULL && at != SIZE_MAX ? pad + at : 0;
}

static const char *
insn_refused(const struct insn *i)
{
	if (i->kind == INSN_FIXED || i->kind == INSN_STOP)
		return "an instruction there cannot be moved";
	if (i->kind == INSN_CALL_TO && i->by_stack)
		return "a call there finds its target by the stack pointer";
	return NULL;
}

/* Behind an instruction that goes elsewhere: is the rest of the jump, from byte 'at' on, padding that
   nothing leads to? */
static bool
is_padding(const uint8_t *bytes, size_t n, size_t at)
{
	struct insn i;

	for (; at < SITE_JUMP; at += i.length)
		if (at < n && bytes[at] == 0)
			i.length = 1;
		else if (at >= n || !tnfctl_insn_decode(bytes + at, n - at, &i) ||
		    (i.kind != INSN_NOP && i.kind != INSN_STOP))
			return false;
	return n >= SITE_JUMP;
}

const bool tnfctl_move_needs_branches = true;

const char *
tnfctl_move_unknown(void)
{
	return tnfctl_insn_known() ? NULL : "this build cannot decode instructions (libzydis-dev)";
}

size_t
tnfctl_move_landing(const uint8_t *bytes, size_t n)
{
	struct insn i;

	return tnfctl_insn_decode(bytes, n, &i) && i.kind == INSN_LANDING ? i.length : 0;
}

/* The kernel executes the first instruction elsewhere, and goes on behind it. */
size_t
tnfctl_move_first(const uint8_t *bytes, size_t n, struct site *s)
{
	struct insn_effect effect;
	struct insn i;

	if (!tnfctl_insn_decode(bytes, n < INSN_MAX ? n : INSN_MAX, &i) || i.length >= SITE_JUMP ||
	    i.kind == INSN_JUMP ||
	    i.kind == INSN_JUMP_TO || i.kind == INSN_RETURN)
		return 0;
	if (!tnfctl_insn_effect(bytes, n < INSN_MAX ? n : INSN_MAX, &effect))
		return SIZE_MAX;
	s->pushed = effect.pushed;
	s->lost = effect.lost;
	return effect.length;
}

bool
tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance)
{
	struct insn i;
	size_t at = 0;

	for (; at < distance; at += i.length)
		if (!tnfctl_insn_decode(bytes + at, n - at < INSN_MAX ? n - at : INSN_MAX, &i))
			return false;
	return at == distance;
}

const char *
tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s)
{
	bool goes_on = true;
	const char *why;
	struct insn i;
	size_t at = 0;

	s->nops = true;
	s->calls = false;
	while (at < SITE_JUMP && goes_on) {
		if (!tnfctl_insn_decode(bytes + at, n - at < INSN_MAX ? n - at : INSN_MAX, &i) ||
		    i.length > n - at)
			return "its instructions are not known";
		if (i.length > inside - at)
			return "it is too short";
		if ((why = insn_refused(&i)) != NULL)
			return why;
		at += i.length;
		s->nops &= i.kind == INSN_NOP;
		s->calls = i.kind == INSN_CALL || i.kind == INSN_CALL_TO;
		goes_on = i.kind == INSN_PLAIN || i.kind == INSN_NOP || i.kind == INSN_LANDING ||
		    i.kind == INSN_BRANCH;
	}
	if (at < SITE_JUMP) {
		if (s->calls)
			return "a call there is not the last instruction";
		if (!is_padding(bytes, n, at))
			return "it is too short";
		at = SITE_JUMP;
	}
	s->length = (uint8_t)at;
	memcpy(s->bytes, bytes, at);
	return NULL;
}
