/*
 * message.c - the difference of two clocks has the wrong sign, or an error that is too small;
 * a host that lies about its clock.
 */
#include <inttypes.h>

#include "tests/check-run.h"
#include "tnffleet/message.h"

#define NOW	INT64_C(1700000000000000000)

static struct fleet_message m;
static int64_t offset, error;

/* An exchange with a host whose clock is ahead: so long there, so long back. */
static bool
exchange(int64_t ahead, int64_t there, int64_t work, int64_t back)
{
	m.received = NOW + there + ahead;
	m.sent = m.received + work;
	return fleet_clock_offset(&m, NOW, NOW + there + work + back, &offset, &error);
}

/* Whatever the clocks and the ways are: their sum is right up to the error. */
START_TEST(clocks)
{
	static const int64_t aheads[] = { 0, 1, -1, 1000000007, -1000000007, NOW, -NOW / 2 };
	static const int64_t ways[] = { 0, 1, 2, 77777, 60000000001 };

	for (size_t i = 0; i < 7 * 5 * 5 * 2; i++) {
		int64_t ahead = aheads[i % 7], there = ways[i / 7 % 5], back = ways[i / 35 % 5];
		ck_assert(exchange(ahead, there, i / 175 == 0 ? 0 : 5000000000, back));
		ck_assert_int_eq(error, (there + back + 1) / 2);
		ck_assert_msg(offset + ahead <= error && offset + ahead >= -error,
		    "%" PRId64 " ahead: offset %" PRId64 ", error %" PRId64, ahead, offset, error);
		if (there == back)
			ck_assert_int_eq(offset, -ahead);
	}
}
END_TEST

START_TEST(lies)
{
	static const struct { int64_t received, sent, got; bool good; } rows[] = {
		{ NOW, NOW, NOW, true }, { NOW, NOW + 5, NOW + 5, true }, { NOW, NOW + 6, NOW + 5, false },
		{ 0, NOW, NOW, false }, { 1, 1, NOW, true }, { -1, NOW, NOW, false }, { NOW + 1, NOW, NOW + 5, false },
		{ NOW, NOW, NOW - 1, false }, { INT64_MAX, INT64_MAX, NOW, false }, { 1, INT64_MAX, NOW, false },
		{ INT64_MIN, INT64_MAX, NOW, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		m.received = rows[i].received;
		m.sent = rows[i].sent;
		ck_assert_msg(fleet_clock_offset(&m, NOW, rows[i].got, &offset, &error) == rows[i].good, "row %zu", i);
	}
	m.received = m.sent = 1;
	ck_assert(!fleet_clock_offset(&m, 0, NOW, &offset, &error) && fleet_clock_offset(&m, 1, NOW, &offset, &error));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("message");
	TCase *t = tcase_create("message");

	tcase_add_test(t, clocks);
	tcase_add_test(t, lies);
	suite_add_tcase(s, t);
	return check_run(s);
}
