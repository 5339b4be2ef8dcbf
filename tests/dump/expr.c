/*
 * expr.c - the expression language, case by case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/value.h"
#include "tests/check-run.h"
#include "tests/dump/fake.h"

/* Expressions, and whether they keep an event of a probe (see fake.c). */
static const struct {
	const char *text;
	unsigned    probe;
	bool	    holds;
} cases[] = {
	/* names */
	{ "name == 'alpha'", 0, true }, { "probe == 'alpha'", 1, false },
	{ "probe != \"alpha\"", 1, true }, { "probe =~ /^al/", 0, true },
	{ "probe !~ /^al/", 0, false }, { "probe =~ /PH/i", 0, true },
	{ "key == 'vm'", 0, true }, { "key == 'io'", 1, false },
	{ "key != 'io'", 1, true }, { "key != 'vm'", 0, false },
	{ "key == 'vm io'", 0, false }, { "keys == 'vm io'", 0, true },
	{ "key =~ /^i/", 0, true }, { "key =~ /^i/", 1, false },
	{ "key in ('x', 'io')", 0, true }, { "key == 'v'", 0, false },
	{ "key == 'vm'", 2, false }, { "key != 'vm'", 2, true },
	{ "file == 'a.c' and line == 12", 0, true },
	{ "file == 'a.c'", 2, false }, { "file != 'a.c'", 2, false },
	{ "pid == 7 and lwpid == 8 && tid == 9 and cpu == 3", 0, true },
	{ "comm == 'seven'", 0, true }, { "comm =~ /ev.n$/", 2, true },
	{ "elapsed == 6ms", 0, true }, { "elapsed > 5999us", 0, true },
	{ "time == 6001us", 0, true }, { "kernel", 0, false },
	{ "not kernel", 0, true },
	/* members */
	{ "num == -5", 0, true }, { "num < 0", 1, true },
	{ "num < 0", 2, false }, { "not num < 0", 2, false },
	{ "num < 0 or true", 2, true }, { "num < 0 and false", 2, false },
	{ "not (num < 0 and false)", 2, true },
	{ "has num", 1, true }, { "has num", 2, false },
	{ "not has num", 2, true }, { "has arg.pid", 3, true },
	{ "has arg.pid", 0, false }, { "has pid", 0, true },
	{ "has text", 0, false }, { "text == null", 0, false },
	{ "arg.pid == 42", 3, true }, { "pid == 42", 3, false },
	{ "arg.\"pid\" == 42", 3, true },
	{ "point.x == 3 and point.y == -4", 1, true },
	{ "point.z == 3", 1, false }, { "point[1] == -4", 1, true },
	{ "point[7] == -4", 1, false }, { "point.x == 3", 0, false },
	{ "arg.point.x + 1 == 4", 1, true }, { "num.x == 1", 0, false },
	{ "has point", 1, true }, { "has point.x", 1, true },
	{ "big == 18446744073709551615", 0, true },
	{ "big > num", 0, true }, { "num < big", 0, true },
	{ "big >= 0x8000000000000000", 0, true },
	{ "big & 0xf == 0xf", 0, true }, { "big + 1 > big", 0, false },
	{ "real == 2.5", 0, true }, { "real * 2 == 5", 0, true },
	{ "real > 2 and real < 3", 0, true }, { "2 < real", 0, true },
	{ "real & 1 == 0", 0, false },
	/* named values */
	{ "sysnum == 'openat'", 3, true }, { "sysnum =~ /^open/", 3, true },
	{ "sysnum == 257", 3, true }, { "sysnum != 'read'", 3, true },
	{ "errno == 'ENOENT'", 3, true }, { "errno == 2", 3, true },
	{ "errno in ('EPERM', 'ENOENT')", 3, true },
	{ "num == 'x'", 0, false }, { "num != 'x'", 0, false },
	{ "num =~ /^-5$/", 0, true },
	/* arithmetic and precedence */
	{ "1 + 2 * 3 == 7", 2, true }, { "(1 + 2) * 3 == 9", 2, true },
	{ "10 - 4 - 3 == 3", 2, true }, { "7 / 2 == 3", 2, true },
	{ "-7 / 2 == -3", 2, true }, { "-7 % 3 == -1", 2, true },
	{ "7 / 2.0 == 3.5", 2, true }, { "1 / 0 == 0", 2, false },
	{ "1 % 0 != 0", 2, false }, { "6 & 3 == 2", 2, true },
	{ "4 | 1 ^ 1 == 4", 2, true }, { "1 << 4 == 16", 2, true },
	{ "1 + 1 << 2 == 8", 2, true }, { "-16 >> 2 == -4", 2, true },
	{ "~0 == -1", 2, true }, { "- -3 == 3", 2, true },
	{ "1 << 64 == 0", 2, false },
	{ "1 == 1 or 1 == 2 and 1 == 3", 2, true },
	{ "not 1 == 2 and 1 == 1", 2, true }, { "!(1 == 2)", 2, true },
	{ "9223372036854775807 + 1 == 9223372036854775808", 2, true },
	{ "9223372036854775808 - 1 == 0x7fffffffffffffff", 2, true },
	{ "-9223372036854775808 / -1 == 0x8000000000000000", 2, true },
	/* literals */
	{ "0x1F == 31 and 0o17 == 15", 2, true }, { "4K == 4096", 2, true },
	{ "1MiB == 1048576 and 2kB == 2048", 2, true },
	{ "1.5ms == 1500us", 2, true }, { "1h == 60min", 2, true },
	{ "1e3 == 1000", 2, true }, { "2m == 120s", 2, true },
	{ "'a\\x62\\n' == \"ab\\n\"", 2, true }, { "'a' < 'b'", 2, true },
	{ "'ab' > 'a'", 2, true },
	{ "'a/b' =~ /^a\\/b$/", 2, true }, { "'x' =~ 'x|y'", 2, true },
	{ "'aab12' =~ /^[a-c]+(b+)?[0-9]{2}$/", 2, true },
	{ "'a]b' =~ /^a[]x]b$/", 2, true }, { "'a{' =~ /a\\{/", 2, true },
	{ "5 in (1, 2+3)", 2, true }, { "5 in (1)", 2, false },
	{ "5 in (1, null)", 2, false }, { "not 5 in (1, null)", 2, false },
	{ "''", 2, false }, { "'x'", 2, true }, { "null", 2, false },
	{ "not null", 2, false }, { "2", 2, true },
};

