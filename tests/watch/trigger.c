/*
 * trigger.c - each function of the triggers' language fires exactly as often as it
 * should, on streams made for it.
 */
#include <signal.h>
#include <string.h>

#include "tests/watch/trigger-feed.h"

START_TEST(events)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned p, q;

	when("probe == 'syscall_end' and errno == 5");
	when("comm == 'redis-server' and probe == 'other'");
	begin(false);
	p = mk_probe(m, "syscall_end", "keys syscall;", "errno:tnf_int32");
	q = mk_probe(m, "other", "keys x;", "errno:tnf_int32");
	for (int i = 0; i < 100; i++) {
		mk_event(m, &t, p, S + i, (int64_t)(i % 10));
		mk_event(m, &t, q, S + i, INT64_C(5));
	}
	feed();
	ck_assert_uint_eq(fired, 10 + 100);
	ck_assert_str_eq(log_[0].reason, "other in redis-server (812/1)");
}
END_TEST

START_TEST(durations)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 },
	    u = { .pid = 812, .lwpid = 2, .tid = 2 };
	unsigned a, b;

	when("duration(order) > 200ms");
	when("duration(order) >= 200ms");
	when("duration(order) > 200ms and good == 1");
	when("duration('or*') > 200ms and lwpid == 2");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "good:tnf_int32");
	mk_event(m, &t, b, S, INT64_C(1));			/* began before the trace */
	mk_event(m, &t, a, 2 * S, INT64_C(1));
	mk_event(m, &u, a, 2 * S + 1, INT64_C(1));		/* overlaps in another thread */
	mk_event(m, &t, b, 2 * S + 200 * MS, INT64_C(1));	/* 200 ms: only >= */
	mk_event(m, &u, b, 2 * S + 200 * MS + 2, INT64_C(1));	/* 200 ms and 1 ns: all four */
	mk_event(m, &t, a, 3 * S, INT64_C(1));
	mk_event(m, &t, b, 3 * S + 231 * MS, INT64_C(0));	/* not good: two */
	mk_event(m, &t, a, 4 * S, INT64_C(1));			/* does not end */
	feed();
	ticks(5 * S, 9 * S);
	ck_assert_uint_eq(fired, 1 + 4 + 2);
	ck_assert_str_eq(log_[fired - 1].reason, "order took 231 ms in redis-server (812/1)");
}
END_TEST

/* START, END, member: pairs of one's own, which may overlap in a thread. */
START_TEST(own_pairs)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned a, b;

	when("duration(req_in, req_out, id) > 100ms");
	when("open(req_in, req_out, id) > 100ms");
	begin(false);
	a = mk_probe(m, "req_in", "keys o;", "id:tnf_int32");
	b = mk_probe(m, "req_out", "keys o;", "id:tnf_int32");
	mk_event(m, &t, a, S, INT64_C(1));
	mk_event(m, &t, a, S + 10 * MS, INT64_C(2));
	mk_event(m, &t, b, S + 50 * MS, INT64_C(1));	/* 50 ms */
	mk_event(m, &t, b, S + 120 * MS, INT64_C(2));	/* 110 ms: both */
	feed();
	trigger_tick(engine, 9 * S);
	ck_assert_uint_eq(fired, 2);
}
END_TEST

/* The condition has the members of both ends, and who began it is named: defects 133, 134. */
START_TEST(both_ends)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 },
	    irq = { .pid = 0, .lwpid = 0, .tid = 9 };
	unsigned a, b;

	when("duration(io_in, io_out, buf) > 100ms and size == 4096 and path == '/a'");
	when("duration(io_in, io_out, buf) > 100ms and error == 5 and comm == 'redis-server'");
	when("duration(io_in, io_out, buf) > 100ms and n == 2");	/* both have it: the end's */
	when("duration(io_in, io_out, buf) > 100ms and size == 512");
	begin(false);
	a = mk_probe(m, "io_in", "keys o;", "buf:tnf_int32 size:tnf_int32 path:tnf_string n:tnf_int32");
	b = mk_probe(m, "io_out", "keys o;", "buf:tnf_int32 error:tnf_int32 n:tnf_int32");
	mk_event(m, &t, a, S, INT64_C(1), INT64_C(4096), "/a", INT64_C(1));
	mk_event(m, &irq, b, S + 200 * MS, INT64_C(1), INT64_C(5), INT64_C(2));
	feed();
	ck_assert_uint_eq(fired, 3);
	ck_assert_str_eq(log_[0].reason, "io_in took 200 ms in redis-server (812/1)");
}
END_TEST

