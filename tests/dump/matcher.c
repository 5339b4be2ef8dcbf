/*
 * matcher.c - what begins is matched with what ends: the rules, the names, what tells
 * instances apart, and what waits, compared with a search of a plain list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs.h"
#include "analysis/states.h"
#include "tests/check-run.h"
#include "tests/reader/mkfile.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))
/* An assertion of Check writes to a pipe each time it holds. */
#define EXPECT(i, holds) \
	do { if (!(holds)) ck_abort_msg("event %u: not so: %s", (unsigned)(i), #holds); } while (0)

static const struct mk_opts opts = { .block_size = 4096, .data_blocks = 3000 };
static struct mk *made[2];
static struct tnf_file *file[2];
static tnf_stream_t *stream;
static struct pairs *pairs;

static void
setup(void)
{
	made[0] = mk_new(&opts);
	made[1] = mk_new(&opts);
	pairs = pairs_new();
}

static void
teardown(void)
{
	pairs_free(pairs);
	tnf_stream_close(stream);
	mk_free(made[0]);
	mk_free(made[1]);
}

static void
open_stream(unsigned files)
{
	ck_assert_int_eq(tnf_stream_new(&stream), 0);
	for (unsigned i = 0; i < files; i++) {
		size_t size;
		unsigned char *bytes = mk_bytes(made[i], &size);

		ck_assert_int_eq(tnf_stream_add_mem(stream, bytes, size, "made", &file[i]), 0);
	}
}

static void
add_rule(const char *text)
{
	const char *error = "no error";

	ck_assert_msg(pairs_add(pairs, text, &error) == 0, "%s: %s", text, error);
}

/* ---- the rules that a user gives ---- */

static const struct {
	const char *text;
	const char *start, *end, *keys[PAIR_KEYS_MAX + 1];
	const char *error;	/* NULL: the text is a rule */
} rules[] = {
	{ "a,b", "a", "b", { NULL }, NULL },
	{ "a,b,k", "a", "b", { "k" }, NULL },
	{ "begin,end,one,two,three,four", "begin", "end", { "one", "two", "three", "four" }, NULL },
	{ "same,same", "same", "same", { NULL }, NULL },
	{ "", NULL, NULL, { NULL }, "wanted: start,end[,member...]" },
	{ "a", NULL, NULL, { NULL }, "wanted: start,end[,member...]" },
	{ "a,", NULL, NULL, { NULL }, "wanted: start,end[,member...]" },
	{ ",b", NULL, NULL, { NULL }, "wanted: start,end[,member...]" },
	{ ",", NULL, NULL, { NULL }, "wanted: start,end[,member...]" },
	{ "a,b,1,2,3,4,5", NULL, NULL, { NULL }, "more than 4 members" },
};

/* pairs_rule() returns what the good texts of the table say, in their order. */
static void
check_rules(const struct pairs *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LENGTH(rules); i++) {
		const struct pair_rule *r;

		if (rules[i].error != NULL)
			continue;
		ck_assert_ptr_nonnull(r = pairs_rule(p, n++));
		ck_assert_str_eq(r->text, rules[i].text);
		ck_assert_str_eq(r->name, rules[i].start);
		ck_assert_str_eq(r->start, rules[i].start);
		ck_assert_str_eq(r->end, rules[i].end);
		ck_assert_int_eq(r->async, rules[i].keys[0] != NULL);
		for (unsigned k = 0; k < PAIR_KEYS_MAX; k++)
			ck_assert_pstr_eq(r->keys[k], rules[i].keys[k]);
	}
	ck_assert_ptr_null(pairs_rule(p, n));
}

START_TEST(rules_of_a_user)
{
	struct pairs *copy;

	for (unsigned i = 0; i < LENGTH(rules); i++) {
		const char *error = NULL;

		ck_assert_int_eq(pairs_add(pairs, rules[i].text, &error), rules[i].error == NULL ? 0 : -1);
		ck_assert_pstr_eq(error, rules[i].error);
	}
	check_rules(pairs);
	copy = pairs_copy_rules(pairs);
	check_rules(copy);
	pairs_free(copy);
	copy = pairs_copy_rules(NULL);
	ck_assert_ptr_null(pairs_rule(copy, 0));
	pairs_free(copy);
	ck_assert_ptr_null(pairs_rule(NULL, 0));
	pairs_free(NULL);
}
END_TEST

/* ---- the names of spans ---- */

/* A probe, and what its events begin or end: in any stream, and in the stream of these. */
static const struct {
	const char *probe, *slots;
	const char *span, *span_here;
} names[] = {
	{ "work_start", "", "work", "work" }, { "work_end", "", "work", "work" },
	{ "walk_begin", "", "walk", "walk" }, { "walk_end", "", "walk", "walk" },
	{ "lock_enter", "", "lock", "lock" }, { "lock_exit", "", "lock", "lock" },
	{ "task_start", "", "task", "task" }, { "task_done", "", "task", "task" },
	{ "call_entry", "", "call", "call" }, { "call_return", "", "call", "call" },
	{ "endless_entry", "", "endless", "endless" },	/* NULL if no more probes come */
	{ "thread_exit", "", "thread", NULL }, { "only_end", "", "only", NULL },
	{ "only_done", "", "only", NULL }, { "only_return", "", "only", NULL },
	{ "_start", "", NULL, NULL }, { "_end", "", NULL, NULL }, { "start", "", NULL, NULL },
	{ "a_started", "", NULL, NULL },
	{ "syscall_start", "", "syscall", "syscall" }, { "syscall_end", "", "syscall", "syscall" },
	{ "physio_start", "", "physio", "physio" }, { "physio_end", "", "physio", "physio" },
	{ "pageout_scan_start", "", "pageout_scan", "pageout_scan" },
	{ "pageout_scan_end", "", "pageout_scan", "pageout_scan" },
	{ "strategy", "device:tnf_uint64 buf:tnf_uint64", "io", "io" },
	{ "biodone", "device:tnf_uint64", NULL, NULL },	/* no 'buf': which one it ends is not known */
	/* Those of the user win, the latest first. */
	{ "mine_start", "", "mine_start", "mine_start" }, { "mine_end", "", "mine_start", "mine_start" },
	{ "twice", "", "twice", "twice" }, { "twice_over", "", "twice", "twice" },
};

START_TEST(names_of_spans)
{
	for (unsigned i = 0; i < LENGTH(names); i++)
		mk_probe(made[0], names[i].probe, "keys k;", names[i].slots);
	open_stream(1);
	if (_i != 0)
		pairs_of(pairs, stream);
	if (_i == 2)
		pairs_complete(pairs);
	add_rule("mine_start,mine_end");
	add_rule("twice_over,twice");
	add_rule("twice,twice_over");
	for (unsigned i = 0; i < LENGTH(names); i++) {
		const struct tnf_probe *p = tnf_stream_probe(stream, i);
		const char *want = _i == 2 && strcmp(names[i].probe, "endless_entry") == 0 ? NULL :
		    _i != 0 ? names[i].span_here : names[i].span, *got = pairs_span(pairs, p);

		ck_assert_str_eq(p->name, names[i].probe);
		ck_assert_msg(want == NULL ? got == NULL : got != NULL && strcmp(got, want) == 0,
		    "%s: %s instead of %s", p->name, got, want);
	}
}
END_TEST

/* ---- any events, compared with a list ---- */

enum { EVENTS = 30000, FORGET = 97, FORGET_ALL = 4999 };

/* A pair belongs to a thread; to two members, also on two machines; to the kernel, on one
   machine; one member. */
enum kind { WORK, GET, IO, FD, KINDS };

static const struct {
	const char *start, *start_slots, *end, *end_slots, *name;
} kinds[KINDS] = {
	[WORK] = { "work_start", "", "work_end", "", "work" },
	[GET] = { "get", "key:tnf_string where:tnf_uint64", "put", "where:tnf_uint64 key:tnf_string", "get" },
	[IO] = { "strategy", "size:tnf_uint64 device:tnf_uint64 buf:tnf_uint64", "biodone",
	    "device:tnf_uint64 buf:tnf_uint64", "io" },
	[FD] = { "open", "fd:tnf_int32", "close", "fd:tnf_int32", "open" },
};
static const char *const texts[] = { NULL, "", "a", "ab", "b",
	"a text of some length, which is equal to the next one but for its end: x",
	"a text of some length, which is equal to the next one but for its end: y" };
static const struct { unsigned file; int32_t pid; uint32_t lwpid; } who[] = {
	{ 0, 7, 7 }, { 0, 7, 8 }, { 0, 8, 7 }, { 1, 7, 7 },
};
static struct event {
	enum kind kind;
	bool	 ends;
	unsigned who, text;
	uint64_t number;
	unsigned keep;
	bool	 open;
	unsigned below;		/* the one before of the same instance, from 1 */
} events[EVENTS];
enum { NUMBERS = 20000 };
static unsigned newest[KINDS * LENGTH(who) * LENGTH(texts) * NUMBERS];	/* of each instance, from 1 */
static uint64_t chance = 1;
static unsigned dropped[EVENTS], n_dropped;

static unsigned
pick(unsigned n)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(chance >> 33) % n;
}

