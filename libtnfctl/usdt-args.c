/*
 * usdt-args.c - from the argument string of a note to a table for BPF.
 *
 * Operands of x86-64, as gcc and clang print them:
 *
 *	%rax %eax %ax %al %ah		a register, or a part of it
 *	$5 $-1 $0x10 $symbol $symbol+8	a constant
 *	(%rbp) -12(%rbp)		memory
 *	8(%rax,%rdx) (%rax,%rdx,4) (,%rdx,8)
 *	symbol(%rip) symbol+4(%rip) 4+symbol(%rip)
 *	symbol 0x601040			memory at a fixed place
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/usdt-args.h"

#define SYMBOL_MAX	256u

struct operand_text {
	const char *p;		/* what is not read yet */
	const struct usdt_place *place;
	struct usdt_args *args;	/* for the reason */
};

__attribute__((format(printf, 2, 3))) static bool
refuse(struct operand_text *t, const char *fmt, ...)
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

/* Registers: the name of each width, and %ah is shifted. */
static const struct register_name {
	const char *name[5];	/* of 8, 4, 2, 1 bytes, and the second byte */
	enum kp_register number;
} registers[] = {
	{ { "rax", "eax", "ax", "al", "ah" }, KP_R_AX },
	{ { "rbx", "ebx", "bx", "bl", "bh" }, KP_R_BX },
	{ { "rcx", "ecx", "cx", "cl", "ch" }, KP_R_CX },
	{ { "rdx", "edx", "dx", "dl", "dh" }, KP_R_DX },
	{ { "rsi", "esi", "si", "sil", "" }, KP_R_SI },
	{ { "rdi", "edi", "di", "dil", "" }, KP_R_DI },
	{ { "rbp", "ebp", "bp", "bpl", "" }, KP_R_BP },
	{ { "rsp", "esp", "sp", "spl", "" }, KP_R_SP },
	{ { "r8", "r8d", "r8w", "r8b", "" }, KP_R_R8 },
	{ { "r9", "r9d", "r9w", "r9b", "" }, KP_R_R9 },
	{ { "r10", "r10d", "r10w", "r10b", "" }, KP_R_R10 },
	{ { "r11", "r11d", "r11w", "r11b", "" }, KP_R_R11 },
	{ { "r12", "r12d", "r12w", "r12b", "" }, KP_R_R12 },
	{ { "r13", "r13d", "r13w", "r13b", "" }, KP_R_R13 },
	{ { "r14", "r14d", "r14w", "r14b", "" }, KP_R_R14 },
	{ { "r15", "r15d", "r15w", "r15b", "" }, KP_R_R15 },
	{ { "rip", "eip", "ip", "", "" }, KP_R_IP },
};

static bool
is_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '@';
}

static size_t
name_length(const char *s)
{
	size_t n = 0;

	while (is_in_name(s[n]))
		n++;
	return n;
}

/* "%name"; *ret_shift is 8 for the second byte. */
static bool
read_register(struct operand_text *t, uint8_t *ret, uint8_t *ret_shift)
{
	const char *s = t->p + 1;
	size_t n = name_length(s);

	for (size_t r = 0; n > 0 && r < sizeof registers / sizeof *registers; r++)
		for (size_t w = 0; w < 5; w++)
			if (strlen(registers[r].name[w]) == n &&
			    memcmp(registers[r].name[w], s, n) == 0) {
				*ret = registers[r].number;
				*ret_shift = w == 4 ? 8 : 0;
				t->p = s + n;
				return true;
			}
	if (n >= 3 && (s[1] == 'm' || s[2] == 'm') && strchr("xyzmk", s[0]) != NULL)
		return refuse(t, "register %%%.*s holds a floating-point number",
		    (int)(n > 8 ? 8 : n), s);
	return refuse(t, "register %%%.*s is not one that the kernel shows",
	    (int)(n > 8 ? 8 : n), s);
}

/* "1", "-1", "+0x10"; false: no number here. */
static bool
read_number(const char **p, int64_t *ret)
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

/* One symbol of an expression; its address is added to *sum. */
static bool
read_symbol(struct operand_text *t, uint64_t *sum)
{
	size_t n = name_length(t->p), plain = strcspn(t->p, "@");
	char name[SYMBOL_MAX];
	uint64_t address;

	if (plain > n)
		plain = n;
	if (plain == 0 || plain >= sizeof name)
		return refuse(t, "operand is not understood");
	if (plain < n)	/* symbol@GOTPCREL: the linker has done it */
		return refuse(t, "symbol of a table of the linker's");
	memcpy(name, t->p, plain);
	name[plain] = '\0';
	if (t->place->symbol == NULL ||
	    !t->place->symbol(t->place->arg, name, &address))
		return refuse(t, "symbol \"%.24s\" is not in the file", name);
	*sum += address;
	t->p += n;
	return true;
}

