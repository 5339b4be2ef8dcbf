/*
 * test-lazy.c - large files: what is read as it is asked for is what is read at once.
 *
 * Guards against events that are left out, or come late, because a block was taken for
 * later or earlier than it is: blocks that a thread has kept for laps, the seam of
 * the ring at every place, times at the borders, threads of the same numbers.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/com.h>
#include <tnf/stream.h>

#include "tests/check-run.h"
#include "tests/reader/mkfile.h"

#define THREADS		4u
#define BLOCKS		24u
#define EVENTS_MAX	4096u

struct seen {
	int64_t	 time;
	uint64_t tid;
	uint32_t pos;
	unsigned file;
};

static struct seen whole[EVENTS_MAX], lazy[EVENTS_MAX];

#define FEW_TYPES	4096u	/* bytes: so threads of the survey begin among the data */

static const struct mk_opts kinds[] = {
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .tag_reserve = FEW_TYPES },
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .big = true },
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .narrow = true, .align4 = true },
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .narrow = true, .big = true },
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .kernel = true },
	{ .data_blocks = BLOCKS, .wrap = true, .hold = true, .kernel = true, .narrow = true, .big = true },
};

/* 'n' events of threads that write at different rates; the last one writes at the
   beginning and at the end only. */
static struct mk *
make(const struct mk_opts *o, unsigned n, int64_t time)
{
	struct mk *m = mk_new(o);
	struct mk_thread t[THREADS];
	unsigned i, who, p = mk_probe(m, "p", "keys k;", "i:tnf_int32 s:tnf_string");

	for (i = 0; i < THREADS; i++)
		t[i] = (struct mk_thread){ .pid = 7, .lwpid = i + 1, .tid = i + 1 };
	for (i = 0; i < n; i++) {
		who = i % 7 == 0 ? 1 : i % 31 == 0 ? 2 : 0;
		if (i == 1 || i + 2 == n)
			who = 3;
		/* Some times are equal. */
		ck_assert(mk_event(m, &t[who], p, time + i / 3 * 3, (int64_t)i, "text"));
	}
	return m;
}

struct opened {
	tnf_stream_t *s;
	struct tnf_file *file[2];
	unsigned n;
};

static struct opened
open_files(struct mk *const *m, unsigned n, uint64_t lazily)
{
	struct opened o = { .n = n };
	size_t size;
	unsigned i;

	ck_assert_int_eq(tnf_stream_new(&o.s), 0);
	tnf_stream_lazily(o.s, lazily);
	for (i = 0; i < n; i++) {
		const void *p = mk_bytes(m[i], &size);

		ck_assert_int_eq(tnf_stream_add_mem(o.s, p, size, "m", &o.file[i]), 0);
	}
	return o;
}

static unsigned
take(struct opened *o, struct seen *list, int64_t from, unsigned max)
{
	struct tnf_event ev;
	unsigned n = 0;
	int r = 0;

	while (n < max && (r = tnf_stream_next(o->s, &ev)) == 1)
		if (ev.time >= from)
			list[n++] = (struct seen){ ev.time, ev.tid, ev.pos,
			    o->n > 1 && ev.file == o->file[1] };
	ck_assert_int_ge(r, 0);
	return n;
}

static void
same(const struct seen *a, const struct seen *b, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		ck_assert_msg(a[i].time == b[i].time && a[i].tid == b[i].tid &&
		    a[i].pos == b[i].pos && a[i].file == b[i].file,
		    "event %u of %u: time %lld at 0x%x, wanted %lld at 0x%x", i, n,
		    (long long)b[i].time, b[i].pos, (long long)a[i].time, a[i].pos);
}

static void
same_summary(const struct tnf_file *a, const struct tnf_file *b)
{
	struct tnf_summary x, y;

	memset(&x, 0, sizeof(x));
	memset(&y, 0, sizeof(y));
	tnf_file_summary(a, &x);
	tnf_file_summary(b, &y);
	ck_assert(memcmp(&x, &y, sizeof(x)) == 0);
}

