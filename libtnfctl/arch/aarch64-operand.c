/*
 * aarch64-operand.c - operands as gcc and clang print them for 64-bit ARM:
 *
 *	x0 w0 sp xzr			a register, or its lower half
 *	5 -1 0x10 #5			a constant
 *	[sp] [x29, -20] [x0, #8]	memory
 *	[x0, x1] [x0, x1, lsl 3]
 *	symbol symbol+8			memory at a fixed place
 */
#include <string.h>

#include "libtnfctl/usdt-operand.h"

#define SHIFT_MAX	3	/* words of eight bytes */

/* "31" is no register: its code means sp or zero. */
static bool
general_number(const char *s, size_t n, uint8_t *ret)
{
	unsigned v = 0;

	if (n < 1 || n > 2 || (n == 2 && s[0] == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	*ret = (uint8_t)(KP_R_X0 + v);
	return v <= KP_R_X30;
}

/* A name at t->p; what is no register's is left where it is.  *whole: all 64 bits. */
static bool
find_register(struct operand_text *t, uint8_t *ret, bool *whole)
{
	static const struct {
		const char *name;
		uint8_t number;
	} names[] = {
		{ "sp", KP_R_SP }, { "wsp", KP_R_SP }, { "xzr", KP_R_NONE },
		{ "wzr", KP_R_NONE }, { "fp", KP_R_X0 + 29 }, { "lr", KP_R_X30 },
	};
	size_t n = tnfctl_operand_name(t->p);

	*whole = t->p[0] != 'w';
	if (n > 1 && (t->p[0] == 'x' || t->p[0] == 'w') &&
	    general_number(t->p + 1, n - 1, ret)) {
		t->p += n;
		return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i].name) == n && memcmp(names[i].name, t->p, n) == 0) {
			*ret = names[i].number;
			t->p += n;
			return true;
		}
	return false;
}

/* v0, q0, d0, s0, h0, b0 */
static bool
is_vector(const char *s)
{
	size_t n = tnfctl_operand_name(s);
	uint8_t number;

	return n > 1 && strchr("vqdshb", s[0]) != NULL &&
	    (general_number(s + 1, n - 1, &number) || (n == 3 && memcmp(s + 1, "31", 2) == 0));
}

/* A comma, with blanks around it. */
static bool
take_comma(struct operand_text *t)
{
	const char *p = t->p + strspn(t->p, " \t");

	if (*p != ',')
		return false;
	t->p = p + 1 + strspn(p + 1, " \t");
	return true;
}

/* "lsl 3" behind the second register. */
static bool
read_shift(struct operand_text *t, struct kp_operand *o)
{
	int64_t shift;

	if (strncmp(t->p, "lsl", 3) != 0)
		return tnfctl_operand_refuse(t, "a register that is extended in an address");
	t->p += 3;
	t->p += strspn(t->p, " \t#");
	if (!tnfctl_operand_number(&t->p, &shift) || shift < 0 || shift > SHIFT_MAX)
		return tnfctl_operand_refuse(t, "shift is not 0, 1, 2 or 3");
	o->scale = (uint8_t)(1 << shift);
	return true;
}

/* What follows the base: a distance, or a second register. */
static bool
read_distance(struct operand_text *t, struct kp_operand *o)
{
	int64_t distance;
	bool whole;

	if (find_register(t, &o->index, &whole)) {
		if (!whole)
			return tnfctl_operand_refuse(t, "a register that is extended in an address");
		return !take_comma(t) || read_shift(t, o);
	}
	t->p += *t->p == '#';
	if (*t->p == ':')
		return tnfctl_operand_refuse(t, "half of a symbol's address");
	if (!tnfctl_operand_number(&t->p, &distance))
		return tnfctl_operand_refuse(t, "operand is not understood");
	o->offset = distance;
	return true;
}

static bool
read_memory(struct operand_text *t, struct kp_operand *o)
{
	bool whole;

	o->kind = KP_OPERAND_MEMORY;
	t->p++;
	t->p += strspn(t->p, " \t");
	if (!find_register(t, &o->base, &whole) || !whole)
		return tnfctl_operand_refuse(t, "operand is not understood");
	if (take_comma(t) && !read_distance(t, o))
		return false;
	t->p += strspn(t->p, " \t");
	if (*t->p != ']')
		return tnfctl_operand_refuse(t, "operand is not understood");
	t->p++;		/* what changes the register, "[x0], 8" or "[x0, 8]!", is refused */
	return true;
}

bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols;
	int64_t v;
	bool whole;

	if (*t->p == '[')
		return read_memory(t, o);
	t->p += *t->p == '#';
	if (tnfctl_operand_number(&t->p, &v)) {
		o->offset = v;
		return true;
	}
	if (find_register(t, &o->base, &whole)) {
		if (!whole && o->size > 4)	/* what is above is no part of it */
			o->size = 4;
		return true;
	}
	if (is_vector(t->p))
		return tnfctl_operand_refuse(t, "register %.*s holds a floating-point number",
		    (int)tnfctl_operand_name(t->p), t->p);
	o->kind = KP_OPERAND_MEMORY;
	return tnfctl_operand_expression(t, &o->offset, &symbols) &&
	    (symbols == 0 || tnfctl_operand_place(t, o));
}