/* Mistakes: the column, and a word of the message. */
static const struct {
	const char *text;
	size_t	    column;
	const char *says;
} mistakes[] = {
	{ "", 0, "expected at the end" }, { "pid = 5", 4, "'=='" },
	{ "pid == ", 7, "expected at the end" }, { "(pid == 5", 0, "')'" },
	{ "pid == 5)", 8, "operator expected" },
	{ "pid == 5 6", 9, "operator expected" },
	{ "1 < 2 < 3", 6, "do not chain" }, { "comm == 5", 5, "text" },
	{ "probe + 1", 0, "text" }, { "a =~ b", 5, "regular expression" },
	{ "a =~ /(/", 5, "" }, { "a =~ /x", 5, "without end" },
	{ "'abc", 0, "without end" }, { "'a\\q'", 2, "escape" },
	{ "010 == 8", 0, "leading zero" }, { "5zz", 1, "unit" },
	{ "99999999999999999999", 0, "too large" }, { "0x", 0, "digits" },
	{ "a @ b", 2, "means nothing" }, { "1 == not 2", 5, "parentheses" },
	{ "has 5", 4, "member name" }, { "a. == 1", 3, "member name" },
	{ "a.|| == 1", 2, "member name" }, { "a[1 == 1", 4, "']'" },
	{ "a in 5", 5, "list" }, { "a in (1", 7, "','" },
	{ "a =~ /((x{1,255}){1,255}){1,255}/", 5, "too large" },
	{ "a =~ /x+++++++++++++++++++++++++++++++/", 5, "too large" },
	{ "a =~ /((((((((((((((x+)+)+)+)+)+)+)+)+)+)+)+)+)+/", 5, "too large" },
	{ "pid in ('a')", 4, "text" }, { "1 +", 3, "expected at the end" },
	{ "'it''s' == 'x'", 4, "operator expected" },
};

static void
set_values(void)
{
	fake_set(0, fake_int(-5));
	fake_set(1, fake_uint(UINT64_MAX));
	fake_set(2, fake_real(2.5));
	fake_set(3, fake_null());
	fake_set(4, fake_record());
	fake_set(5, fake_int(257));
	fake_set(6, fake_int(2));
	fake_set(7, fake_int(42));
}