/* The values that tell instances apart, as one number. */
static unsigned
instance(const struct event *e)
{
	unsigned of = e->kind == WORK ? e->who : e->kind == IO ? who[e->who].file : 0;

	return (((unsigned)e->kind * LENGTH(who) + of) * LENGTH(texts) + e->text) * NUMBERS + (unsigned)e->number;
}

/* An end is mostly that of something that began. */
static void
invent(unsigned i)
{
	struct event *e = &events[i];

	if (i > 0 && pick(5) < 2)
		*e = events[pick(i)];
	else {
		*e = (struct event){ .kind = pick(KINDS), .who = pick(LENGTH(who)) };
		e->number = e->kind == WORK ? 0 : pick(4) == 0 ? pick(3) : pick(NUMBERS);
		e->text = e->kind == GET ? pick(LENGTH(texts)) : 0;
	}
	e->ends = pick(2) != 0;
	e->keep = pick(2) == 0 ? pick(8) : KEEP_ALL;
	e->open = false;
}

static bool
put(unsigned probe, const struct event *e, struct mk_thread *t, int64_t time)
{
	struct mk *m = made[who[e->who].file];
	int64_t n = (int64_t)e->number;

	switch (e->kind) {
	case WORK:
		return mk_event(m, t, probe, time);
	case GET:
		return e->ends ? mk_event(m, t, probe, time, n, texts[e->text]) :
		    mk_event(m, t, probe, time, texts[e->text], n);
	case IO:
		return e->ends ? mk_event(m, t, probe, time, n / 2, n % 2) :
		    mk_event(m, t, probe, time, time, n / 2, n % 2);
	default:
		return mk_event(m, t, probe, time, n);
	}
}

