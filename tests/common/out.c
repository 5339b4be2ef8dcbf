/*
 * out.c - numbers are written as printf(3) writes them, at every number of digits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/out.h"
#include "tests/check-run.h"

static struct out o;

static void
out_setup(void)
{
	tnf_out_memory(&o);
}

static void
out_teardown(void)
{
	tnf_out_close(&o);
}

/* What was written since the last call is this, and no byte more. */
static void
out_is(const char *want)
{
	ck_assert_int_eq(o.p - o.base, (int)strlen(want));
	ck_assert_mem_eq(o.base, want, strlen(want));
	o.p = o.base;
}

static void
as_printf(uint64_t v)
{
	char want[64];

	tnf_out_u64(&o, v);
	snprintf(want, sizeof(want), "%" PRIu64, v);
	out_is(want);
	tnf_out_i64(&o, (int64_t)v);
	snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
	out_is(want);
	tnf_out_hex(&o, v);
	snprintf(want, sizeof(want), "%" PRIx64, v);
	out_is(want);
	tnf_out_u64_width(&o, v, 12);
	snprintf(want, sizeof(want), "%12" PRIu64, v);
	out_is(want);
}

static void
about(uint64_t v)
{
	as_printf(v - 1);
	as_printf(v);
	as_printf(v + 1);
}

START_TEST(numbers)
{
	uint64_t ten = 1;

	for (unsigned i = 0; i < 20; i++, ten *= 10)
		about(ten);
	for (unsigned i = 0; i < 64; i++)
		about(UINT64_C(1) << i);
	for (uint64_t v = 0; v < 100000; v++)
		as_printf(v);
}
END_TEST

/* The buffer grows between two digits of no number. */
START_TEST(many)
{
	uint64_t n = 0;
	const char *s;
	char want[64];

	for (; n < 100000; n++)
		tnf_out_u64(&o, UINT64_MAX - n);
	s = o.base;
	for (n = 0; n < 100000; n++, s += 20) {
		snprintf(want, sizeof(want), "%" PRIu64, UINT64_MAX - n);
		ck_assert_mem_eq(s, want, 20);
	}
	ck_assert_ptr_eq(s, o.p);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("out");
	TCase *t = tcase_create("out");

	tcase_add_checked_fixture(t, out_setup, out_teardown);
	tcase_add_test(t, numbers);
	tcase_add_test(t, many);
	suite_add_tcase(s, t);
	return check_run_nofork(s);
}
