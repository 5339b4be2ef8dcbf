/*
 * times.c - points in time as written on the command line.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/check-run.h"
#include "analysis/timespec.h"

#define S 1000000000LL

static const struct {
	const char *text;
	enum timespec_kind kind;
	int64_t ns;
} good[] = {
	{ "1.5s", TIMESPEC_ELAPSED, 1500000000 }, { "2", TIMESPEC_ELAPSED, 2 * S },
	{ "200ms", TIMESPEC_ELAPSED, 200000000 },
	{ "@123456789", TIMESPEC_MONO, 123456789 },
	{ "03:12", TIMESPEC_DAY, (3 * 60 + 12) * 60 * S },
	{ "03:12:20", TIMESPEC_DAY, (3 * 3600 + 12 * 60 + 20) * S },
	{ "03:12:20.25", TIMESPEC_DAY,
	  (3 * 3600 + 12 * 60 + 20) * S + S / 4 },
	{ "2026-11-21T03:12:20Z", TIMESPEC_WALL, 1795230740 * S },
	{ "2026-11-21T03:12:20.000000001Z", TIMESPEC_WALL, 1795230740 * S + 1 },
	{ "2026-11-21T04:12:20+01:00", TIMESPEC_WALL, 1795230740 * S },
	{ "2026-11-20T22:12:20-0500", TIMESPEC_WALL, 1795230740 * S },
	/* TZ is CET in this test. */
	{ "2026-11-21T04:12:20", TIMESPEC_WALL, 1795230740 * S },
	{ "2026-11-21 04:12:20", TIMESPEC_WALL, 1795230740 * S },
	{ "2026-07-01T02:00", TIMESPEC_WALL, 1782864000 * S },
	{ "2026-11-21", TIMESPEC_WALL, 1795215600 * S },
};

static const char *const bad[] = { "", "x", "5K", "-1", "@", "@x", "25:00",
	"03:60", "03:12:xx", "3:12", "2026-13-01T00:00:00Z", "2026-11-21T",
	"2026-11-21T03:12:20X", "2026-11-21T03:12:20+1", "03:12:20Z ",
	"99999999999s", "1.5.5s" };

START_TEST(is_good)
{
	struct timespec_arg a;
	const char *wrong = timespec_parse(good[_i].text, &a);

	ck_assert_msg(wrong == NULL, "%s: %s", good[_i].text, wrong);
	ck_assert_msg(a.kind == good[_i].kind && a.ns == good[_i].ns,
	    "%s: kind %d, %lld", good[_i].text, (int)a.kind, (long long)a.ns);
}
END_TEST

START_TEST(is_bad)
{
	struct timespec_arg a;

	ck_assert_msg(timespec_parse(bad[_i], &a) != NULL, "%s", bad[_i]);
}
END_TEST

START_TEST(resolve)
{
	/* Begins 2026-11-21T22:59:59 CET, 100 s after boot. */
	struct timespec_clock c = { .first = 100 * S, .wall = true,
		.mono_to_wall = (1795298399 - 100) * S };
	struct timespec_arg a;
	int64_t t;

	ck_assert_ptr_null(timespec_parse("1.5s", &a));
	ck_assert_ptr_null(timespec_resolve(&a, &c, &t));
	ck_assert_int_eq(t, 101500000000);
	ck_assert_ptr_null(timespec_parse("23:00:09", &a));
	ck_assert_ptr_null(timespec_resolve(&a, &c, &t));
	ck_assert_int_eq(t, 110 * S);
	/* Long before the first event: the next day is meant. */
	ck_assert_ptr_null(timespec_parse("00:00:09", &a));
	ck_assert_ptr_null(timespec_resolve(&a, &c, &t));
	ck_assert_int_eq(t, (110 + 3600) * S);
	/* Just before it: nothing is cut off. */
	ck_assert_ptr_null(timespec_parse("22:59:50", &a));
	ck_assert_ptr_null(timespec_resolve(&a, &c, &t));
	ck_assert_int_eq(t, 91 * S);
	ck_assert_ptr_null(timespec_parse("2026-11-21T22:00:09Z", &a));
	ck_assert_ptr_null(timespec_resolve(&a, &c, &t));
	ck_assert_int_eq(t, 110 * S);
	c.wall = false;
	ck_assert_ptr_nonnull(timespec_resolve(&a, &c, &t));
}
END_TEST

START_TEST(format)
{
	char buf[WALL_SIZE];

	ck_assert_uint_eq(wall_format(buf, 1795230740 * S + 5, false), 35);
	ck_assert_str_eq(buf, "2026-11-21T04:12:20.000000005+01:00");
	ck_assert_uint_eq(wall_format(buf, 1795230740 * S + 6, false), 35);
	ck_assert_str_eq(buf, "2026-11-21T04:12:20.000000006+01:00");
	wall_format(buf, 1795230740 * S + 5, true);
	ck_assert_str_eq(buf, "2026-11-21T03:12:20.000000005Z");
	wall_format(buf, -1, true);
	ck_assert_str_eq(buf, "1969-12-31T23:59:59.999999999Z");
	wall_format(buf, INT64_MIN, true);
	wall_format(buf, INT64_MAX, false);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("times");
	TCase *t = tcase_create("times");

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	tcase_add_loop_test(t, is_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(t, is_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, resolve);
	tcase_add_test(t, format);
	suite_add_tcase(s, t);
	return check_run_nofork(s);
}