static void
make_events(void)
{
	struct mk_thread threads[LENGTH(who)];
	unsigned probes[2][KINDS][2];

	for (unsigned i = 0; i < LENGTH(who); i++)
		threads[i] = (struct mk_thread){ .pid = who[i].pid, .lwpid = who[i].lwpid, .tid = i + 1 };
	for (unsigned f = 0; f < 2; f++)
		for (unsigned k = 0; k < KINDS; k++) {
			probes[f][k][0] = mk_probe(made[f], kinds[k].start, "keys k;", kinds[k].start_slots);
			probes[f][k][1] = mk_probe(made[f], kinds[k].end, "keys k;", kinds[k].end_slots);
		}
	for (unsigned i = 0; i < EVENTS; i++) {
		const struct event *e = &events[i];

		invent(i);
		EXPECT(i, put(probes[who[e->who].file][e->kind][e->ends], e, &threads[e->who], 1000 + 3 * (int64_t)i));
	}
}

static void
on_dropped(void *arg, void **user)
{
	ck_assert_ptr_eq(arg, dropped);
	dropped[n_dropped++] = (unsigned)((struct event *)*user - events);
}

/* The newest open start of the event's instance, or EVENTS. */
static unsigned
search(const struct event *e)
{
	unsigned *at = &newest[instance(e)];

	while (*at != 0 && !events[*at - 1].open)
		*at = events[*at - 1].below;
	return *at != 0 ? *at - 1 : EVENTS;
}

/* Closes a start that had to be dropped, and was dropped as the next one. */
static void
expect_dropped(unsigned i, unsigned start, unsigned *n)
{
	EXPECT(i, *n < n_dropped && dropped[*n] == start);
	events[start].open = false;
	++*n;
}

static void
check_start(unsigned i, const struct pair_slice *s)
{
	const struct event *e = &events[i];

	EXPECT(i, strcmp(s->name, kinds[e->kind].name) == 0);
	EXPECT(i, s->start->time == 1000 + 3 * (int64_t)i && s->start_at == i + 1);
	EXPECT(i, s->kept == (e->keep == KEEP_ALL) && s->start_kept == s->kept);
	EXPECT(i, s->user != NULL && *s->user == NULL);
	*s->user = &events[i];
	events[i].open = true;
	events[i].below = newest[instance(e)];
	newest[instance(e)] = i + 1;
}