START_TEST(opens)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned a, b;

	when("open(order) > 1s");
	when("open(order) > 1s and n == 3");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "good:tnf_int32");
	mk_event(m, &t, a, S, INT64_C(1));
	mk_event(m, &t, b, 2 * S, INT64_C(1));		/* 1 s: no more than that */
	mk_event(m, &t, a, 3 * S, INT64_C(2));
	mk_event(m, &t, b, 4 * S + 1, INT64_C(1));	/* fires, though no tick came */
	mk_event(m, &t, a, 5 * S, INT64_C(3));		/* hangs: both, once each */
	feed();
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(log_[0].time, 4 * S);
	trigger_tick(engine, 6 * S);
	ck_assert_uint_eq(fired, 1);
	ticks(6 * S + 1, 60 * S);
	ck_assert_uint_eq(fired, 3);
	ck_assert_int_eq(log_[2].time, 6 * S);
	ck_assert_str_eq(log_[2].reason, "order is open for 1.000 s in redis-server (812/1)");
	ck_assert_str_eq(log_[2].probe, "order_start");
}
END_TEST

/* The start of a span is kept at the end of a tick.  If a fast ring has overwritten it by then, its
   members are not known; nothing else is taken for them. */
START_TEST(overwritten)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned a;

	when("open(order) > 1s and n == 3");
	when("open(order) > 1s");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	mk_event(m, &t, a, S, INT64_C(3));
	feed();
	if (_i == 1)
		mk_put32(m, mk_data_start(m) + 8, 16);	/* taken again, and still empty */
	ticks(S, 3 * S);
	ck_assert_uint_eq(fired, _i == 1 ? 1 : 2);
}
END_TEST

/* While a source is not fed, nothing is missed from it, and a span that was open is not known. */
START_TEST(rests)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned a, b;

	when("silence(order_end) > 1s");
	when("open(order) > 1s");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	mk_event(m, &t, a, S, INT64_C(1));
	mk_event(m, &t, b, S + MS, INT64_C(1));
	mk_event(m, &t, a, S + 2 * MS, INT64_C(2));
	feed();
	trigger_source_rests(source, true);
	ticks(S + 3 * MS, 9 * S);
	ck_assert_uint_eq(fired, 0);
	trigger_source_rests(source, false);
	ticks(9 * S, 9 * S + 900 * MS);
	ck_assert_uint_eq(fired, 0);
	ticks(10 * S, 12 * S);
	ck_assert_uint_eq(fired, 1);
	ck_assert_str_eq(log_[0].reason, "order_end: none for 1 s");
	ck_assert_int_gt(log_[0].time, 9 * S + 900 * MS);
}
END_TEST

/* Events of which probes have to be fed. */
START_TEST(wants)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	static const struct { const char *probe; bool wanted; } rows[] = {
		{ "order_start", true }, { "order_end", true }, { "sold", true }, { "other", false },
	};
	unsigned n = 0, p;

	when("duration(order) > 1s");
	when("probe == 'sold' and n > 3");
	when("lost() > 3");
	begin(false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = mk_probe(m, rows[i].probe, "keys o;", "n:tnf_int32");
		mk_event(m, &t, p, S + (int64_t)i, INT64_C(1));
	}
	feed();
	for (unsigned i = 0; i < tnf_stream_probes(stream); i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			if (strcmp(tnf_stream_probe(stream, i)->name, rows[k].probe) == 0) {
				ck_assert(trigger_wants(source, tnf_stream_probe(stream, i)) == rows[k].wanted);
				n++;
			}
	ck_assert_uint_eq(n, 4);
}
END_TEST

