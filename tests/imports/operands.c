/*
 * Argument strings of USDT notes: each form of an operand that compilers write,
 * and what is refused, with the reason.  A form that was taken for another one
 * would give values that look right.
 */
#include <stdio.h>
#include <string.h>

#include "libtnfctl/usdt.h"
#include "tests/check-run.h"

#define HERE	0x401000ull	/* where the probe is */
#define DATA	0x404040ull	/* the one symbol that there is */

static bool
symbol(void *arg, const char *name, uint64_t *ret)
{
	*ret = DATA;
	return strcmp(name, "data") == 0 || strcmp(name, ".data_x") == 0;
}

static struct usdt_args args;

static const struct kp_operand *
one(const char *text, bool fixed)
{
	struct usdt_place place = { HERE, fixed, symbol, NULL };

	ck_assert_msg(tnfctl_usdt_args_parse(text, &place, &args), "%s: %s", text, args.why);
	ck_assert_uint_eq(args.n, 1);
	return &args.v[0];
}

static void
expect_why(const char *text, const char *why)
{
	struct usdt_place place = { HERE, false, symbol, NULL };

	ck_assert_msg(!tnfctl_usdt_args_parse(text, &place, &args), "%s is taken", text);
	ck_assert_msg(strstr(args.why, why) != NULL, "%s: %s", text, args.why);
}

struct form {
	const char *text;
	struct kp_operand o;
};

#define NO	KP_R_NONE
#define VALUE	KP_OPERAND_VALUE
#define MEMORY	KP_OPERAND_MEMORY

/* kind size sign string base index scale shift offset */
#if defined(__aarch64__)
#define X(n)	(KP_R_X0 + (n))
static const struct form forms[] = {
	{ "8@x0", { VALUE, 8, 0, 0, X(0), NO, 1, 0, 0, 0, 0, 0 } },
	{ "-4@x19", { VALUE, 4, 1, 0, X(19), NO, 1, 0, 0, 0, 0, 0 } },
	{ "4@w30", { VALUE, 4, 0, 0, X(30), NO, 1, 0, 0, 0, 0, 0 } },
	{ "-2@w9", { VALUE, 2, 1, 0, X(9), NO, 1, 0, 0, 0, 0, 0 } },
	{ "1@x2", { VALUE, 1, 0, 0, X(2), NO, 1, 0, 0, 0, 0, 0 } },
	{ "8@w2", { VALUE, 4, 0, 0, X(2), NO, 1, 0, 0, 0, 0, 0 } },
	{ "8@xzr", { VALUE, 8, 0, 0, NO, NO, 1, 0, 0, 0, 0, 0 } },
	{ "8@sp", { VALUE, 8, 0, 0, KP_R_SP, NO, 1, 0, 0, 0, 0, 0 } },
	{ "x7", { VALUE, 8, 0, 0, X(7), NO, 1, 0, 0, 0, 0, 0 } },
	{ "-4@-5", { VALUE, 4, 1, 0, NO, NO, 1, 0, -5, 0, 0, 0 } },
	{ "4@#0x10", { VALUE, 4, 0, 0, NO, NO, 1, 0, 16, 0, 0, 0 } },
	{ "8@18446744073709551615", { VALUE, 8, 0, 0, NO, NO, 1, 0, -1, 0, 0, 0 } },
	{ "8@[sp]", { MEMORY, 8, 0, 0, KP_R_SP, NO, 1, 0, 0, 0, 0, 0 } },
	{ "-4@[x29, -20]", { MEMORY, 4, 1, 0, X(29), NO, 1, 0, -20, 0, 0, 0 } },
	{ "2@[sp,#96]", { MEMORY, 2, 0, 0, KP_R_SP, NO, 1, 0, 96, 0, 0, 0 } },
	{ "1@[x1, x2]", { MEMORY, 1, 0, 0, X(1), X(2), 1, 0, 0, 0, 0, 0 } },
	{ "8@[x1, x2, lsl 3]", { MEMORY, 8, 0, 0, X(1), X(2), 8, 0, 0, 0, 0, 0 } },
	{ "-4@[x1, x2, lsl #2]", { MEMORY, 4, 1, 0, X(1), X(2), 4, 0, 0, 0, 0, 0 } },
};
#else
static const struct form forms[] = {
	{ "8@%rax", { VALUE, 8, 0, 0, KP_R_AX, NO, 1, 0, 0, 0, 0, 0 } },
	{ "-8@%r15", { VALUE, 8, 1, 0, KP_R_R15, NO, 1, 0, 0, 0, 0, 0 } },
	{ "4@%ebx", { VALUE, 4, 0, 0, KP_R_BX, NO, 1, 0, 0, 0, 0, 0 } },
	{ "-4@%r8d", { VALUE, 4, 1, 0, KP_R_R8, NO, 1, 0, 0, 0, 0, 0 } },
	{ "2@%cx", { VALUE, 2, 0, 0, KP_R_CX, NO, 1, 0, 0, 0, 0, 0 } },
	{ "-2@%r9w", { VALUE, 2, 1, 0, KP_R_R9, NO, 1, 0, 0, 0, 0, 0 } },
	{ "1@%dl", { VALUE, 1, 0, 0, KP_R_DX, NO, 1, 0, 0, 0, 0, 0 } },
	{ "1@%ah", { VALUE, 1, 0, 0, KP_R_AX, NO, 1, 8, 0, 0, 0, 0 } },
	{ "-1@%sil", { VALUE, 1, 1, 0, KP_R_SI, NO, 1, 0, 0, 0, 0, 0 } },
	{ "1@%r10b", { VALUE, 1, 0, 0, KP_R_R10, NO, 1, 0, 0, 0, 0, 0 } },
	{ "%rdi", { VALUE, 8, 0, 0, KP_R_DI, NO, 1, 0, 0, 0, 0, 0 } },
	{ "-4@$-5", { VALUE, 4, 1, 0, NO, NO, 1, 0, -5, 0, 0, 0 } },
	{ "8@$18446744073709551615", { VALUE, 8, 0, 0, NO, NO, 1, 0, -1, 0, 0, 0 } },
	{ "4@$0x10", { VALUE, 4, 0, 0, NO, NO, 1, 0, 16, 0, 0, 0 } },
	{ "-4@-12(%rbp)", { MEMORY, 4, 1, 0, KP_R_BP, NO, 1, 0, -12, 0, 0, 0 } },
	{ "8@(%rsp)", { MEMORY, 8, 0, 0, KP_R_SP, NO, 1, 0, 0, 0, 0, 0 } },
	{ "2@8(%rax,%rdx)", { MEMORY, 2, 0, 0, KP_R_AX, KP_R_DX, 1, 0, 8, 0, 0, 0 } },
	{ "-4@(%rdi,%rax,4)", { MEMORY, 4, 1, 0, KP_R_DI, KP_R_AX, 4, 0, 0, 0, 0, 0 } },
	{ "8@-16(%r12,%r13,8)", { MEMORY, 8, 0, 0, KP_R_R12, KP_R_R13, 8, 0, -16, 0, 0, 0 } },
	{ "8@(,%rdx,8)", { MEMORY, 8, 0, 0, NO, KP_R_DX, 8, 0, 0, 0, 0, 0 } },
	{ "4@0x601040", { MEMORY, 4, 0, 0, NO, NO, 1, 0, 0x601040, 0, 0, 0 } },
};
#endif