static void
check_end(unsigned i, const struct pair_slice *s, uint64_t *orphans)
{
	const struct event *e = &events[i], *start;
	unsigned at = search(e);

	EXPECT(i, strcmp(s->name, kinds[e->kind].name) == 0);
	if (at == EVENTS) {
		*orphans += e->keep == KEEP_ALL;
		EXPECT(i, s->rule == NULL && s->user == NULL && !s->kept && !s->start_kept);
		EXPECT(i, s->start->time == 1000 + 3 * (int64_t)i && s->start_at == i + 1 && s->duration == 0);
		return;
	}
	start = &events[at];
	EXPECT(i, s->rule != NULL && *s->user == start && s->start_at == at + 1);
	EXPECT(i, s->start->time == 1000 + 3 * (int64_t)at && s->duration == 3 * (int64_t)(i - at));
	EXPECT(i, s->start->pid == who[start->who].pid && s->start->lwpid == who[start->who].lwpid);
	EXPECT(i, s->start_kept == (start->keep == KEEP_ALL));
	EXPECT(i, s->kept == ((start->keep & KEEP_WHO) && (start->keep & KEEP_WHEN) &&
	    ((start->keep | e->keep) & KEEP_WHAT)));
	events[at].open = false;
}

static unsigned n_each;

/* The next open start that is kept is this one. */
static void
each(void *arg, const struct pair_slice *s)
{
	unsigned *i = arg;

	while (!events[*i].open || events[*i].keep != KEEP_ALL)
		EXPECT(s->start_at, ++*i < EVENTS);
	EXPECT(*i, s->start_at == *i + 1 && s->start->time == 1000 + 3 * (int64_t)*i);
	EXPECT(*i, strcmp(s->name, kinds[events[*i].kind].name) == 0 && s->kept && s->start_kept);
	EXPECT(*i, s->duration == 0 && *s->user == &events[*i]);
	++*i;
	n_each++;
}

static void
check_open(unsigned n, uint64_t orphans)
{
	unsigned kept = 0, awaited = 0, at = 0;

	for (unsigned i = 0; i < n; i++) {
		kept += events[i].open && events[i].keep == KEEP_ALL;
		awaited += events[i].open && (events[i].keep == KEEP_ALL || events[i].keep == (KEEP_WHO | KEEP_WHEN));
	}
	EXPECT(n, pairs_counts(pairs)->open == kept);
	EXPECT(n, pairs_counts(pairs)->awaited == awaited);
	EXPECT(n, pairs_counts(pairs)->orphans == orphans);
	n_each = 0;
	pairs_each_open(pairs, each, &at);
	EXPECT(n, n_each == kept);
}

/* Forgets those of the event's thread, the newest first, and now and then all, the oldest first. */
static void
forget(unsigned i, const struct tnf_event *ev, unsigned *n)
{
	unsigned at;

	if (i % FORGET == 0) {
		struct event of = { .kind = WORK, .who = events[i].who };

		pairs_forget_thread(pairs, ev);
		while ((at = search(&of)) != EVENTS)
			expect_dropped(i, at, n);
	}
	if (i % FORGET_ALL == 0) {
		pairs_forget(pairs);
		for (at = 0; at <= i; at++)
			if (events[at].open)
				expect_dropped(i, at, n);
	}
	EXPECT(i, n_dropped == *n);
}

static void
match_all(size_t max)
{
	unsigned n_open = 0, n = 0, oldest = 0;
	struct pair_slice s;
	struct tnf_event ev;
	uint64_t orphans = 0;

	for (unsigned i = 0; i < EVENTS; i++) {
		bool ends = events[i].ends;

		EXPECT(i, tnf_stream_next(stream, &ev) == 1 && ev.time == 1000 + 3 * (int64_t)i);
		EXPECT(i, pairs_feed(pairs, &ev, events[i].keep, &s) == (ends ? PAIR_END : PAIR_START));
		if (!ends && n_open == max) {
			while (!events[oldest].open)
				oldest++;
			expect_dropped(i, oldest, &n);
			n_open--;
		}
		if (ends)
			check_end(i, &s, &orphans);
		else
			check_start(i, &s);
		n_open = n_open + !ends - (ends && s.rule != NULL);
		if (max < EVENTS) {
			unsigned before = n;

			forget(i, &ev, &n);
			n_open -= n - before;
		}
		if (i % 1000 == 0 || i == EVENTS - 1)
			check_open(i + 1, orphans);
	}
	ck_assert_int_eq(tnf_stream_next(stream, &ev), 0);
}