/* Inner ones and outer ones of one thread are open at once. */
START_TEST(nested_opens)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned a, b;

	when("open(order) > 1s");
	begin(false);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "order_end", "keys o;", "n:tnf_int32");
	for (int i = 0; i < 10; i++)
		mk_event(m, &t, a, S + i, (int64_t)i);
	for (int i = 0; i < 4; i++)
		mk_event(m, &t, b, S + 100 + i, (int64_t)i);
	feed();
	trigger_tick(engine, 3 * S);
	ck_assert_uint_eq(fired, 6);
	trigger_tick(engine, 4 * S);
	ck_assert_uint_eq(fired, 6);
}
END_TEST

/* Ends may be among what was lost; a thread or process that ended hangs nowhere. */
START_TEST(forgotten)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1, .cpu = 0 };
	unsigned a, x, d;

	when("open(order) > 1s");
	when("open(syscall) > 1s");
	begin(true);
	a = mk_probe(m, "order_start", "keys o;", "n:tnf_int32");
	x = mk_probe(m, "thread_exit", "keys thread;", "");
	d = mk_probe(m, "syscall_start", "keys syscall;", "sysnum:tnf_sysnum");
	mk_event(m, &t, a, S, INT64_C(1));
	mk_event(m, &t, a, S + 1, INT64_C(1));
	mk_event(m, &t, d, S + 2, INT64_C(0));		/* read */
	mk_event(m, &t, x, S + 3);
	t.lwpid = 2;
	t.tid = 2;
	t.block = t.sched = 0;
	mk_event(m, &t, d, S + 4, INT64_C(231));	/* exit_group: does not come back */
	mk_event(m, &t, a, S + 5, INT64_C(1));
	feed();
	trigger_lost(source, 3);
	ticks(S, 5 * S);
	ck_assert_uint_eq(fired, 0);
}
END_TEST

/* System calls are told by the number that they have on the machine that is watched. */
START_TEST(machines)
{
	struct mk_thread t = { .pid = 812, .lwpid = 1, .tid = 1 };
	unsigned d, e;

	ck_assert(pretty_machine_set("aarch64"));
	when("open(syscall) > 1s");
	when("probe == 'syscall_start' and sysnum == 'getppid'");
	begin(true);
	d = mk_probe(m, "syscall_start", "keys syscall;", "sysnum:tnf_sysnum");
	e = mk_probe(m, "syscall_end", "keys syscall;", "rval1:tnf_int32");
	mk_event(m, &t, d, S, INT64_C(173));		/* getppid */
	mk_event(m, &t, e, S + 1, INT64_C(1));
	mk_event(m, &t, d, S + 2, INT64_C(94));		/* exit_group; on x86-64 lchown */
	feed();
	ticks(S, 5 * S);
	ck_assert_uint_eq(fired, 1);
	ck_assert_str_eq(log_[0].reason, "syscall_start in redis-server (812/1)");
}
END_TEST

static struct mk_thread *
on_cpu(struct mk_thread *t)
{
	t->cpu = 1;
	return t;
}

START_TEST(states)
{
	struct mk_thread t = { .pid = 812, .lwpid = 812, .tid = 0x1000 },
	    u = { .pid = 9, .lwpid = 9, .tid = 0x2000 };
	unsigned p, q, x;

	when("state(SLEEP) > 100ms");
	when("state(sleep) > 100ms and comm == 'redis-server'");
	when("state(WAIT_CPU) > 100ms");
	begin(true);
	p = mk_probe(m, "thread_state", "keys thread;", "state:tnf_microstate");
	q = mk_probe(m, "thread_state", "keys thread;", "tid:tnf_uint64 state:tnf_microstate");
	x = mk_probe(m, "thread_exit", "keys thread;", "");
	on_cpu(&u);
	mk_event(m, &t, p, S, INT64_C(7));			/* sleeps */
	mk_event(m, &u, q, S + 100 * MS, INT64_C(0x1000), INT64_C(8));	/* woken at once */
	mk_event(m, &u, q, S + 201 * MS, INT64_C(0x1000), INT64_C(1));	/* waited: 1 */
	mk_event(m, &t, p, 2 * S, INT64_C(7));			/* hangs: both of SLEEP */
	mk_event(m, &u, p, 2 * S, INT64_C(7));			/* another: one of them */
	feed();
	ck_assert_uint_eq(fired, 1);
	ck_assert_str_eq(log_[0].reason, "WAIT_CPU for 101 ms in redis-server (812/812)");
	ticks(2 * S, 2 * S + 100 * MS);
	ck_assert_uint_eq(fired, 1);
	ticks(2 * S + 101 * MS, 30 * S);
	ck_assert_uint_eq(fired, 4);
	ck_assert_int_eq(log_[1].time, 2 * S + 100 * MS);
	(void)x;
}
END_TEST

