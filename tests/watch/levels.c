/*
 * levels.c - rate(), silence() and percentiles fire exactly as often as they should: held for
 * a time, with a second limit, for several sources together, compared with what is usual.
 */
#include "tests/watch/trigger-feed.h"

/* < 10 for 5s: fewer than 10 in a second, for 5 s without a break; once until there are enough
   again. */
START_TEST(low_rate)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = S;
	unsigned p;

	when("rate(order_end) < 10 for 5s");
	begin(false);
	p = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	for (int i = 0; i < 200; i++, now += 100 * MS)		/* exactly 10 a second */
		mk_event(m, &t, p, now, INT64_C(1));
	for (int i = 0; i < 100; i++, now += 110 * MS)		/* too few: 1 */
		mk_event(m, &t, p, now, INT64_C(1));
	for (int i = 0; i < 250; i++, now += 50 * MS)		/* well again */
		mk_event(m, &t, p, now, INT64_C(1));
	feed();
	ck_assert_uint_eq(fired, 1);
	ticks(now, now + 60 * S);				/* none: 1 */
	ck_assert_uint_eq(fired, 2);
	ck_assert_str_eq(log_[1].reason, "order_end: 0 events in 1 s, for 5 s");
}
END_TEST

START_TEST(high_rate)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = S;
	unsigned p;

	when("rate(order_end) > 100");
	when("rate(order_end) > 100 and n == 2");
	begin(false);
	p = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	for (int k = 0; k < 3; k++, now += 10 * S) {
		for (int i = 0; i < 150; i++, now += 11 * MS)	/* 91/s: fine */
			mk_event(m, &t, p, now, INT64_C(1));
		for (int i = 0; i < 300; i++, now += 5 * MS)	/* 200/s: fires once */
			mk_event(m, &t, p, now, INT64_C(1));
	}
	feed();
	ck_assert_uint_eq(fired, 3);
	ck_assert_str_eq(log_[0].reason, "order_end: 101 events in 1 s");
}
END_TEST

START_TEST(silences)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = S;
	unsigned p;

	when("silence(heartbeat) > 3s");
	when("silence(never) > 3s");
	when("silence(expected) > 3s");
	begin(false);
	p = mk_probe(m, "heartbeat", "keys o;", "n:tnf_int32");
	for (int i = 0; i < 20; i++, now += 3 * S)	/* exactly 3 s: no more than that */
		mk_event(m, &t, p, now, INT64_C(1));
	mk_event(m, &t, p, now + 1, INT64_C(1));	/* 1 ns more */
	mk_event(m, &t, p, now + 2 * S, INT64_C(1));
	feed();
	ck_assert_uint_eq(fired, 1);
	ticks(now, now + 60 * S);			/* once, however long it lasts */
	ck_assert_uint_eq(fired, 2);
	ck_assert_str_eq(log_[1].reason, "heartbeat: none for 3 s");
	trigger_expect(source, "expected", now + 61 * S);
	ticks(now + 61 * S, now + 64 * S);
	ck_assert_uint_eq(fired, 2);
	ticks(now + 64 * S, now + 99 * S);
	ck_assert_uint_eq(fired, 3);
	ck_assert_str_eq(log_[2].reason, "expected: none for 3 s");
}
END_TEST

static int64_t
beats(struct mk_thread *t, unsigned p, int64_t from, int64_t each, int n)
{
	for (int i = 0; i < n; i++, from += each)
		mk_event(m, t, p, from, INT64_C(1));
	return from;
}