static const size_t maxima[] = { SIZE_MAX, 1, 300 };

START_TEST(as_a_list)
{
	make_events();
	open_stream(2);
	tnf_file_set_host(file[1], 1, 0);
	add_rule("get,put,key,where");
	add_rule("open,close,fd");
	if (maxima[_i] < EVENTS)
		pairs_endless(pairs, maxima[_i], on_dropped, dropped);
	match_all(maxima[_i]);
}
END_TEST

/* A thread's starts are forgotten also where no probe ends them. */
START_TEST(no_ends)
{
	unsigned start = mk_probe(made[0], "work_start", "keys k;", "");
	struct mk_thread t[2] = { { .pid = 1, .lwpid = 1, .tid = 1 }, { .pid = 1, .lwpid = 2, .tid = 2 } };
	struct pair_slice s;
	struct tnf_event ev;

	for (unsigned i = 0; i < 4; i++)
		ck_assert(mk_event(made[0], &t[i % 2], start, (int64_t)i));
	open_stream(1);
	pairs_endless(pairs, 10, on_dropped, dropped);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(tnf_stream_next(stream, &ev), 1);
		ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_START);
		*s.user = &events[i];
	}
	pairs_forget_thread(pairs, &ev);
	ck_assert_uint_eq(n_dropped, 2);
	ck_assert_uint_eq(dropped[0], 3);
	ck_assert_uint_eq(dropped[1], 1);
	ck_assert_uint_eq(pairs_counts(pairs)->open, 2);
}
END_TEST

static void
no_change(void *arg, const struct state_span *span, bool left, void **user)
{
}

/* An endless stream forgets threads that have ended before those that live, also where a living one
   has the address of one that had ended. */
START_TEST(ended_are_forgotten_first)
{
	static const struct { uint64_t tid; uint32_t lwpid; bool ends; } rows[] = {
		{ 1, 11, false }, { 1, 11, true }, { 2, 12, false }, { 2, 12, true },
		{ 2, 22, false }, { 3, 13, false }, { 4, 14, false },
	};
	unsigned state = mk_probe(made[0], "thread_state", "keys k;", "state:tnf_int32");
	unsigned ends = mk_probe(made[0], "thread_exit", "keys k;", "");
	struct states *s = states_new_endless(no_change, NULL, 3);
	struct state_span span;
	struct tnf_event ev;

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		struct mk_thread t = { .pid = 1, .lwpid = rows[i].lwpid, .tid = rows[i].tid };

		ck_assert(rows[i].ends ? mk_event(made[0], &t, ends, (int64_t)i) :
		    mk_event(made[0], &t, state, (int64_t)i, 1));
	}
	open_stream(1);
	while (tnf_stream_next(stream, &ev) == 1) {
		ev.kernel = true;
		ck_assert_uint_ne(states_feed(s, &ev), 0);
	}
	ck_assert(states_now(s, 2, &span) && span.lwpid == 22);
	ck_assert(states_now(s, 3, &span) && states_now(s, 4, &span));
	ck_assert(!states_now(s, 1, &span));
	states_end(s);
}
END_TEST

/* ---- what tells instances apart ---- */

/*
 * Pairs that a crafted trace would like to have: the bytes that say which instance an end is
 * of could be those of a start with other values.  None of them is a pair, but with the same
 * values each of them is.
 */
