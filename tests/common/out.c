/*
 * out.c - numbers are written as printf(3) writes them, at every number of digits; texts of
 * every length, written by a thread, too; an output that nobody reads.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* The text written since the last call is this, and no byte more. */
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
	tnf_out_0x(&o, v);
	snprintf(want, sizeof(want), "0x%" PRIx64, v);
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

static size_t
read_all(int fd, char *to, size_t n)
{
	size_t have = 0;

	for (ssize_t got; have < n && (got = read(fd, to + have, n - have)) > 0; )
		have += (size_t)got;
	return have;
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

static void
fixed(int64_t ns, unsigned width)
{
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char text[64], want[64];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64, ns < 0 ? "-" : "", v / 1000000, v % 1000000);
	snprintf(want, sizeof(want), "%*s", (int)width, text);
	tnf_out_ms(&o, ns, width);
	out_is(want);
	snprintf(want, sizeof(want), "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", v / 1000, v % 1000);
	tnf_out_us(&o, ns);
	out_is(want);
}

START_TEST(times)
{
	static const unsigned widths[] = { 0, 7, 8, 9, 16, 30 };
	uint64_t ten = 1;

	for (unsigned i = 0; i < 19; i++, ten *= 10)
		for (unsigned k = 0; k < 6; k++) {
			fixed((int64_t)ten, widths[k]);
			fixed((int64_t)ten - 1, widths[k]);
			fixed(-(int64_t)ten, widths[k]);
		}
	fixed(INT64_MAX, 0);
	fixed(INT64_MIN, 30);
}
END_TEST

START_TEST(doubles)
{
	static const struct { double v; const char *want; } rows[] = {
		{ 0, "0.0" }, { 1, "1.0" }, { -2.5, "-2.5" }, { 0.1, "0.1" }, { 0.1 + 0.2, "0.30000000000000004" },
		{ 1e300, "1e+300" }, { 1.0 / 3, "0.3333333333333333" }, { 123456789012345678.0, "1.2345678901234568e+17" },
		{ 100000, "100000.0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tnf_out_double(&o, rows[i].v);
		out_is(rows[i].want);
	}
	tnf_out_format(&o, "%d-%s", 7, "x");
	out_is("7-x");
}
END_TEST

/* Texts of all lengths, through a buffer and into a file. */
START_TEST(texts)
{
	static char text[3 * OUT_MARGIN + 1], back[sizeof(text)];
	struct out f;
	int ends[2];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)('a' + i % 23);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(tnf_out_init(&f, ends[1]), 0);
	for (size_t n = 0; n < sizeof(text); n++) {
		tnf_out_bytes(&o, text, n);
		ck_assert_int_eq(o.p - o.base, (int)n);
		ck_assert_mem_eq(o.base, text, n);
		o.p = o.base;
		tnf_out_bytes(&f, text, n);
		ck_assert_int_eq(f.p - f.base, (int)n);
		tnf_out_flush(&f);
		ck_assert_int_eq(n == 0 ? 0 : (int)read_all(ends[0], back, n), (int)n);
		ck_assert_mem_eq(back, text, n);
	}
	tnf_out_pad(&o, 5);
	out_is("     ");
	tnf_out_pad(&o, 10 * OUT_MARGIN);
	ck_assert_int_eq(o.p - o.base, OUT_MARGIN);
	out_char(&f, 'x');
	ck_assert_int_eq(tnf_out_close(&f), 0);
	/* The lowest descriptor is one, too. */
	ck_assert_int_eq(dup2(ends[1], 0), 0);
	ck_assert_int_eq(tnf_out_init(&f, 0), 0);
	out_char(&f, 'x');
	ck_assert_int_eq(tnf_out_close(&f), 0);
	close(0);
	ck_assert_int_eq(tnf_out_close(&f), 0);
	ck_assert_int_eq(read_all(ends[0], back, 2), 2);
	close(ends[0]);
	/* The reader has gone: the error is told once, at the end. */
	ck_assert_int_eq(tnf_out_init(&f, ends[1]), 0);
	for (size_t i = 0; i < 3 * OUT_SIZE; i += 512)
		tnf_out_bytes(&f, text, 512);
	ck_assert_int_eq(tnf_out_close(&f), EPIPE);
	close(ends[1]);
}
END_TEST

#define BUFFERS	5u

/* Fills BUFFERS and a half with numbers. */
static void
fill(struct out *f)
{
	for (uint32_t i = 0; i < BUFFERS * OUT_SIZE / 4 + OUT_SIZE / 8; i++)
		tnf_out_bytes(f, (const char *)&i, sizeof(i));
}

/* A thread writes: the file gets all bytes in their order, and has them when a flush returns. */
START_TEST(beside)
{
	FILE *file = tmpfile();
	struct out f;
	uint32_t n = 0, v;
	struct stat st;

	ck_assert_int_eq(tnf_out_init(&f, fileno(file)), 0);
	f.beside = true;
	fill(&f);
	ck_assert_ptr_nonnull(f.thread);
	tnf_out_flush(&f);
	ck_assert_int_eq(fstat(fileno(file), &st), 0);
	ck_assert_int_eq(st.st_size, BUFFERS * OUT_SIZE + OUT_SIZE / 2);
	fill(&f);
	ck_assert_int_eq(tnf_out_close(&f), 0);
	rewind(file);
	for (; fread(&v, sizeof(v), 1, file) == 1; n++)
		if (v != n % (BUFFERS * OUT_SIZE / 4 + OUT_SIZE / 8))
			ck_abort_msg("%u: %u", n, v);
	ck_assert_uint_eq(n, 2 * (BUFFERS * OUT_SIZE / 4 + OUT_SIZE / 8));
	fclose(file);
}
END_TEST

/* Errors of the thread are the output's: the disk is full, and the reader has gone. */
START_TEST(beside_fails)
{
	int fd = open("/dev/full", O_WRONLY), ends[2];
	struct out f;

	ck_assert_int_eq(tnf_out_init(&f, fd), 0);
	f.beside = true;
	fill(&f);
	ck_assert_int_eq(f.error, ENOSPC);
	ck_assert_int_eq(tnf_out_close(&f), ENOSPC);
	close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	ck_assert_int_eq(tnf_out_init(&f, ends[1]), 0);
	f.beside = true;
	fill(&f);
	ck_assert_int_eq(tnf_out_close(&f), EPIPE);
	close(ends[1]);
}
END_TEST

/* In memory it grows, and keeps what was there. */
START_TEST(growing)
{
	for (uint32_t i = 0; i < 400000; i++)
		tnf_out_bytes(&o, (const char *)&i, sizeof(i));
	ck_assert_int_eq(o.p - o.base, 1600000);
	for (uint32_t i = 0, v; i < 400000; i++) {
		memcpy(&v, o.base + 4 * (size_t)i, sizeof(v));
		if (v != i)
			ck_abort_msg("%u: %u", i, v);
	}
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
	tcase_add_test(t, times);
	tcase_add_test(t, doubles);
	tcase_add_test(t, texts);
	tcase_add_test(t, beside);
	tcase_add_test(t, beside_fails);
	tcase_add_test(t, growing);
	signal(SIGPIPE, SIG_IGN);
	suite_add_tcase(s, t);
	return check_run_nofork(s);
}