START_TEST(holds)
{
	struct expr_error error;
	struct tnf_event ev;
	struct expr *e;

	set_values();
	fake_event(&ev, cases[_i].probe);
	e = expr_new(cases[_i].text, &fake_source, &error);
	ck_assert_msg(e != NULL, "%s: %s", cases[_i].text, error.text);
	ck_assert_msg(expr_true(e, &ev) == cases[_i].holds, "%s",
	    cases[_i].text);
	ck_assert_msg(expr_true(e, &ev) == cases[_i].holds, "again: %s",
	    cases[_i].text);
	expr_free(e);
}
END_TEST

START_TEST(mistake)
{
	struct expr_error error;
	char buf[512];
	struct expr *e;

	e = expr_new(mistakes[_i].text, &fake_source, &error);
	ck_assert_msg(e == NULL, "%s", mistakes[_i].text);
	ck_assert_msg(strstr(error.text, mistakes[_i].says) != NULL,
	    "%s: %s", mistakes[_i].text, error.text);
	ck_assert_msg(error.column == mistakes[_i].column, "%s: column %zu",
	    mistakes[_i].text, error.column);
	expr_error_format(&error, mistakes[_i].text, buf, sizeof(buf));
	ck_assert_ptr_nonnull(strstr(buf, "^"));
}
END_TEST

START_TEST(limits)
{
	static char text[EXPR_TEXT_MAX + 8];
	struct expr_error error;
	struct expr *e;
	size_t i;

	memset(text, '(', 2000);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	ck_assert_ptr_nonnull(strstr(error.text, "too deep"));
	memset(text, '-', 2000);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	memset(text, '!', 2000);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	for (i = 0; i < 2000; i++)
		memcpy(text + i * 4, "a[a[", 5);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	memset(text, '1', 1);
	for (i = 0; i < 3000; i++)
		memcpy(text + 1 + i * 2, "+1", 3);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	ck_assert_ptr_nonnull(strstr(error.text, "too large"));
	text[1 + 2 * 1000] = '\0';
	e = expr_new(text, &fake_source, &error);
	ck_assert_ptr_nonnull(e);
	expr_free(e);
	memset(text, ' ', EXPR_TEXT_MAX + 1);
	ck_assert_ptr_null(expr_new(text, &fake_source, &error));
	ck_assert_ptr_nonnull(strstr(error.text, "too long"));
	expr_error_format(&error, text, text, sizeof(text));
}
END_TEST

START_TEST(durations)
{
	int64_t ns;

	ck_assert(duration_parse("5ms", &ns) && ns == 5000000);
	ck_assert(duration_parse("2", &ns) && ns == 2000000000);
	ck_assert(duration_parse("0.25", &ns) && ns == 250000000);
	ck_assert(duration_parse("1.5us", &ns) && ns == 1500);
	ck_assert(duration_parse("1d", &ns) && ns == 86400000000000);
	ck_assert(!duration_parse("5K", &ns));
	ck_assert(!duration_parse("", &ns));
	ck_assert(!duration_parse("5ms ", &ns));
	ck_assert(!duration_parse("-1", &ns));
	ck_assert(!duration_parse("99999999999", &ns));
}
END_TEST

/* Not asserted, machines differ; the figure is for the reader of the log. */
START_TEST(speed)
{
	static const char *const texts[] = { "probe == 'alpha'", "num < 0",
	    "pid == 7 and num & 4 != 0 and real > 1" };
	struct timespec a, b;
	struct expr_error error;
	struct tnf_event ev;
	struct expr *e;
	unsigned i, held = 0;

	set_values();
	fake_event(&ev, 0);
	e = expr_new(texts[_i], &fake_source, &error);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (i = 0; i < 1000000; i++)
		held += expr_true(e, &ev);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("# %s: %.1f ns\n", texts[_i],
	    ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / 1e6);
	ck_assert_uint_eq(held % 1000000, 0);
	expr_free(e);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("expr");
	TCase *t = tcase_create("expr");

	tcase_add_loop_test(t, holds, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, mistake, 0,
	    sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_test(t, limits);
	tcase_add_test(t, durations);
	tcase_add_loop_test(t, speed, 0, 3);
	suite_add_tcase(s, t);
	return check_run_nofork(s);
}