START_TEST(losses)
{
	when("lost() > 0");
	when("lost() > 10");
	when("lost() >= 5 and kernel");
	begin(false);
	trigger_lost(source, 0);
	ck_assert_uint_eq(fired, 0);
	trigger_lost(source, 1);
	ck_assert_uint_eq(fired, 1);
	ck_assert_str_eq(log_[0].reason, "1 event was lost in shop");
	/* Once a second: what is lost meanwhile is told together. */
	trigger_lost(source, 4);
	trigger_lost(source, 5);		/* 10 in all */
	ck_assert_uint_eq(fired, 1);
	trigger_tick(engine, 1 * S);
	ck_assert_uint_eq(fired, 2);
	ck_assert_str_eq(log_[1].reason, "9 events were lost in shop");
	trigger_tick(engine, 2 * S);
	trigger_lost(source, 1);		/* 11 */
	ck_assert_uint_eq(fired, 4);
	ck_assert_str_eq(log_[3].reason, "11 events were lost in shop");
	trigger_tick(engine, 4 * S);
	trigger_lost(source, UINT64_MAX);
	ck_assert_uint_eq(fired, 6);
}
END_TEST

START_TEST(endings)
{
	when("ended(nginx) and signal != 0");
	when("ended('ngi*') and status == 3");
	when("ended()");
	when("ended() and signal == 11 and comm == 'nginx' and pid == 7");
	begin(false);
	trigger_ended(engine, source, "nginx", 7, SIGSEGV, S);		/* 1, 3, 4 */
	ck_assert_uint_eq(fired, 3);
	ck_assert_str_eq(log_[0].reason, "nginx (7) was killed by signal 11, SIGSEGV");
	trigger_ended(engine, NULL, "nginx", 7, 0, S);			/* 3 */
	trigger_ended(engine, NULL, "nginx", 7, 3 << 8, S);		/* 2, 3 */
	trigger_ended(engine, NULL, "redis", 8, SIGKILL, S);		/* 3 */
	trigger_ended(engine, NULL, "nginx", 7, -1, S);			/* 3: nothing is known */
	trigger_ended(engine, NULL, NULL, 7, -1, S);			/* 3 */
	ck_assert_uint_eq(fired, 9);
	ck_assert_str_eq(log_[5].reason, "nginx (7) ended with status 3");
}
END_TEST

/* The state of one engine and one source is not another's. */
START_TEST(several)
{
	struct trigger_engine *other = trigger_engine_new(on_fired, &fired);
	struct trigger_source *a, *b;
	struct trigger_error err;

	when("lost() > 5");
	when("");
	trigger_add(other, "x", "lost() > 0", &err);
	a = trigger_source_open(engine, NULL, "a", 1, false, NULL);
	b = trigger_source_open(engine, NULL, "b", 2, false, NULL);
	trigger_lost(a, 4);
	trigger_lost(b, 4);
	ck_assert_uint_eq(fired, 0);
	trigger_lost(trigger_source_open(other, NULL, "c", 3, false, NULL), 1);
	ck_assert_uint_eq(fired, 1);
	trigger_source_close(a);
	trigger_lost(b, 4);
	ck_assert_uint_eq(fired, 2);
	trigger_engine_free(other);
}
END_TEST