START_TEST(each_form)
{
	const struct form *f = &forms[_i];

	ck_assert_msg(memcmp(one(f->text, false), &f->o, sizeof f->o) == 0, "%s", f->text);
	ck_assert_msg(memcmp(one(f->text, true), &f->o, sizeof f->o) == 0, "%s", f->text);
}
END_TEST

/* A symbol of a program that may lie anywhere is found from the instruction. */
START_TEST(symbols)
{
#if defined(__aarch64__)
	static const char *const texts[] = { "8@data", "8@data+0", "8@.data_x" };
	const struct kp_operand *o;

	for (size_t i = 0; i < 3; i++) {
		o = one(texts[i], false);
		ck_assert_int_eq(o->kind, MEMORY);
		ck_assert_int_eq(o->base, KP_R_IP);
		ck_assert_int_eq(o->offset, (int64_t)(DATA - HERE));
		o = one(texts[i], true);
		ck_assert_int_eq(o->base, NO);
		ck_assert_int_eq(o->offset, DATA);
	}
	ck_assert_int_eq(one("8@data+8", true)->offset, DATA + 8);
	ck_assert_int_eq(one("8@data-4", true)->offset, DATA - 4);
#else
	static const char *const texts[] = { "8@data(%rip)", "8@data+0(%rip)",
	    "8@data", "8@.data_x(%rip)" };
	const struct kp_operand *o;

	for (size_t i = 0; i < 4; i++) {
		o = one(texts[i], false);
		ck_assert_int_eq(o->kind, MEMORY);
		ck_assert_int_eq(o->base, KP_R_IP);
		ck_assert_int_eq(o->offset, (int64_t)(DATA - HERE));
		o = one(texts[i], true);
		ck_assert_int_eq(o->base, NO);
		ck_assert_int_eq(o->offset, DATA);
	}
	ck_assert_int_eq(one("8@data+8(%rip)", true)->offset, DATA + 8);
	ck_assert_int_eq(one("8@8+data(%rip)", true)->offset, DATA + 8);
	ck_assert_int_eq(one("8@data-4(%rip)", true)->offset, DATA - 4);
	ck_assert_int_eq(one("8@4+data-8(%rip)", true)->offset, DATA - 4);
	o = one("8@$data", false);
	ck_assert_int_eq(o->kind, VALUE);
	ck_assert_int_eq(o->base, KP_R_IP);
	o = one("8@data(,%rax,8)", true);
	ck_assert_int_eq(o->index, KP_R_AX);
	ck_assert_int_eq(o->offset, DATA);
#endif
}
END_TEST

