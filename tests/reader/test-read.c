/*
 * test-read.c - good files of every kind are read right.
 */
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "tests/check-run.h"
#include "tests/reader/samples.h"
#include "tests/reader/walk.h"

static tnf_stream_t *
open_one(struct mk *m)
{
	tnf_stream_t *s;
	size_t n;
	unsigned char *p = mk_bytes(m, &n);

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, p, n, "one", NULL), 0);
	return s;
}

static struct tnf_value
value(const struct tnf_event *ev, unsigned i)
{
	struct tnf_value v;

	ck_assert(tnf_event_value(ev, i, &v));
	return v;
}

static void
check_all(const struct tnf_event *ev, int64_t i)
{
	struct tnf_value s = value(ev, 4);

	ck_assert_int_eq(value(ev, 0).u.i, -i);
	ck_assert_int_eq(value(ev, 1).u.i, i << 33);
	ck_assert_int_eq(value(ev, 2).kind, TNF_K_CHAR);
	ck_assert_int_eq(value(ev, 2).u.i, 'c');
	ck_assert(value(ev, 3).u.d == (double)i / 2);
	ck_assert_int_eq(s.kind, TNF_K_STRING);
	ck_assert_uint_eq(s.u.s.len, 4);
	ck_assert(memcmp(s.u.s.chars, "text", 4) == 0);
}

static void
check_nested(const struct tnf_event *ev, int64_t i)
{
	struct tnf_value p = value(ev, 0), x;

	ck_assert_int_eq(p.kind, TNF_K_STRUCT);
	ck_assert_uint_eq(p.u.r.count, 2);
	ck_assert_str_eq(p.u.r.type->members[1].name, "y");
	ck_assert(tnf_value_item(ev->file, &p, 0, &x));
	ck_assert_int_eq(x.u.i, i);
	ck_assert(!tnf_value_item(ev->file, &p, 2, &x));
	ck_assert(value(ev, 1).type->opaque);
	ck_assert_uint_eq(value(ev, 1).u.u, 0xbeef);
}