static const struct made {
	const char *type, *record, *as;
	int64_t	    v;
	const char *text;
	int64_t	    first, last;	/* so much more is in the first item, and in the last */
} values[] = {
	/* The number's bytes are seven times a null, and what closes an array. */
	{ "tnf_uint64", NULL, NULL, 0x2930303030303030, "", 0, 0 },
	{ "tnf_name_array", "seven", "tnf_name_array", 0, "", 0, 0 },
	{ "seven", "seven", NULL, 0, "", 0, 0 },
	{ "tnf_name_array", NULL, NULL, 0, "", 0, 0 },		/* null */
	{ "tnf_uint64", NULL, NULL, 0, "", 0, 0 },
	{ "tnf_uint64", NULL, NULL, 0, NULL, 0, 0 },
	{ "tnf_uint64", NULL, NULL, 1, "", 0, 0 },
	{ "tnf_uint64", NULL, NULL, '0', "", 0, 0 },
	{ "tnf_uint64", NULL, NULL, 0, "0", 0, 0 },
	{ "tnf_uint64", NULL, NULL, 0, "s", 0, 0 },
	{ "seven", "seven", NULL, 4, "", 0, 0 },
	{ "seven", "seven", NULL, 4, "", 1, 0 },
	{ "seven", "seven", NULL, 4, "", 0, 1 },
	{ "tnf_uint8_array", "seven", "tnf_uint8_array", 4, "", 0, 0 },
	{ "tnf_uint8_array", "seven", "tnf_uint8_array", 4, "", 1, 0 },
	{ "tnf_uint8_array", "seven", "tnf_uint8_array", 4, "", 0, 1 << 24 },
};

/* A thread of its own for each event; the reference is to its array or record. */
static void
put_made(unsigned probe, int64_t time, const struct made *made_of)
{
	static struct mk_thread threads[64];
	struct mk_thread *t = &threads[time];
	int64_t v = made_of->v;

	*t = (struct mk_thread){ .pid = (int32_t)time, .lwpid = (uint32_t)time, .tid = (uint64_t)time };
	if (made_of->record != NULL) {
		ck_assert(mk_event(made[0], t, 0, time));	/* 'nothing', for which the thread takes a block */
		uint32_t at = mk_record(made[0], t, made_of->record, (int64_t)36, v + made_of->first,
		    v, v, v, v, v, v + made_of->last);

		if (made_of->as != NULL)
			mk_put32(made[0], at, 0x80000002 | mk_type_pos(made[0], made_of->as));
		v = at;
	}
	ck_assert(mk_event(made[0], t, probe, time, v, made_of->text));
}

START_TEST(no_two_are_one)
{
	unsigned probes[LENGTH(values)][2], n = 0;
	struct pair_slice s;
	struct tnf_event ev;

	mk_record_type(made[0], "seven", "size:tnf_uint32 a:tnf_uint32 b:tnf_uint32 c:tnf_uint32 "
	    "d:tnf_uint32 e:tnf_uint32 f:tnf_uint32 g:tnf_uint32");
	mk_probe(made[0], "nothing", "keys k;", "");
	for (unsigned i = 0; i < LENGTH(values); i++) {
		char slots[64];
		unsigned like = 0;

		while (strcmp(values[like].type, values[i].type) != 0)
			like++;
		if (like < i) {
			memcpy(probes[i], probes[like], sizeof(probes[0]));
			continue;
		}
		snprintf(slots, sizeof slots, "v:%s t:tnf_string", values[i].type);
		probes[i][0] = mk_probe(made[0], "from", "keys k;", slots);
		probes[i][1] = mk_probe(made[0], "to", "keys k;", slots);
	}
	for (unsigned i = 0; i < 2 * LENGTH(values); i++) {
		unsigned k = i % LENGTH(values);

		put_made(probes[k][i / LENGTH(values)], 1 + i, &values[k]);
	}
	open_stream(1);
	add_rule("from,to,v,t");
	while (tnf_stream_next(stream, &ev) == 1)
		if (strcmp(ev.probe->name, "nothing") == 0)
			ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_NONE);
		else if (strcmp(ev.probe->name, "from") == 0)
			ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_START);
		else {
			ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_END);
			ck_assert_msg(s.rule != NULL, "row %u has no start", n);
			ck_assert_msg(s.start->time == 1 + n, "row %u ends what row %u began", n,
			    (unsigned)s.start->time - 1);
			n++;
		}
	ck_assert_uint_eq(n, LENGTH(values));
}
END_TEST

/* Formats print the ids of instances: they are the same in each run, and of each release. */
static uint64_t
mix(uint64_t id, uint64_t v)
{
	id = (id ^ v) * 0x9e3779b97f4a7c15;
	return id ^ id >> 29;
}