/* A burst is not a rate for 5 s, nor is a pause: defect 119. */
START_TEST(held)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = 10 * S;
	unsigned p, q;

	when("rate(beat) > 1000 for 5s");
	when("rate(pulse) < 5 for 3s");
	begin(false);
	p = mk_probe(m, "beat", "keys o;", "n:tnf_int32");
	q = mk_probe(m, "pulse", "keys o;", "n:tnf_int32");
	now = beats(&t, p, now, 1000, 5001);			/* a burst: no */
	now = beats(&t, q, now + S, 100 * MS, 50);
	now = beats(&t, q, now + 1800 * MS, 100 * MS, 50);	/* a pause of 1.8 s: no */
	now = beats(&t, p, now, MS / 2, 9000);			/* 2000 a second for 4.5 s: no */
	now = beats(&t, p, now + 3 * S, MS / 2, 13000);		/* ... for 6.5 s: fires */
	feed();
	ticks(now, now + S);
	ck_assert_uint_eq(fired, 1 + 1);			/* the pulse has ended, too */
	ck_assert_str_eq(log_[1].reason, "beat: at least 1001 events in 1 s, for 5 s");
}
END_TEST

/* With "until" it recovers at the other limit, and nowhere before. */
START_TEST(recovers)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = 10 * S;
	unsigned p;

	when("rate(beat) > 100 until < 50");
	when("rate(beat) < 10 for 2s until > 60");
	begin(false);
	p = mk_probe(m, "beat", "keys o;", "n:tnf_int32");
	now = beats(&t, p, now, 5 * MS, 1000);		/* 200/s: fires */
	now = beats(&t, p, now, 15 * MS, 300);		/* 66/s */
	now = beats(&t, p, now, 5 * MS, 1000);		/* 200/s: not again */
	now = beats(&t, p, now, 25 * MS, 200);		/* 40/s: recovers */
	now = beats(&t, p, now, 5 * MS, 1000);		/* fires */
	now = beats(&t, p, now + 5 * S, 25 * MS, 200);	/* none: fires; 40/s: not well yet */
	now = beats(&t, p, now + 5 * S, 5 * MS, 1000);	/* none; 200/s: fires, and is well again */
	now = beats(&t, p, now + 5 * S, 5 * MS, 1);	/* none: fires */
	feed();
	ck_assert_uint_eq(fired, 2 + 1 + 1 + 1);
}
END_TEST

/* More than one of a hundred within the window, exactly; for so long. */
START_TEST(percentiles)
{
	struct mk_thread threads[64] = { 0 };
	int64_t now = 100 * S;
	unsigned a, b;

	when("p99(order, 10s) > 50ms");
	when("p50(order, 10s) > 50ms");
	when("p99(order, 10s) > 50ms for 30s");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	for (int i = 0; i < 9000; i++, now += 10 * MS) {
		/* One of 200 is slow, so the 99th percentile is not; then one of 50. */
		bool slow = i % 200 == 199 || (i >= 3000 && i % 50 == 49);

		struct mk_thread *t = &threads[i % 64];

		t->pid = 812;
		t->lwpid = (uint32_t)i % 64 + 1;
		t->tid = t->lwpid;
		mk_event(m, t, a, now - (slow ? 60 * MS : MS), INT64_C(1));
		mk_event(m, t, b, now, INT64_C(1));
	}
	feed();
	ck_assert_uint_eq(fired, 2);
	ck_assert_int_ge(log_[0].time, 100 * S + 30 * S);
	ck_assert_int_le(log_[0].time, 100 * S + 36 * S);
	ck_assert_str_eq(log_[0].probe, "");
	ck_assert_ptr_nonnull(strstr(log_[0].reason, " took more than 50 ms"));
	ck_assert_int_eq(log_[1].time / S, log_[0].time / S + 30);
	ck_assert_ptr_nonnull(strstr(log_[1].reason, ", for 30 s"));
	ticks(now, now + 60 * S);
	ck_assert_uint_eq(fired, 2);
}
END_TEST