/* From a time on: what is at it and all later, and the file's whole span. */
static void
from_time(struct mk *const *m, unsigned n_files, unsigned n, int64_t from, unsigned before)
{
	struct opened o = open_files(m, n_files, 1);
	int64_t first, last;
	unsigned i, k, got = before;

	ck_assert_uint_eq(take(&o, lazy, INT64_MIN, before), before);
	same(whole, lazy, before);
	while (got < n && whole[got].time < from)
		got++;
	ck_assert_int_eq(tnf_stream_skip(o.s, from), 0);
	k = take(&o, lazy, from, EVENTS_MAX);
	ck_assert_uint_eq(k, n - got);
	same(whole + got, lazy, k);
	for (i = 0; i < n_files && n_files == 1; i++) {
		ck_assert_int_eq(tnf_file_span(o.file[i], &first, &last), 0);
		ck_assert(first == whole[0].time && last == whole[n - 1].time);
	}
	tnf_stream_close(o.s);
}

static void
compare(struct mk *const *m, unsigned n_files)
{
	struct opened a = open_files(m, n_files, 0), b = open_files(m, n_files, 1);
	int64_t first, last;
	unsigned n, i;

	n = take(&a, whole, INT64_MIN, EVENTS_MAX);
	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(tnf_file_span(b.file[0], &first, &last), 0);
	ck_assert_uint_eq(take(&b, lazy, INT64_MIN, EVENTS_MAX), n);
	same(whole, lazy, n);
	for (i = 0; i < n_files; i++)
		same_summary(a.file[i], b.file[i]);
	tnf_stream_close(a.s);
	tnf_stream_close(b.s);
	for (i = 0; i < n; i += 1 + n / 6) {
		from_time(m, n_files, n, whole[i].time, 0);
		from_time(m, n_files, n, whole[i].time + 1, 0);
		from_time(m, n_files, n, whole[i].time - 1, i / 2);
	}
	from_time(m, n_files, n, whole[n - 1].time, 1);
	from_time(m, n_files, n, whole[n - 1].time + 1, 1);
	from_time(m, n_files, n, INT64_MIN, 1);
}

/* The seam comes by every block, and laps before that are there in part. */
START_TEST(every_seam)
{
	unsigned n;
	struct mk *m;

	for (n = 5; n < 700; n += 13) {
		m = make(&kinds[_i], n, 1000000);
		compare(&m, 1);
		mk_free(m);
	}
}
END_TEST

START_TEST(two_files)
{
	struct mk *m[2] = { make(&kinds[_i], 400, 1000000), make(&kinds[_i], 300, 1000100) };

	compare(m, 2);
	mk_free(m[0]);
	mk_free(m[1]);
}
END_TEST

/* A block whose first event is not its earliest is told by its schedule: it is read
   with all that is in it, if not in order. */
START_TEST(earlier_than_it_says)
{
	struct mk *m = make(&kinds[_i], 200, 1000000);
	struct opened a, b;
	uint32_t pos = mk_last_event(m);
	unsigned n;

	/* time_delta of its last event, so that the block is not in order. */
	mk_put32(m, pos + 4, mk_get32(m, pos + 4) + 50);
	a = open_files(&m, 1, 0);
	b = open_files(&m, 1, 1);
	n = take(&a, whole, INT64_MIN, EVENTS_MAX);
	ck_assert_uint_eq(take(&b, lazy, INT64_MIN, EVENTS_MAX), n);
	same(whole, lazy, n);
	same_summary(a.file[0], b.file[0]);
	tnf_stream_close(a.s);
	tnf_stream_close(b.s);
	mk_free(m);
}
END_TEST

/* Threads of two processes that have the same numbers, in two pid name spaces: one
   is slow, so that its block ends after the other's has begun. */
START_TEST(equal_numbers)
{
	struct mk *m = mk_new(&kinds[_i]);
	struct mk_thread t[2] = { { .pid = 1, .lwpid = 1, .tid = 1 },
	    { .pid = 1, .lwpid = 1, .tid = 1 } };
	const uint32_t ext[][2] = {
		{ offsetof(struct tnf_ext, magic), TNF_EXT_MAGIC },
		{ offsetof(struct tnf_ext, version), TNF_EXT_VERSION },
		{ offsetof(struct tnf_ext, size), sizeof(struct tnf_ext) },
		{ offsetof(struct tnf_ext, kind), TNF_EXT_PROCESS },
		{ offsetof(struct tnf_ext, attached), 2 },
		{ offsetof(struct tnf_ext, ended), 2 },
	};
	unsigned i, p = mk_probe(m, "p", "keys k;", "i:tnf_int32 s:tnf_string");

	for (i = 0; i < 150; i++)
		ck_assert(mk_event(m, &t[i % 50 == 0 || i == 149], p, 1000000 + i * 10, (int64_t)i,
		    "text"));
	for (i = 0; i < sizeof(ext) / sizeof(ext[0]); i++)
		mk_put32(m, TNF_EXT_OFFSET + ext[i][0], ext[i][1]);
	compare(&m, 1);
	mk_free(m);
}
END_TEST