START_TEST(ids)
{
	unsigned first = mk_probe(made[0], "a", "keys k;", "t:tnf_string n:tnf_int32");
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	struct pair_slice s;
	struct tnf_event ev;

	ck_assert(mk_event(made[0], &t, first, (int64_t)1, "xy", (int64_t)-5));
	ck_assert(mk_event(made[0], &t, first, (int64_t)2, NULL, (int64_t)7));
	open_stream(1);
	add_rule("a,b,t,n");
	ck_assert_int_eq(tnf_stream_next(stream, &ev), 1);
	ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_START);
	ck_assert_uint_eq(s.id, mix(mix(mix(mix(0, 'a'), 'x'), 'y'), (uint64_t)-5));
	ck_assert_int_eq(tnf_stream_next(stream, &ev), 1);
	ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_START);
	ck_assert_uint_eq(s.id, mix(mix(mix(0, 'a'), 0), 7));
}
END_TEST

/* Without an end to the stream, matching goes on; with one, no more start than the limit. */
START_TEST(no_more_than_the_limit)
{
	unsigned start = mk_probe(made[0], "work_start", "keys k;", "");
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	struct pair_slice s;
	struct tnf_event ev;

	ck_assert(mk_event(made[0], &t, start, (int64_t)1));
	open_stream(1);
	ck_assert_int_eq(tnf_stream_next(stream, &ev), 1);
	for (unsigned i = 0; i < PAIR_OPEN_MAX; i++)
		EXPECT(i, pairs_feed(pairs, &ev, KEEP_ALL, &s) == PAIR_START);
	ck_assert_int_eq(pairs_feed(pairs, &ev, KEEP_ALL, &s), PAIR_NONE);
	ck_assert_uint_eq(pairs_counts(pairs)->open, PAIR_OPEN_MAX);
}
END_TEST

/* A start is not paired with an end from which blocks of a CPU are missing: another start, and the
   end of the first, may be among the events that are lost. */
static const struct {
	uint32_t block;		/* of the event of CPU 0 between start and end, 0: there is none */
	bool	 kernel;	/* start and end */
	bool	 paired;
} gaps[] = {
	{ 0, true, true }, { 3, true, true }, { 4, true, true },
	{ 5, true, false }, { 9, true, false }, { 9, false, true },
};

START_TEST(a_gap_parts)
{
	unsigned start = mk_probe(made[0], "work_start", "keys k;", ""),
	    end = mk_probe(made[0], "work_end", "keys k;", ""), other = mk_probe(made[0], "other", "keys k;", "");
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	struct tnf_event ev[3];
	struct pair_slice s;

	ck_assert(mk_event(made[0], &t, start, (int64_t)1));
	ck_assert(mk_event(made[0], &t, other, (int64_t)2));
	ck_assert(mk_event(made[0], &t, end, (int64_t)3));
	open_stream(1);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(tnf_stream_next(stream, &ev[i]), 1);
	ev[1].kernel = true;
	ev[1].cpu = 0;
	ev[1].block = 3;
	ck_assert_int_eq(pairs_feed(pairs, &ev[1], KEEP_ALL, &s), PAIR_NONE);
	ev[0].kernel = ev[2].kernel = gaps[_i].kernel;
	ev[0].cpu = ev[2].cpu = 1;
	ev[0].block = ev[2].block = 1;
	ck_assert_int_eq(pairs_feed(pairs, &ev[0], KEEP_ALL, &s), PAIR_START);
	ev[1].block = gaps[_i].block;
	if (gaps[_i].block != 0)
		ck_assert_int_eq(pairs_feed(pairs, &ev[1], KEEP_ALL, &s), PAIR_NONE);
	ck_assert_int_eq(pairs_feed(pairs, &ev[2], KEEP_ALL, &s), PAIR_END);
	ck_assert_int_eq(s.rule != NULL, gaps[_i].paired);
	ck_assert_uint_eq(pairs_counts(pairs)->cut, !gaps[_i].paired);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("matcher");
	TCase *tc = tcase_create("pairs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rules_of_a_user);
	tcase_add_loop_test(tc, names_of_spans, 0, 3);
	tcase_add_loop_test(tc, as_a_list, 0, LENGTH(maxima));
	tcase_add_test(tc, no_ends);
	tcase_add_test(tc, ended_are_forgotten_first);
	tcase_add_test(tc, no_two_are_one);
	tcase_add_test(tc, ids);
	tcase_add_test(tc, no_more_than_the_limit);
	tcase_add_loop_test(tc, a_gap_parts, 0, LENGTH(gaps));
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