/* A million starts that do not end, and names that would act on a terminal. */
START_TEST(hostile)
{
	struct mk_thread t = { .pid = 666, .lwpid = 1, .tid = 1 };
	tnf_stream_t *st;
	struct tnf_event ev;
	struct trigger_source *s;
	size_t size;
	unsigned char *bytes;
	unsigned a, b;

	when("open('*') > 1s");
	when("duration('*') > 1h");
	when("probe =~ /start/");
	m = mk_new(&(struct mk_opts){ .block_size = 4096, .data_blocks = 64 });
	a = mk_probe(m, "o\033[31m\n_start", "keys o;", "n:tnf_int32");
	b = mk_probe(m, "o\033[31m\n_end", "keys o;", "n:tnf_int32");
	mk_event(m, &t, a, 1, INT64_C(1));
	mk_event(m, &t, b, 3600 * S + 2, INT64_C(1));
	bytes = mk_bytes(m, &size);
	ck_assert_int_eq(tnf_stream_new(&st), 0);
	ck_assert_int_eq(tnf_stream_add_mem(st, bytes, size, "made", NULL), 0);
	s = trigger_source_open(engine, NULL, "evil", 666, false, &ops);
	ck_assert_int_eq(tnf_stream_next(st, &ev), 1);
	for (int i = 0; i < 1000000; i++) {
		ev.time = 1 + i;
		ev.lwpid = (uint32_t)(i % 3 == 0 ? 1 : i);
		trigger_event(s, &ev);
	}
	ck_assert_uint_eq(fired, 1000000);
	ck_assert_str_eq(log_[0].reason, "o?[31m?_start in evil?[2J? (666/1)");
	/* So many are remembered, and each fires once. */
	trigger_tick(engine, 10 * S);
	trigger_tick(engine, 11 * S);
	ck_assert_uint_eq(fired, 1000000 + 16384);
	ck_assert_int_eq(tnf_stream_next(st, &ev), 1);
	ev.lwpid = 999998;
	ev.time = 7200 * S;
	trigger_event(s, &ev);
	ck_assert_uint_eq(fired, 1000000 + 16384 + 1);
	trigger_source_close(s);
	tnf_stream_close(st);
}
END_TEST

/* The place of the mistake, and a part of what is said. */
static const struct { const char *text; size_t offset; const char *says; } mistakes[] = {
	{ "duraton(order) > 200ms", 0, "is 'duration' meant?" },
	{ "foo(order) > 200ms", 0, "duration open state rate silence p99 lost ended incident" },
	{ "duration(order) < 200ms", 16, "duration() is compared by > or >=" },
	{ "duration(order)", 15, "compared by" },
	{ "duration(order) > 200", 18, "without a unit" },
	{ "duration(order) > 4K", 18, "without a unit" },
	{ "duration(order) > x", 18, "time such as 200ms expected at 'x'" },
	{ "duration() > 1s", 9, "a name is missing: duration(SPAN) > TIME" },
	{ "duration(a b) > 1s", 11, "',' or ')' expected" },
	{ "duration(a,b,c,d,e,f,g) > 1s", 21, "too many names" },
	{ "duration(a, 'b,c') > 1s", 12, "comma" },
	{ "200ms < duration(order)", 8, "stands at the left" },
	{ "(duration(order) > 1s)", 1, "stands at the left" },
	{ "not open(order) > 1s", 4, "stands at the left" },
	{ "open(order) > 1s or x == 1", 17, "make two triggers" },
	{ "x == 1 or y == 2 and open(order) > 1s", 7, "make two triggers" },
	{ "open(order) > 1s and open(b) > 1s", 21, "a second function" },
	{ "open(order) > 1s comm == 'x'", 17, "'and' expected at 'comm'" },
	{ "open(order) > 1s and comm = 'x'", 26, "'==' compares" },
	{ "open(order) > 1s and", 20, "expected at the end" },
	{ "x == 1 and (y == 2", 11, "'(' without ')'" },
	{ "x == 'y", 5, "string without end" },
	{ "state(ASLEEP) > 1s", 6, "there are USER SYSTEM TRAP" },
	{ "state(SLEEP) > 1s and errno == 3", 0, "no 'errno' beside state()" },
	{ "state(SLEEP, WAIT_CPU) > 1s", 13, "too many names" },
	{ "lost() > 0 and n == 1", 0, "no 'n' beside lost()" },
	{ "lost() > 1s", 9, "" },
	{ "lost(a) > 0", 5, "too many names" },
	{ "lost() == 0", 7, "compared by" },
	{ "ended(nginx) > 0", 13, "'and' expected" },
	{ "ended(nginx) and size > 0", 0, "signal, status, core" },
	{ "rate(x) == 3", 8, "compared by > >= < <=" },
	{ "rate(x, 10) > 3", 8, "without a unit" },
	{ "rate(x, 1s, y) > 3", 10, "')' expected" },
	{ "rate(x) > 10 until > 3", 19, "'<' or '<=' expected" },
	{ "rate(x) > 10 until < 30", 0, "until: that holds before" },
	{ "rate(x) < 10 until > 3", 0, "until: that holds before" },
	{ "rate(x) of > 3", 11, "name of a section" },
	{ "duration(x) of y > 3s", 12, "compared by" },
	{ "p99(x) > 2", 9, "without a unit" },
	{ "p99(x) > 2 * usually", 13, "usual expected" },
	{ "p99(x) > 2 * usual until < 3s", 0, "no second limit" },
	{ "p00(x) > 2s", 0, "no function" },
	{ "p99(x, 2h) > 2s", 0, "up to 1h" },
	{ "rate(x) < 10 for 5", 17, "without a unit" },
	{ "rate(x) < 10 over 5s", 13, "'and' expected at 'over'" },
	{ "rate(x) < 0", 0, "cannot be otherwise" },
	{ "rate(x) >= 0", 0, "cannot be otherwise" },
	{ "rate(x) > 1000000 for 1m", 0, "take a smaller rate" },
	{ "silence(x) < 3s", 11, "compared by" },
	{ "silence(x) > 0s", 0, "always silence" },
	{ "$x == 3", 0, "only templates have variables" },
	{ "x = 1", 2, "'==' compares" },
};

