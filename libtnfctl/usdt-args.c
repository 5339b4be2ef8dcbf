/*
 * usdt-args.c - from the argument string of a note to a table for BPF.
 *
 * Each machine's operands are read in arch/.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/usdt.h"

#define SYMBOL_MAX	256u

bool
tnfctl_operand_refuse(struct operand_text *t, const char *fmt, ...)
{
	char why[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	if (t->args->why[0] == '\0')
		snprintf(t->args->why, sizeof t->args->why, "argument %u: %s",
		    t->args->n + 1, why);
	return false;
}

static bool
is_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '@';
}

size_t
tnfctl_operand_name(const char *s)
{
	size_t n = 0;

	while (is_in_name(s[n]))
		n++;
	return n;
}

bool
tnfctl_operand_number(const char **p, int64_t *ret)
{
	const char *digits = *p + (**p == '-' || **p == '+');
	char *end;
	uint64_t v;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	v = strtoull(digits, &end, 0);
	if (errno != 0)
		return false;
	*ret = **p == '-' ? (int64_t)(0 - v) : (int64_t)v;
	*p = end;
	return true;
}

/* Reads a symbol of an expression, and adds its address to *sum. */
static bool
read_symbol(struct operand_text *t, uint64_t *sum)
{
	size_t n = tnfctl_operand_name(t->p), plain = strcspn(t->p, "@");
	char name[SYMBOL_MAX];
	uint64_t address;

	if (plain > n)
		plain = n;
	if (plain == 0 || plain >= sizeof name)
		return tnfctl_operand_refuse(t, "operand is not understood");
	if (plain < n)	/* symbol@GOTPCREL: the linker has done it */
		return tnfctl_operand_refuse(t, "symbol of a table of the linker's");
	memcpy(name, t->p, plain);
	name[plain] = '\0';
	if (t->place->symbol == NULL ||
	    !t->place->symbol(t->place->arg, name, &address))
		return tnfctl_operand_refuse(t, "symbol \"%.24s\" is not in the file", name);
	*sum += address;
	t->p += n;
	return true;
}

bool
tnfctl_operand_expression(struct operand_text *t, __s64 *ret, unsigned *symbols)
{
	uint64_t sum = 0;
	int64_t v;

	*symbols = 0;
	for (bool first = true;; first = false) {
		if (tnfctl_operand_number(&t->p, &v))
			sum += (uint64_t)v;
		else {
			if (*t->p == '+' && !first)
				t->p++;
			if (*t->p == '-' || ++*symbols > 1)
				return tnfctl_operand_refuse(t, "operand is not understood");
			if (!read_symbol(t, &sum))
				return false;
		}
		if (*t->p != '+' && *t->p != '-')
			break;
	}
	*ret = (int64_t)sum;
	return true;
}

bool
tnfctl_operand_place(struct operand_text *t, struct kp_operand *o)
{
	if (t->place->fixed)
		return true;
	if (o->base != KP_R_NONE)
		return tnfctl_operand_refuse(t, "symbol and register in one address");
	o->base = KP_R_IP;
	o->offset -= (int64_t)t->place->address;
	return true;
}

/* "-4@", or "8f@", which is refused; without it: a word. */
static bool
read_size(struct operand_text *t, struct kp_operand *o)
{
	const char *p = t->p;
	int64_t n;

	o->size = sizeof(uintptr_t);
	if (!tnfctl_operand_number(&p, &n) || (*p != '@' && *p != 'f'))
		return true;
	if (*p == 'f')
		return tnfctl_operand_refuse(t, "floating-point number");
	o->sign = n < 0;
	n = n < 0 ? -n : n;
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return tnfctl_operand_refuse(t, "size of %lld bytes", (long long)n);
	o->size = (uint8_t)n;
	t->p = p + 1;
	return true;
}

static const char *
next_argument(const char *s)
{
	return s + strspn(s, " \t");
}

/* Finds the end of an argument: the next blank that is not between brackets. */
static const char *
argument_end(const char *s)
{
	bool inside = false;

	for (; *s != '\0' && (inside || (*s != ' ' && *s != '\t')); s++)
		inside = *s == '[' || (inside && *s != ']');
	return s;
}

static void
read_argument(struct operand_text *t)
{
	struct kp_operand *o = &t->args->v[t->args->n];
	const char *end = argument_end(t->p);

	o->base = o->index = KP_R_NONE;
	o->scale = 1;
	bool good = read_size(t, o) && tnfctl_arch_operand(t, o);
	if (good && t->p != end)
		good = tnfctl_operand_refuse(t, "operand is not understood");
	if (!good) {
		*o = (struct kp_operand){ .kind = KP_OPERAND_UNREADABLE, .size = 8,
		    .scale = 1, .base = KP_R_NONE, .index = KP_R_NONE };
		t->args->unreadable++;
	}
	t->p = end;
	t->args->n++;
}

bool
tnfctl_usdt_args_parse(const char *text, const struct usdt_place *place,
    struct usdt_args *ret)
{
	struct operand_text t = { .place = place, .args = ret };

	memset(ret, 0, sizeof *ret);
	for (t.p = next_argument(text); *t.p != '\0'; t.p = next_argument(t.p)) {
		if (ret->n == KP_OPERANDS_MAX) {
			ret->unreadable++;
			return tnfctl_operand_refuse(&t, "more than %u of them", KP_OPERANDS_MAX);
		}
		read_argument(&t);
	}
	return ret->unreadable == 0;
}