/* Byte order, word size, alignment and schedule layout are the file's. */
START_TEST(values)
{
	struct mk *m = sample((unsigned)_i);
	tnf_stream_t *s = open_one(m);
	struct tnf_event ev;
	unsigned n;

	for (n = 0; tnf_stream_next(s, &ev) == 1; n++) {
		ck_assert_int_eq(ev.time, 5000001000 + 1000 * (int64_t)n);
		ck_assert_int_eq(ev.pid, 100);
		ck_assert_uint_eq(ev.lwpid, 1 + (n / 3 & 1));
		ck_assert_int_eq(ev.cpu, _i < 4 ? -1 : (int)(n / 3 & 1));
		ck_assert_int_eq(ev.kernel, _i >= 4);
		if (n % 3 == 1)
			check_all(&ev, n - 1);
		else if (n % 3 == 2)
			check_nested(&ev, n - 2);
	}
	ck_assert_uint_eq(n, SAMPLE_EVENTS);
	ck_assert_uint_eq(tnf_stream_probes(s), 3);
	ck_assert_str_eq(tnf_stream_probe(s, 1)->keys, "a b");
	ck_assert_ptr_null(tnf_stream_probe(s, 3));
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/* Both interfaces see the same events; nothing is called damaged. */
START_TEST(both_ways)
{
	struct mk *m = sample((unsigned)_i);
	size_t n;
	unsigned char *p = mk_bytes(m, &n), *odd = malloc(n + 1);
	struct walk_result r = walk_stream(p, n), c = walk_classic(p, n);

	ck_assert_uint_eq(r.events, SAMPLE_EVENTS);
	ck_assert_uint_eq(c.events, SAMPLE_EVENTS);
	ck_assert_uint_eq(r.damaged + c.damaged, 0);
	/* Memory need not be aligned. */
	memcpy(odd + 1, p, n);
	ck_assert_uint_eq(walk_stream(odd + 1, n).sum, r.sum);
	free(odd);
	mk_free(m);
}
END_TEST

static unsigned
next_arg(tnf_stream_t *s)
{
	struct tnf_event ev;

	return tnf_stream_next(s, &ev) == 1 ?
	    (unsigned)value(&ev, 0).u.i : 9999;
}

/* Times that go back within a block (nested interrupts) come out sorted. */
START_TEST(disorder_in_block)
{
	static const int64_t times[] = { 50, 10, 40, 20, 30 };
	struct mk *m = mk_new(&(struct mk_opts){ 0 });
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p = mk_probe(m, "p", "keys k;", "i:tnf_int32"), i;
	tnf_stream_t *s;

	for (i = 0; i < 5; i++)
		ck_assert(mk_event(m, &t, p, times[i], times[i]));
	s = open_one(m);
	for (i = 10; i <= 50; i += 10)
		ck_assert_uint_eq(next_arg(s), i);
	ck_assert_uint_eq(next_arg(s), 9999);
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/* Equal times: order of files, then of offsets. */
START_TEST(equal_times)
{
	struct mk *m[2];
	struct mk_thread t[2];
	tnf_stream_t *s;
	unsigned f, i, p;
	size_t n;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	for (f = 0; f < 2; f++) {
		m[f] = mk_new(&(struct mk_opts){ .big = f == 1 });
		memset(t, 0, sizeof t);
		p = mk_probe(m[f], "p", "keys k;", "i:tnf_int32");
		for (i = 0; i < 200; i++)
			ck_assert(mk_event(m[f], &t[i / 50 & 1], p, 7,
			    (int64_t)(f * 200 + i)));
		unsigned char *b = mk_bytes(m[f], &n);
		ck_assert_int_eq(tnf_stream_add_mem(s, b, n, "f", NULL), 0);
	}
	{
		struct tnf_event ev, before = { .file = NULL };

		for (i = 0; tnf_stream_next(s, &ev) == 1; i++) {
			if (ev.file == before.file)
				ck_assert_uint_gt(ev.pos, before.pos);
			else
				ck_assert(i == 0 || i == 200);
			before = ev;
		}
		ck_assert_uint_eq(i, 400);
	}
	tnf_stream_close(s);
	for (f = 0; f < 2; f++)
		mk_free(m[f]);
}
END_TEST

/* Definitions in data blocks, behind events of theirs: in the file's order. */
START_TEST(late_definitions)
{
	struct mk *m = mk_new(&(struct mk_opts){ .tag_reserve = 512 });
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p[12], i;
	tnf_stream_t *s;

	for (i = 0; i < 12; i++) {
		p[i] = mk_probe(m, "p", "keys k;", "i:tnf_int32");
		if (i == 0)
			ck_assert(mk_event(m, &t, p[0], 1, (int64_t)0));
	}
	while (--i > 0)
		ck_assert(mk_event(m, &t, p[i], 20 - i, (int64_t)i));
	s = open_one(m);
	ck_assert_uint_eq(tnf_stream_probes(s), 12);
	ck_assert_uint_gt(tnf_stream_probe(s, 11)->pos, mk_last_event(m));
	for (i = 0; i < 12; i++) {
		const struct tnf_probe *d = tnf_stream_probe(s, i);

		ck_assert(d->defined);
		ck_assert_uint_eq(d->id, i);
		ck_assert(i == 0 || d->pos > tnf_stream_probe(s, i - 1)->pos);
	}
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/* Many threads, many laps: what is left is in order, and all of it. */
START_TEST(laps)
{
	struct mk_opts o = { .wrap = true, .data_blocks = 32,
	    .big = _i & 1, .narrow = _i & 2 };
	struct mk *m = mk_new(&o);
	struct mk_thread t[4] = { { 0 } };
	unsigned p = mk_probe(m, "p", "keys k;", "i:tnf_int32"), i, n, first;
	struct tnf_event ev;
	tnf_stream_t *s;

	for (i = 0; i < 10000; i++)
		ck_assert(mk_event(m, &t[i & 3], p, 1000 + i, (int64_t)i));
	s = open_one(m);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	first = (unsigned)value(&ev, 0).u.i;
	for (n = first + 1; n < 10000 && tnf_stream_next(s, &ev) == 1; n++)
		ck_assert_int_eq(ev.time, 1000 + value(&ev, 0).u.i);
	ck_assert_uint_gt(first, 9000);
	/* The oldest blocks of the four end at different events. */
	ck_assert_uint_ge(n, 10000 - 200);
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/* An event waits for its time, and its block is taken over meanwhile. */
START_TEST(lost_while_waiting)
{
	struct mk_opts o = { .data_blocks = 1 };
	struct mk *m = mk_new(&o);
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p = mk_probe(m, "p", "", "i:tnf_int32");
	struct tnf_progress progress;
	struct tnf_event ev;
	tnf_stream_t *s;
	unsigned char *bytes;
	size_t n;

	bytes = mk_bytes(m, &n);
	ck_assert(mk_event(m, &t, p, 1000, (int64_t)1));
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_follow(s);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, "one", NULL), 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 0);
	ck_assert(mk_event(m, &t, p, 2000, (int64_t)2));
	ck_assert_int_eq(tnf_stream_refresh(s, 1500, &progress), 0);
	ck_assert_uint_eq(progress.events, 1);
	ck_assert_uint_eq(progress.blocks_missed, 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 0);
	ck_assert_uint_eq(tnf_stream_waiting(s), 1);
	mk_put32(m, mk_data_start(m) + 4, 2);
	ck_assert_int_eq(tnf_stream_refresh(s, 1500, &progress), 0);
	while (tnf_stream_next(s, &ev) == 1)
		ck_assert_int_eq(ev.time, 1000);
	ck_assert_int_eq(tnf_stream_refresh(s, 3000, &progress), 0);
	ck_assert_uint_eq(progress.blocks_missed, 1);
	while (tnf_stream_next(s, &ev) == 1)
		continue;
	ck_assert_int_eq(tnf_stream_refresh(s, 3000, &progress), 0);
	ck_assert_uint_eq(progress.blocks_missed, 0);
	/* Events that are gone wait no more. */
	ck_assert_uint_eq(tnf_stream_waiting(s), 0);
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

static void
put_ext(struct mk *m, size_t at, uint32_t v)
{
	mk_put32(m, TNF_EXT_OFFSET + (uint32_t)at, v);
}

/* As a process's file has it, which has taken one block. */
static void
put_process(struct mk *m)
{
	put_ext(m, offsetof(struct tnf_ext, version), TNF_EXT_VERSION);
	put_ext(m, offsetof(struct tnf_ext, size), sizeof(struct tnf_ext));
	put_ext(m, offsetof(struct tnf_ext, kind), TNF_EXT_PROCESS);
	put_ext(m, offsetof(struct tnf_ext, data_cursor), 1);
	put_ext(m, offsetof(struct tnf_ext, data_start), mk_data_start(m));
	put_ext(m, offsetof(struct tnf_ext, magic), TNF_EXT_MAGIC);
}

/* Blocks are lost unread, and with them what waits: one refresh tells all of it. */
START_TEST(lost_at_once)
{
	struct mk_opts o = { .data_blocks = 1 };
	struct mk *m = mk_new(&o);
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p = mk_probe(m, "p", "", "i:tnf_int32");
	struct tnf_progress progress;
	struct tnf_event ev;
	unsigned char *bytes;
	tnf_stream_t *s;
	size_t n;

	put_process(m);
	bytes = mk_bytes(m, &n);
	ck_assert(mk_event(m, &t, p, 1000, (int64_t)1));
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_follow(s);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, "one", NULL), 0);
	while (tnf_stream_next(s, &ev) == 1)
		continue;
	ck_assert(mk_event(m, &t, p, 2000, (int64_t)2));
	ck_assert_int_eq(tnf_stream_refresh(s, 1500, &progress), 0);
	ck_assert_uint_eq(progress.blocks_missed, 0);
	ck_assert_uint_eq(tnf_stream_waiting(s), 1);
	/* The only block has been taken four times since, and three of them were not seen. */
	mk_put32(m, mk_data_start(m) + 4, 5);
	put_ext(m, offsetof(struct tnf_ext, data_cursor), 5);
	ck_assert_int_eq(tnf_stream_refresh(s, 3000, &progress), 0);
	ck_assert_uint_eq(progress.blocks_missed, 3 + 1);
	while (tnf_stream_next(s, &ev) == 1)
		continue;
	ck_assert_int_eq(tnf_stream_refresh(s, 3000, &progress), 0);
	ck_assert_uint_eq(progress.blocks_missed, 0);
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/* Two files that hold the same part of what one process wrote; it is told once, also where
   the stream follows another file that is added later. */
START_TEST(siblings)
{
	struct mk *m = mk_new(&(struct mk_opts){ .data_blocks = 1 });
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p = mk_probe(m, "p", "", "i:tnf_int32");
	unsigned char *bytes;
	tnf_stream_t *s;
	size_t n;

	put_process(m);
	put_ext(m, offsetof(struct tnf_ext, start_mono), 1);
	ck_assert(mk_event(m, &t, p, 1000, (int64_t)1));
	ck_assert(mk_event(m, &t, p, 2000, (int64_t)2));
	bytes = mk_bytes(m, &n);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, "one", NULL), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, "two", NULL), 0);
	if (_i == 1)
		tnf_stream_follow(s);
	ck_assert_uint_eq(next_arg(s), 1);
	ck_assert_uint_eq(next_arg(s), 2);
	ck_assert_uint_eq(next_arg(s), 9999);
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