/* Twice what is usual: the hour before, which is not known at once. */
START_TEST(usual)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	int64_t now = 3000 * S;
	unsigned a, b;

	when("p99(order, 10s) > 2 * usual");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	for (int i = 0; i < 1000; i++, now += S) {
		/* 10 ms; 100 ms before five minutes are full; 15 ms, and then 40 ms. */
		int64_t took = i == 100 ? 100 * MS : i < 800 ? 10 * MS : i < 900 ? 15 * MS : 40 * MS;

		mk_event(m, &t, a, now, INT64_C(1));
		mk_event(m, &t, b, now + took, INT64_C(1));
	}
	feed();
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(log_[0].time, 3900 * S + 40 * MS);
	ck_assert_ptr_nonnull(strstr(log_[0].reason, "by what is usual"));
}
END_TEST

static struct trigger_source *
worker(const char *name, pid_t pid)
{
	return trigger_source_open(engine, &source, name, pid, false, &ops);
}

/* Events of the stream, dealt out to the sources in turn. */
static void
deal(struct trigger_source **to, unsigned n)
{
	struct tnf_event ev;
	size_t size;
	unsigned char *bytes = mk_bytes(m, &size);
	int64_t tick = 0;

	ck_assert_int_eq(tnf_stream_new(&stream), 0);
	ck_assert_int_eq(tnf_stream_add_mem(stream, bytes, size, "made", NULL), 0);
	for (unsigned i = 0; tnf_stream_next(stream, &ev) == 1; i++) {
		trigger_event(to[i % n], &ev);
		if (ev.time > tick + 100 * MS)
			trigger_tick(engine, tick = ev.time);
	}
}

/* rate(P) of workers is the sum over them, and a source of another section does not count. */
START_TEST(together)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	struct trigger_source *to[4];
	int64_t now = 10 * S;
	unsigned p;

	when("rate(beat) of workers > 100");
	when("rate(beat) > 100");
	when("silence(beat) of workers > 5s");
	begin(false);
	for (int i = 0; i < 4; i++)
		to[i] = worker(i < 3 ? "workers" : "other", 800 + i);
	p = mk_probe(m, "beat", "keys o;", "n:tnf_int32");
	now = beats(&t, p, now, 8 * MS, 500);		/* 125/s, of workers 94 */
	now = beats(&t, p, now, 6 * MS, 500);		/* 167/s, of workers 125: fires */
	deal(to, 4);
	ck_assert_uint_eq(fired, 1);
	ck_assert_str_eq(log_[0].reason, "beat of all workers: 101 events in 1 s");
	ticks(now, now + 20 * S);
	ck_assert_uint_eq(fired, 2);
	ck_assert_str_eq(log_[1].reason, "beat of all workers: none for 5 s");
	for (int i = 0; i < 4; i++)
		trigger_source_close(to[i]);
}
END_TEST

/* "of" of a trigger: only sources of that name; a condition about the source chooses, too, and
   who has ended is not silent: defect 117. */
START_TEST(silent)
{
	struct trigger_source *to[3];

	when("silence(beat) > 2s");
	trigger_about(engine, 0, "vic");
	when("silence(beat) > 2s and comm == 'redis-server' and probe == 'beat'");
	when("silence(beat) > 2s and comm == 'nobody'");
	begin(false);
	to[0] = worker("vic", 1);
	to[1] = worker("other", 812);		/* redis-server */
	to[2] = worker("vic", 3);
	for (int i = 0; i < 3; i++)
		trigger_expect(to[i], "beat", 10 * S);
	trigger_source_ended(to[2]);
	ticks(10 * S, 60 * S);
	ck_assert_uint_eq(fired, 2);
	for (int i = 0; i < 3; i++)
		trigger_source_close(to[i]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("levels");
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, low_rate);
	tcase_add_test(t, high_rate);
	tcase_add_test(t, silences);
	tcase_add_test(t, held);
	tcase_add_test(t, recovers);
	tcase_add_test(t, percentiles);
	tcase_add_test(t, usual);
	tcase_add_test(t, together);
	tcase_add_test(t, silent);
	suite_add_tcase(s, t);
	return check_run(s);
}