struct told {
	unsigned n;
	char text[8][200];
};

static void
on_damage(void *arg, struct tnf_file *f, uint64_t offset, const char *text)
{
	struct told *t = arg;

	ck_assert_uint_lt(t->n, 8);
	snprintf(t->text[t->n++], sizeof(t->text[0]), "%llx %s",
	    (unsigned long long)offset, text);
}

static struct told
damage_told(struct mk *m, uint64_t lazily, bool read)
{
	struct told t = { 0 };
	struct tnf_event ev;
	tnf_stream_t *s;
	size_t size;
	const void *p = mk_bytes(m, &size);

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_on_damage(s, on_damage, &t);
	tnf_stream_lazily(s, lazily);
	ck_assert_int_eq(tnf_stream_add_mem(s, p, size, "m", NULL), 0);
	while (read && tnf_stream_next(s, &ev) == 1)
		;
	ck_assert(!read || t.n > 0);
	tnf_stream_close(s);
	return t;
}

/* The same words, in the order of the file, once all has been read. */
START_TEST(damage)
{
	struct mk *m = make(&kinds[_i], 600, 1000000);
	uint32_t start = mk_data_start(m);
	struct told a, b;
	unsigned i;

	for (i = 2; i < 20; i += 5)
		mk_put32(m, start + i * 512 + 400, 0x12345673);	/* no record */
	mk_put16(m, start + 3 * 512 + 8, 5000);	/* more than a block has */
	mk_put16(m, start + 4 * 512 + 8, 3);	/* less than its header */
	mk_put32(m, start + 9 * 512, 0x80000002);	/* no header */
	a = damage_told(m, 0, true);
	b = damage_told(m, 1, true);
	ck_assert_uint_eq(a.n, b.n);
	for (i = 0; i < a.n; i++)
		ck_assert_str_eq(a.text[i], b.text[i]);
	/* Damage that was found when the file was added is told in any case. */
	ck_assert_uint_le(damage_told(m, 1, false).n, a.n);
	mk_free(m);
}
END_TEST

static void
count(void *arg, const struct tnf_event *ev)
{
	uint64_t *sums = arg;

	sums[0]++;
	sums[1] += (uint64_t)ev->time * (ev->pos | 1) + ev->tid;
}

/* In any order come the same events, each once, and the same damage. */
START_TEST(each)
{
	struct mk *m[2] = { make(&kinds[_i], 600, 1000000), make(&kinds[_i], 500, 1000100) };
	uint64_t want[2] = { 0 }, got[2] = { 0 };
	struct tnf_event ev;

	mk_put32(m[0], mk_data_start(m[0]) + 2 * 512 + 400, 0x12345673);	/* no record */
	struct opened a = open_files(m, 2, 0), b = open_files(m, 2, 1);
	while (tnf_stream_next(a.s, &ev) == 1)
		count(want, &ev);
	ck_assert_int_eq(tnf_stream_each(b.s, count, got), 0);
	ck_assert_uint_gt(want[0], 0);
	ck_assert_uint_eq(got[0], want[0]);
	ck_assert_uint_eq(got[1], want[1]);
	for (unsigned i = 0; i < 2; i++)
		same_summary(a.file[i], b.file[i]);
	tnf_stream_close(a.s);
	tnf_stream_close(b.s);
	mk_free(m[0]);
	mk_free(m[1]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *su = suite_create("lazy");
	TCase *tc = tcase_create("lazy");
	int n = sizeof(kinds) / sizeof(kinds[0]);

	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, every_seam, 0, n);
	tcase_add_loop_test(tc, two_files, 0, n);
	tcase_add_loop_test(tc, earlier_than_it_says, 0, n);
	tcase_add_loop_test(tc, equal_numbers, 0, n);
	tcase_add_loop_test(tc, damage, 0, n);
	tcase_add_loop_test(tc, each, 0, n);
	suite_add_tcase(su, tc);
	return su;
}

int
main(void)
{
	return check_run_nofork(suite());
}