START_TEST(wrong)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct trigger_error err = { 9999, "" };
		const char *text = mistakes[i].text;

		if (mistakes[i].says[0] == '\0')	/* fine, in fact: 10^9 events */
			continue;
		ck_assert_msg(trigger_add(engine, "t", text, &err) == -1, "%s: taken", text);
		ck_assert_msg(err.offset == mistakes[i].offset, "%s: at %zu: %s", text,
		    err.offset, err.text);
		ck_assert_msg(strstr(err.text, mistakes[i].says) != NULL, "%s: %s", text,
		    err.text);
	}
	ck_assert_int_eq(trigger_add(engine, "t", NULL, NULL), 0);
}
END_TEST

/* A word that happens to be a function's, without parentheses, is a member. */
START_TEST(words)
{
	when("open == 1 and state == 'SLEEP' and (rate < 3 or lost > 4)");
	when("arg.ended == 1");
	when("probe =~ /open(x)/ and x in (1, 2, 3)");
	when("  open ( 'a-b' )  >=  1.5s  and  ( x == 1 or y == 2 ) ");
	when("x == 1 and duration(order) > 1s and y == 2");
	when("rate(x) < 0.5 for 10s");
	when("rate(x) > 3");
	when("p99(order) > 50ms and p99 == 3");
	when("p999(order, 1m) of shop >= 1.5 * usual for 30s and id == 1");
	when("rate(x, 10s) of 'a-b' < 3 for 1m until >= 5 and until == 1");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("trigger");
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, events);
	tcase_add_test(t, durations);
	tcase_add_test(t, own_pairs);
	tcase_add_test(t, both_ends);
	tcase_add_test(t, opens);
	tcase_add_loop_test(t, overwritten, 0, 2);
	tcase_add_test(t, rests);
	tcase_add_test(t, wants);
	tcase_add_test(t, nested_opens);
	tcase_add_test(t, forgotten);
	tcase_add_test(t, machines);
	tcase_add_test(t, states);
	tcase_add_test(t, losses);
	tcase_add_test(t, endings);
	tcase_add_test(t, several);
	tcase_add_test(t, hostile);
	tcase_add_test(t, wrong);
	tcase_add_test(t, words);
	suite_add_tcase(s, t);
	return check_run(s);
}