/* "8", "symbol", "symbol+8-4", "8+symbol"; *symbols: how many were in it. */
static bool
read_expression(struct operand_text *t, __s64 *ret, unsigned *symbols)
{
	uint64_t sum = 0;
	int64_t v;

	*symbols = 0;
	for (bool first = true;; first = false) {
		if (read_number(&t->p, &v))
			sum += (uint64_t)v;
		else {
			if (*t->p == '+' && !first)
				t->p++;
			if (*t->p == '-' || ++*symbols > 1)
				return refuse(t, "operand is not understood");
			if (!read_symbol(t, &sum))
				return false;
		}
		if (*t->p != '+' && *t->p != '-')
			break;
	}
	*ret = (int64_t)sum;
	return true;
}

/* What a symbol means to the running program: relative to the instruction,
   unless it is never moved. */
static bool
place_symbol(struct operand_text *t, struct kp_operand *o)
{
	if (t->place->fixed)
		return true;
	if (o->base != KP_R_NONE)
		return refuse(t, "symbol and register in one address");
	o->base = KP_R_IP;
	o->offset -= (int64_t)t->place->address;
	return true;
}

/* "(%base,%index,scale)", each of them may be missing. */
static bool
read_address(struct operand_text *t, struct kp_operand *o)
{
	uint8_t shift = 0;
	int64_t scale = 1;

	t->p++;
	if (*t->p == '%' && !read_register(t, &o->base, &shift))
		return false;
	if (*t->p == ',') {
		t->p++;
		if (*t->p != '%')
			return refuse(t, "operand is not understood");
		if (!read_register(t, &o->index, &shift))
			return false;
		if (*t->p == ',') {
			t->p++;
			if (!read_number(&t->p, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return refuse(t, "scale is not 1, 2, 4 or 8");
		}
	}
	o->scale = (uint8_t)scale;
	if (*t->p != ')' || shift != 0)
		return refuse(t, "operand is not understood");
	t->p++;
	return true;
}

static bool
read_memory(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols = 0;

	o->kind = KP_OPERAND_MEMORY;
	if (*t->p != '(' && !read_expression(t, &o->offset, &symbols))
		return false;
	if (*t->p == '(' && !read_address(t, o))
		return false;
	/* symbol(%rip) is the symbol; 8(%rip) would be behind the instruction that
	   the assembler wrote it for, which the note does not tell. */
	if (o->base == KP_R_IP && symbols == 0)
		return refuse(t, "address relative to an unknown instruction");
	if (o->base == KP_R_IP && !t->place->fixed) {
		o->offset -= (int64_t)t->place->address;
		return true;
	}
	if (o->base == KP_R_IP)
		o->base = KP_R_NONE;
	return symbols == 0 || place_symbol(t, o);
}

static bool
read_operand(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols;

	o->base = o->index = KP_R_NONE;
	o->scale = 1;
	switch (*t->p) {
	case '%':
		if (t->p[1] != '\0' && t->p[2] == 's' && t->p[3] == ':')
			return refuse(t, "memory of the segment %%%.2s", t->p + 1);
		return read_register(t, &o->base, &o->shift);
	case '$':
		t->p++;
		return read_expression(t, &o->offset, &symbols) &&
		    (symbols == 0 || place_symbol(t, o));
	case '*':
		return refuse(t, "indirect operand");
	default:
		return read_memory(t, o);
	}
}

/* "-4@", or "8f@", which is refused; without it: a word. */
static bool
read_size(struct operand_text *t, struct kp_operand *o)
{
	const char *p = t->p;
	int64_t n;

	o->size = sizeof(uintptr_t);
	if (!read_number(&p, &n) || (*p != '@' && *p != 'f'))
		return true;
	if (*p == 'f')
		return refuse(t, "floating-point number");
	o->sign = n < 0;
	n = n < 0 ? -n : n;
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return refuse(t, "size of %lld bytes", (long long)n);
	o->size = (uint8_t)n;
	t->p = p + 1;
	return true;
}

static const char *
next_argument(const char *s)
{
	return s + strspn(s, " \t");
}

/* What follows up to the next blank belongs to no operand. */
static void
read_argument(struct operand_text *t)
{
	struct kp_operand *o = &t->args->v[t->args->n];
	bool good = read_size(t, o) && read_operand(t, o);
	size_t rest = strcspn(t->p, " \t");

	if (good && rest != 0)
		good = refuse(t, "operand is not understood");
	if (!good) {
		*o = (struct kp_operand){ .kind = KP_OPERAND_UNREADABLE, .size = 8,
		    .scale = 1, .base = KP_R_NONE, .index = KP_R_NONE };
		t->args->unreadable++;
	}
	t->p += rest;
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
			return refuse(&t, "more than %u of them", KP_OPERANDS_MAX);
		}
		read_argument(&t);
	}
	return ret->unreadable == 0;
}