/*
 * The first pass goes over one file after the other, while all of them grow: what it
 * found in the second one may be later than what the first one has got meanwhile.
 */
START_TEST(first_pass_waits)
{
	struct mk_opts o = { .data_blocks = 1 };
	struct mk *m[2] = { mk_new(&o), mk_new(&o) };
	struct mk_thread t[2] = { { .pid = 1, .lwpid = 1, .tid = 1 }, { .pid = 2, .lwpid = 2, .tid = 2 } };
	static const int64_t times[] = { 1000, 2000, 3000 };
	struct tnf_progress progress;
	struct tnf_event ev;
	unsigned p[2], i;
	tnf_stream_t *s;
	unsigned char *bytes;
	size_t n;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_follow(s);
	for (i = 0; i < 2; i++) {
		p[i] = mk_probe(m[i], "p", "", "i:tnf_int32");
		bytes = mk_bytes(m[i], &n);
		ck_assert(mk_event(m[i], &t[i], p[i], i == 0 ? 1000 : 3000, (int64_t)i));
		ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, i == 0 ? "one" : "two", NULL), 0);
	}
	ck_assert_int_eq(tnf_stream_refresh(s, 1500, &progress), 0);
	ck_assert_uint_eq(progress.events, 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	ck_assert_int_eq(ev.time, times[0]);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 0);
	ck_assert(mk_event(m[0], &t[0], p[0], 2000, (int64_t)0));
	ck_assert_int_eq(tnf_stream_refresh(s, 3000, &progress), 0);
	ck_assert_uint_eq(progress.late, 0);
	for (i = 1; i < 3; i++) {
		ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
		ck_assert_int_eq(ev.time, times[i]);
	}
	ck_assert_int_eq(tnf_stream_next(s, &ev), 0);
	tnf_stream_close(s);
	mk_free(m[0]);
	mk_free(m[1]);
}
END_TEST

