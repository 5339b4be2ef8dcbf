/*
 * call-names.c - system calls have the names of the table that their number is from:
 * of the machine that a trace tells, and of 32-bit programs there, wherever it is read.
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#include "analysis/pretty-names.h"
#include "tests/check-run.h"

static void
is(const char *machine, uint64_t number, int64_t abi, const char *name)
{
	const char *got;

	ck_assert(pretty_machine_set(machine));
	got = pretty_call_name(number, abi);
	ck_assert_msg(got != NULL && strcmp(got, name) == 0, "%s, table %d, %u: %s, should be %s",
	    machine, (int)abi, (unsigned)number, got == NULL ? "no name" : got, name);
}

START_TEST(known)
{
	is("x86_64", 0, PRETTY_ABI_NATIVE, "read");
	is("x86_64", 9, PRETTY_ABI_NATIVE, "mmap");
	/* The kernel's own, where a return is traced. */
	is("x86_64", 335, PRETTY_ABI_NATIVE, "uretprobe");
	is("x86_64", 20, PRETTY_ABI_32, "getpid");
	is("x86_64", 463, PRETTY_ABI_32, "setxattrat");
	is("x86_64", 0x40000000 + 520, PRETTY_ABI_X32, "execve");
	is("aarch64", 63, PRETTY_ABI_NATIVE, "read");
	/* These are defined by way of other names. */
	is("aarch64", 25, PRETTY_ABI_NATIVE, "fcntl");
	is("aarch64", 79, PRETTY_ABI_NATIVE, "newfstatat");
	is("aarch64", 222, PRETTY_ABI_NATIVE, "mmap");
}
END_TEST

START_TEST(unknown)
{
	ck_assert(pretty_machine_set("aarch64"));
	ck_assert_ptr_null(pretty_call_name(20, PRETTY_ABI_32));
	ck_assert_ptr_null(pretty_syscall(-1));
	ck_assert_ptr_null(pretty_syscall(100000));
	ck_assert(!pretty_machine_set("m68k"));
	ck_assert_ptr_null(pretty_syscall(0));
	ck_assert(pretty_machine_set(NULL));
	ck_assert_str_eq(pretty_syscall(0), "read");
}
END_TEST

START_TEST(words)
{
	static const char *const machines[] = { "x86_64", "aarch64" };
	unsigned names = 0;
	const char *name;

	for (int m = 0; m < 2; m++) {
		ck_assert(pretty_machine_set(machines[m]));
		for (int abi = 0; abi < PRETTY_ABIS; abi++)
			for (uint64_t i = 0; i < 1000; i++) {
				if ((name = pretty_call_name(i, abi)) == NULL)
					continue;
				ck_assert_msg(isalpha((unsigned char)*name) || *name == '_',
				    "%s, table %d: %s", machines[m], abi, name);
				names++;
			}
	}
	ck_assert_uint_gt(names, 1400);
}
END_TEST

static unsigned
arguments_of(uint64_t number, int64_t abi, enum call_kind kind)
{
	const struct pretty_call *call = pretty_call(number, abi);
	unsigned n = 0;

	ck_assert_ptr_nonnull(call);
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		n += kind == CALL_END ? call->kind[i] != CALL_END : call->kind[i] == kind;
	return n;
}

/* Programs of 32 bits give numbers of 64 bits in two arguments, and old calls one address. */
START_TEST(halves)
{
	ck_assert(pretty_machine_set("x86_64"));
	ck_assert_uint_eq(arguments_of(17, PRETTY_ABI_NATIVE, CALL_HIGH), 0);	/* pread64 */
	ck_assert_uint_eq(arguments_of(180, PRETTY_ABI_32, CALL_HIGH), 1);
	ck_assert_uint_eq(arguments_of(17, PRETTY_ABI_X32, CALL_HIGH), 0);
	ck_assert_uint_eq(arguments_of(324, PRETTY_ABI_32, CALL_HIGH), 2);	/* fallocate */
	ck_assert_uint_eq(arguments_of(9, PRETTY_ABI_NATIVE, CALL_END), 6);	/* mmap */
	ck_assert_uint_eq(arguments_of(90, PRETTY_ABI_32, CALL_END), 1);
	ck_assert_uint_eq(arguments_of(192, PRETTY_ABI_32, CALL_END), 6);
}
END_TEST

/* Other calls have the same arguments whichever machine's number they have, and flags have the C
   library's values. */
START_TEST(arguments)
{
	static const struct { const char *machine; uint64_t number; int64_t abi; } openat[] = {
		{ "x86_64", 257, PRETTY_ABI_NATIVE }, { "x86_64", 295, PRETTY_ABI_32 },
		{ "aarch64", 56, PRETTY_ABI_NATIVE },
	};
	const struct call_set *set = pretty_call_set(CALL_OPEN);
	const struct pretty_call *call;
	uint32_t found = 0;

	for (int i = 0; i < 3; i++) {
		ck_assert(pretty_machine_set(openat[i].machine));
		call = pretty_call(openat[i].number, openat[i].abi);
		ck_assert_ptr_nonnull(call);
		ck_assert_int_eq(call->kind[0], CALL_DFD);
		ck_assert_int_eq(call->kind[1], CALL_PATH);
		ck_assert_int_eq(call->kind[2], CALL_OPEN);
		ck_assert_int_eq(call->kind[3], CALL_MODE);
		ck_assert_int_eq(call->kind[4], CALL_END);
	}
	ck_assert(pretty_machine_set("x86_64"));
	ck_assert_int_eq(pretty_call(39, PRETTY_ABI_NATIVE)->kind[0], CALL_END);
	for (uint32_t i = 0; i < set->n; i++)
		if (strcmp(set->names[i].name, "O_CREAT") == 0)
			found = set->names[i].value;
	ck_assert_uint_eq(found, O_CREAT);
	for (int kind = CALL_NAMES + 1; kind < CALL_KINDS_COUNT; kind++)
		ck_assert_uint_gt(pretty_call_set((enum call_kind)kind)->n, 0);
	ck_assert_uint_eq(pretty_call_set(CALL_PATH)->n, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("call-names");
	TCase *t = tcase_create("names");

	tcase_add_test(t, known);
	tcase_add_test(t, unknown);
	tcase_add_test(t, words);
	tcase_add_test(t, arguments);
	tcase_add_test(t, halves);
	suite_add_tcase(s, t);
	return check_run(s);
}