START_TEST(refused)
{
	expect_why("8@", "not understood");
#if defined(__aarch64__)
	expect_why("8f@d0", "floating-point");
	expect_why("8@d0", "register d0 holds a floating-point");
	expect_why("8@v31", "register v31 holds a floating-point");
	expect_why("16@x0", "size of 16 bytes");
	expect_why("8@x31", "\"x31\" is not in the file");
	expect_why("8@x01", "\"x01\" is not in the file");
	expect_why("8@nothing", "\"nothing\" is not in the file");
	expect_why("4@[x1, w2, sxtw 2]", "extended");
	expect_why("4@[x1, w2]", "extended");
	expect_why("4@[x1, x2, sxtx 2]", "extended");
	expect_why("8@[x1, x2, lsl 4]", "shift");
	expect_why("8@[x0, #:lo12:data]", "half of a symbol's address");
	expect_why("8@[x0], 8", "not understood");
	expect_why("8@[x0, 8]!", "not understood");
	expect_why("8@[w0]", "not understood");
	expect_why("8@[x0", "not understood");
	expect_why("8@[5]", "not understood");
	expect_why("8@#", "not understood");
	expect_why("8@%rax", "not understood");
	expect_why("8@$5", "not understood");
#else
	expect_why("8f@%xmm0", "floating-point");
	expect_why("8@%xmm1", "floating-point");
	expect_why("-8f@-24(%rbp)", "floating-point");
	expect_why("16@%rax", "size of 16 bytes");
	expect_why("3@%rax", "size of 3 bytes");
	expect_why("8@%fs:0x28", "segment");
	expect_why("8@%cr0", "not one that the kernel shows");
	expect_why("8@nothing(%rip)", "\"nothing\" is not in the file");
	expect_why("8@data@GOTPCREL(%rip)", "linker");
	expect_why("8@16(%rip)", "unknown instruction");
	expect_why("8@data(%rax)", "symbol and register");
	expect_why("8@(%rax,%rbx,3)", "scale");
	expect_why("8@(%rax", "not understood");
	expect_why("8@(%rax)x", "not understood");
	expect_why("8@(%rax,4)", "not understood");
	expect_why("8@$", "not understood");
	expect_why("8@*%rax", "indirect");
	expect_why("8@%", "not one");
#endif
}
END_TEST

#if defined(__aarch64__)
#define MIXED	"  4@[sp, 8] 8f@[sp, 16]  8@7 "
#define ONES	"1@1 1@1 1@1 1@1 1@1 1@1 1@1 1@1 1@1 1@1 1@1 1@1"
#else
#define MIXED	"  4@%eax 8f@%xmm0  8@$7 "
#define ONES	"1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1"
#endif

/* One that cannot be read does not take the others with it. */
START_TEST(among_others)
{
	struct usdt_place place = { HERE, false, symbol, NULL };

	ck_assert(!tnfctl_usdt_args_parse(MIXED, &place, &args));
	ck_assert_uint_eq(args.n, 3);
	ck_assert_uint_eq(args.unreadable, 1);
	ck_assert_int_eq(args.v[1].kind, KP_OPERAND_UNREADABLE);
	ck_assert_int_eq(args.v[2].offset, 7);
	ck_assert_str_eq(args.why, "argument 2: floating-point number");
	ck_assert(tnfctl_usdt_args_parse("", &place, &args));
	ck_assert_uint_eq(args.n, 0);
	ck_assert(tnfctl_usdt_args_parse(ONES, &place, &args));
	ck_assert(!tnfctl_usdt_args_parse(ONES " 1@1", &place, &args));
	ck_assert_uint_eq(args.n, KP_OPERANDS_MAX);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("operands");
	TCase *tc = tcase_create("operands");

	tcase_add_loop_test(tc, each_form, 0, sizeof forms / sizeof *forms);
	tcase_add_test(tc, symbols);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, among_others);
	suite_add_tcase(s, tc);
	return check_run(s);
}