static bool
is_wanted(void *arg, const struct tnf_probe *p)
{
	const char *name = arg;

	return strcmp(p->name, name) == 0;
}

struct shown {
	unsigned n;
	int64_t time[4];
	struct tnf_event last;
};

static void
show(void *arg, const struct tnf_event *ev)
{
	struct shown *s = arg;

	ck_assert_uint_lt(s->n, 4);
	s->time[s->n++] = ev->time;
	s->last = *ev;
}

/* Events that are added to a file and whose probe is not wanted are counted only; the choice
   may change.  An event is where it was until its block is taken over. */
START_TEST(wanted)
{
	struct mk_opts o = { .data_blocks = 2 };
	struct mk *m = mk_new(&o);
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 }, u = { .pid = 1, .lwpid = 2, .tid = 2 };
	unsigned p = mk_probe(m, "p", "", "i:tnf_int32"), q = mk_probe(m, "q", "", "s:tnf_string");
	struct tnf_progress progress;
	struct shown shown = { .n = 0 };
	unsigned char *bytes;
	tnf_stream_t *s;
	size_t n;

	bytes = mk_bytes(m, &n);
	ck_assert(mk_event(m, &t, q, 1000, "first"));
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_follow(s);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, n, "one", NULL), 0);
	tnf_stream_want(s, is_wanted, (char *)(uintptr_t)"p");
	ck_assert(mk_event(m, &t, p, 2000, (int64_t)2));
	ck_assert(mk_event(m, &t, q, 3000, "left out"));
	ck_assert(mk_event(m, &u, p, 4000, (int64_t)4));
	ck_assert(mk_event(m, &t, p, 5000, (int64_t)5));
	ck_assert_int_eq(tnf_stream_refresh(s, 4500, &progress), 0);
	ck_assert_uint_eq(progress.events, 4);
	ck_assert_uint_eq(tnf_stream_waiting(s), 3);
	ck_assert_int_eq(tnf_stream_each(s, show, &shown), 0);
	ck_assert_uint_eq(shown.n, 3);
	ck_assert_int_eq(shown.time[0], 1000);
	ck_assert_int_eq(shown.time[1], 2000);
	ck_assert_int_eq(shown.time[2], 4000);
	ck_assert_uint_eq(shown.last.lwpid, 2);
	ck_assert_int_eq(value(&shown.last, 0).u.i, 4);
	ck_assert(tnf_event_there(&shown.last));
	shown.last.time++;
	ck_assert(!tnf_event_there(&shown.last));

	shown.n = 0;
	tnf_stream_want(s, is_wanted, (char *)(uintptr_t)"q");
	ck_assert(mk_event(m, &t, p, 6000, (int64_t)6));
	ck_assert(mk_event(m, &t, q, 7000, "last"));
	ck_assert_int_eq(tnf_stream_refresh(s, 9000, &progress), 0);
	ck_assert_uint_eq(progress.events, 2);
	ck_assert_int_eq(tnf_stream_each(s, show, &shown), 0);
	ck_assert_uint_eq(shown.n, 2);
	ck_assert_int_eq(shown.time[0], 5000);	/* it was wanted when it was found */
	ck_assert_uint_eq(shown.last.lwpid, 1);
	ck_assert_str_eq(shown.last.probe->name, "q");
	ck_assert_int_eq(tnf_stream_each(s, show, &shown), 0);
	ck_assert_uint_eq(shown.n, 2);

	shown.n = 0;
	tnf_stream_want(s, NULL, NULL);
	ck_assert(mk_event(m, &t, p, 8000, (int64_t)8));
	ck_assert_int_eq(tnf_stream_refresh(s, 9000, &progress), 0);
	ck_assert_int_eq(tnf_stream_each(s, show, &shown), 0);
	ck_assert_uint_eq(shown.n, 1);
	ck_assert(tnf_event_there(&shown.last));
	mk_put32(m, mk_data_start(m) + 8, 16);	/* taken, and still empty */
	ck_assert(!tnf_event_there(&shown.last));
	tnf_stream_close(s);
	mk_free(m);
}
END_TEST

static Suite *
suite(void)
{
	Suite *su = suite_create("read");
	TCase *tc = tcase_create("read");

	tcase_add_loop_test(tc, values, 0, SAMPLES);
	tcase_add_loop_test(tc, both_ways, 0, SAMPLES);
	tcase_add_test(tc, disorder_in_block);
	tcase_add_test(tc, first_pass_waits);
	tcase_add_test(tc, equal_times);
	tcase_add_test(tc, late_definitions);
	tcase_add_loop_test(tc, laps, 0, 4);
	tcase_add_test(tc, lost_while_waiting);
	tcase_add_test(tc, lost_at_once);
	tcase_add_test(tc, wanted);
	tcase_add_loop_test(tc, siblings, 0, 2);
	suite_add_tcase(su, tc);
	return su;
}

int
main(void)
{
	return check_run_nofork(suite());
}
