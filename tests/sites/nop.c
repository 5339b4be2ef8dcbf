/*
 * nop.c - 64-bit ARM: a nop takes a branch, another instruction does not; and the branch back
 * from the pad leads behind the nop.  A process of this machine has no fast probes yet: it is told why.
 */
#include <string.h>

#include <check.h>

#include "libtnfctl/arch/arch.h"
#include "libtnfctl/fast.h"
#include "libtnfctl/sites/sites.h"
#include "tests/check-run.h"

#define NO_NOP	"no nop is there: build it with -fpatchable-function-entry=1"

static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
static const uint8_t bti_c[] = { 0x5f, 0x24, 0x03, 0xd5 };
static const uint8_t ret[] = { 0xc0, 0x03, 0x5f, 0xd6 };

START_TEST(nop_alone)
{
	struct site s = { .address = 0x1000 };

	ck_assert_ptr_null(tnfctl_move_judge(nop, sizeof nop, sizeof nop, &s));
	ck_assert_uint_eq(s.length, SITE_JUMP);
	ck_assert(s.nops && !s.calls);
	ck_assert_mem_eq(s.bytes, nop, sizeof nop);
	ck_assert_str_eq(tnfctl_move_judge(ret, sizeof ret, sizeof ret, &s), NO_NOP);
	ck_assert_str_eq(tnfctl_move_judge(bti_c, sizeof bti_c, sizeof bti_c, &s), NO_NOP);
	ck_assert_str_eq(tnfctl_move_judge(nop, sizeof nop, 2, &s), NO_NOP);
	ck_assert_str_eq(tnfctl_move_judge(nop, 2, 4, &s), NO_NOP);
	s.address = 0x1002;
	ck_assert_str_eq(tnfctl_move_judge(nop, sizeof nop, sizeof nop, &s), NO_NOP);
}
END_TEST

START_TEST(landing)
{
	ck_assert_uint_eq(tnfctl_move_landing(bti_c, sizeof bti_c), 4);
	ck_assert_uint_eq(tnfctl_move_landing(nop, sizeof nop), 0);
	ck_assert_uint_eq(tnfctl_move_landing(ret, sizeof ret), 0);
}
END_TEST

/* The address to which the branch at 'from' leads. */
static uint64_t
target(const uint8_t *bytes, uint64_t from)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof word);
	ck_assert_uint_eq(word >> 26, 5);
	return from + (uint64_t)(int64_t)((int32_t)(word << 6) >> 6) * 4;
}

START_TEST(back)
{
	const uint64_t from = 1ull << 40;
	const int64_t away[] = { 4096, -4096, SITE_REACH, -SITE_REACH };
	struct site s = { .address = 0x1000, .length = SITE_JUMP };
	uint8_t moved[SITE_MOVED_MAX];
	size_t n;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t pad = from + (uint64_t)away[i];

		ck_assert_ptr_null(tnfctl_site_relocate(&s, from, pad, moved, &n));
		ck_assert_uint_eq(n, 4);
		ck_assert_uint_eq(target(moved, pad), from + 4);
	}
	ck_assert_str_eq(tnfctl_site_relocate(&s, from, from + SITE_REACH + 4, moved, &n), "too far from any pad");
	ck_assert_str_eq(tnfctl_site_relocate(&s, from, from - SITE_REACH - 4, moved, &n), "too far from any pad");
}
END_TEST

START_TEST(none)
{
	const char *why[2] = { NULL, NULL };

	ck_assert_ptr_null(tnfctl_fast_function(NULL, NULL, -1, NULL, 0, &why[0]));
	ck_assert_ptr_null(tnfctl_fast_usdt(NULL, NULL, -1, NULL, NULL, &why[1]));
	ck_assert_str_eq(why[0], "this machine has no fast probes");
	ck_assert_str_eq(why[1], why[0]);
	ck_assert_str_eq(tnfctl_fast_none(NULL, true), why[0]);
	ck_assert_str_eq(tnfctl_fast_return_none(NULL, "work"), why[0]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("nop");
	TCase *tc = tcase_create("nop");

	tcase_add_test(tc, nop_alone);
	tcase_add_test(tc, landing);
	tcase_add_test(tc, back);
	tcase_add_test(tc, none);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
