/*
 * x86-64-operand.c - operands as gcc and clang print them for x86-64:
 *
 *	%rax %eax %ax %al %ah		a register, or a part of it
 *	$5 $-1 $0x10 $symbol $symbol+8	a constant
 *	(%rbp) -12(%rbp)		memory
 *	8(%rax,%rdx) (%rax,%rdx,4) (,%rdx,8)
 *	symbol(%rip) symbol+4(%rip) 4+symbol(%rip)
 *	symbol 0x601040			memory at a fixed place
 */
#include <string.h>

#include "libtnfctl/usdt-operand.h"

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

/* "%name"; *ret_shift is 8 for the second byte. */
static bool
read_register(struct operand_text *t, uint8_t *ret, uint8_t *ret_shift)
{
	const char *s = t->p + 1;
	size_t n = tnfctl_operand_name(s);

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
		return tnfctl_operand_refuse(t, "register %%%.*s holds a floating-point number",
		    (int)(n > 8 ? 8 : n), s);
	return tnfctl_operand_refuse(t, "register %%%.*s is not one that the kernel shows",
	    (int)(n > 8 ? 8 : n), s);
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
			return tnfctl_operand_refuse(t, "operand is not understood");
		if (!read_register(t, &o->index, &shift))
			return false;
		if (*t->p == ',') {
			t->p++;
			if (!tnfctl_operand_number(&t->p, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return tnfctl_operand_refuse(t, "scale is not 1, 2, 4 or 8");
		}
	}
	o->scale = (uint8_t)scale;
	if (*t->p != ')' || shift != 0)
		return tnfctl_operand_refuse(t, "operand is not understood");
	t->p++;
	return true;
}

static bool
read_memory(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols = 0;

	o->kind = KP_OPERAND_MEMORY;
	if (*t->p != '(' && !tnfctl_operand_expression(t, &o->offset, &symbols))
		return false;
	if (*t->p == '(' && !read_address(t, o))
		return false;
	/* symbol(%rip) is the symbol; 8(%rip) would be behind the instruction that
	   the assembler wrote it for, which the note does not tell. */
	if (o->base == KP_R_IP && symbols == 0)
		return tnfctl_operand_refuse(t, "address relative to an unknown instruction");
	if (o->base == KP_R_IP && !t->place->fixed) {
		o->offset -= (int64_t)t->place->address;
		return true;
	}
	if (o->base == KP_R_IP)
		o->base = KP_R_NONE;
	return symbols == 0 || tnfctl_operand_place(t, o);
}

bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols;

	switch (*t->p) {
	case '%':
		if (t->p[1] != '\0' && t->p[2] == 's' && t->p[3] == ':')
			return tnfctl_operand_refuse(t, "memory of the segment %%%.2s", t->p + 1);
		return read_register(t, &o->base, &o->shift);
	case '$':
		t->p++;
		return tnfctl_operand_expression(t, &o->offset, &symbols) &&
		    (symbols == 0 || tnfctl_operand_place(t, o));
	case '*':
		return tnfctl_operand_refuse(t, "indirect operand");
	default:
		return read_memory(t, o);
	}
}
