/*
 * check-runtime.c - probes that are made at run time, and values of up to 64 KiB.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/runtime.h>
#include <tnf/stream.h>

#include "tests/writer/suite.h"

#define ARGS(...) \
	(const struct tnf_probe_argument_type[]){ __VA_ARGS__ }
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct tnf_probe_argument_type n_text[] = {
	{ "n", TNF_ARG_INT64 }, { "s", TNF_ARG_TEXT },
};

static struct tnf_probe_control *
define(const char *name, unsigned n, const struct tnf_probe_argument_type *args)
{
	struct tnf_probe_control *p = tnf_probe_define(name, "k l", "", n, args);

	ck_assert_ptr_nonnull(p);
	return p;
}

static void
hit_text(struct tnf_probe_control *p, int64_t n, const char *text, size_t size)
{
	struct tnf_probe_value v[2] = { { .u.i = n }, { .u.text = text,
	    .size = size } };

	tnf_probe_hit(p, v);
}

/* Off, nothing is recorded, and the caller's own test says so. */
START_TEST(off)
{
	struct tnf_probe_control *p;

	selfctl_file(path, 128);
	p = define("off", 2, n_text);
	ck_assert(!tnf_probe_is_on(p));
	hit_text(p, 1, NULL, 0);
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_READY);
	selfctl_on(p);
	ck_assert(tnf_probe_is_on(p));
	hit_text(p, 1, NULL, 0);
	/* Beside a compiled one. */
	TNF_PROBE_0(compiled, "", "");
	selfctl_enable("compiled");
	TNF_PROBE_0(compiled, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(0, "off n=1 s=NULL");
	IS(1, "compiled");
}
END_TEST

/* Every kind, and what pads one from the next. */
START_TEST(kinds)
{
	struct tnf_probe_control *p;
	struct tnf_probe_value v[14] = {
		{ .u.i = -1 }, { .u.i = -300 }, { .u.i = -70000 },
		{ .u.i = INT64_MIN }, { .u.u = 255 }, { .u.u = 65535 },
		{ .u.u = 4294967295u }, { .u.u = UINT64_MAX }, { .u.d = 0.5 },
		{ .u.d = -1.25 }, { .u.u = 16 },
		{ .u.text = "short", .size = TNF_SIZE_NUL },
		{ .u.text = "textual", .size = 4 },
		{ .u.data = "bytes", .size = 5 },
	};

	start(256);
	p = define("all", 14, ARGS({ "i8", TNF_ARG_INT8 },
	    { "i16", TNF_ARG_INT16 }, { "i32", TNF_ARG_INT32 },
	    { "i64", TNF_ARG_INT64 }, { "u8", TNF_ARG_UINT8 },
	    { "u16", TNF_ARG_UINT16 }, { "u32", TNF_ARG_UINT32 },
	    { "u64", TNF_ARG_UINT64 }, { "f", TNF_ARG_FLOAT32 },
	    { "d", TNF_ARG_FLOAT64 }, { "o", TNF_ARG_OPAQUE },
	    { "s", TNF_ARG_STRING }, { "t", TNF_ARG_TEXT },
	    { "b", TNF_ARG_BLOB }));
	selfctl_on(p);
	tnf_probe_hit(p, v);
	v[11].u.text = v[12].u.text = "";
	v[12].size = 0;
	tnf_probe_hit(p, v);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(0, "all i8=-1 i16=-300 i32=-70000 i64=-9223372036854775808 u8=255 "
	    "u16=65535 u32=4294967295 u64=18446744073709551615 f=0.5 d=-1.25 "
	    "o=16 s=\"short\" t=\"text\" b=\"bytes\"");
	ck_assert_ptr_nonnull(strstr(ev.v[1].text, "s=\"\" t=\"\" b="));
}
END_TEST

/* Definitions that a controller, a selector or the file could not take are refused. */
START_TEST(refused)
{
	static char longest[5000];
	const struct tnf_probe_argument_type many[17] = { { "a", 0 } };
	unsigned i;

	const struct {
		const char *name, *keys, *detail, *arg;
		uint32_t kind;
	} bad[] = {
		{ "", "", "", "a", 1 }, { "a b", "", "", "a", 1 },
		{ "a;b", "", "", "a", 1 }, { "a\n", "", "", "a", 1 },
		{ "a\x7f", "", "", "a", 1 }, { "a", "k;x", "", "a", 1 },
		{ "a", "k\tx", "", "a", 1 }, { "a", "", "x\n", "a", 1 },
		{ "a", "", "", "", 1 }, { "a", "", "", "b c", 1 },
		{ "a", "", "", "a", 0 }, { "a", "", "", "a", 15 },
		{ "a", longest, "", "a", 1 }, { longest, "", "", "a", 1 },
		{ "a", "", "", longest, 1 }, { "a", "", "", NULL, 1 },
		{ NULL, "", "", "a", 1 },
	};

	memset(longest, 'x', sizeof(longest) - 1);
	for (i = 0; i < COUNT(bad); i++) {
		errno = 0;
		ck_assert_ptr_null(tnf_probe_define(bad[i].name, bad[i].keys,
		    bad[i].detail, 1, ARGS({ bad[i].arg, bad[i].kind })));
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_ptr_null(tnf_probe_define("a", "", "", 17, many));
	ck_assert_ptr_null(_tnf_process_control.pools);
	ck_assert_ptr_nonnull(tnf_probe_define("gr\xc3\xbc\xc3\x9f" "e.$1<init>",
	    NULL, NULL, 0, NULL));
}
END_TEST

/* The same words make the same probe; another kind of argument another one. */
START_TEST(same)
{
	struct tnf_probe_control *a, *b;
	uint64_t defined;

	a = define("p", 1, ARGS({ "x", TNF_ARG_INT64 }));
	defined = _tnf_process_control.defined;
	ck_assert_ptr_eq(define("p", 1, ARGS({ "x", TNF_ARG_INT64 })), a);
	ck_assert_uint_eq(_tnf_process_control.defined, defined);
	b = define("p", 1, ARGS({ "x", TNF_ARG_FLOAT64 }));
	ck_assert_ptr_ne(a, b);
	start(256);
	selfctl_on(a);
	selfctl_on(b);
	tnf_probe_hit(a, (struct tnf_probe_value[]){ { .u.i = 7 } });
	tnf_probe_hit(b, (struct tnf_probe_value[]){ { .u.d = 7.5 } });
	finish();
	IS(0, "p x=7");
	IS(1, "p x=7.5");
	ck_assert_uint_eq(ev.probes, 2);
}
END_TEST

/* Reads member i of each event; what it holds follows from its length. */
static void
check_values(const char *file, const size_t *want, size_t n, size_t max)
{
	struct tnf_event e;
	struct tnf_value v, blob;
	tnf_stream_t *s;
	size_t i, k, len;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add(s, file, NULL), 0);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(tnf_stream_next(s, &e), 1);
		ck_assert(tnf_event_value(&e, 0, &v));
		ck_assert(tnf_event_value(&e, 1, &blob));
		len = want[i] < max ? want[i] : max;
		ck_assert_msg(v.kind == TNF_K_STRING && !v.null &&
		    v.u.s.len == len && v.cut == (len < want[i]),
		    "%zu: %zu bytes%s", want[i], v.u.s.len, v.cut ? ", cut" : "");
		ck_assert_uint_eq(blob.cut, v.cut);
		for (k = 0; k < len; k++) {
			ck_assert_int_eq(v.u.s.chars[k], 'a' + (int)(k % 26));
			ck_assert_int_eq(blob.u.s.chars[k], (char)(k % 251));
		}
	}
	ck_assert_int_eq(tnf_stream_next(s, &e), 0);
	tnf_stream_close(s);
}

static void
hit_sizes(struct tnf_probe_control *p, const size_t *size, size_t n)
{
	static char text[200000], data[200000];
	struct tnf_probe_value v[2];
	size_t i;

	for (i = 0; i < sizeof(text); i++) {
		text[i] = (char)('a' + i % 26);
		data[i] = (char)(i % 251);
	}
	for (i = 0; i < n; i++) {
		v[0].u.text = text;
		v[1].u.data = data;
		v[0].size = v[1].size = size[i];
		tnf_probe_hit(p, v);
	}
}

static struct tnf_probe_control *
text_and_blob(void)
{
	struct tnf_probe_control *p = define("long", 2,
	    ARGS({ "s", TNF_ARG_TEXT }, { "b", TNF_ARG_BLOB }));

	selfctl_on(p);
	return p;
}

/* Around what one piece, one block and one array hold, and what is cut. */
START_TEST(sizes)
{
	static const size_t size[] = { 0, 1, 7, 8, 230, 231, 232, 233, 460, 461,
	    462, 463, 464, 465, 1000, 5000, 117 * 231 - 1, 117 * 231,
	    117 * 231 + 1, 118 * 231, 118 * 231 + 1, 118 * 232, 118 * 232 + 1,
	    60000, 65535, 65536, 65537, 100000, 200000 };

	start(4096);
	hit_sizes(text_and_blob(), size, COUNT(size));
	finish();
	check_values(path, size, COUNT(size), TNF_LONG_MAX);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_TOO_LARGE], 0);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
}
END_TEST

/* A small file holds a part; the whole file is not spent on one value. */
START_TEST(small_file)
{
	static const size_t size[] = { 100, 3696, 3697, 100000 };
	static const size_t last[] = { 3000 };
	struct tnf_probe_control *p;
	struct tnf_value v;
	struct tnf_event e;
	tnf_stream_t *s;
	int i;

	start(128);
	p = define("long", 1, ARGS({ "s", TNF_ARG_TEXT }));
	selfctl_on(p);
	hit_sizes(p, size, COUNT(size));
	finish();
	ck_assert_uint_eq(ev.n, 4);
	ck_assert_uint_eq(strlen(ev.v[1].text), strlen("long s=\"\"") + 3696);
	ck_assert_uint_eq(strlen(ev.v[2].text), strlen("long s=\"\"...") + 3696);
	/* Round and round. */
	for (i = 0; i < 500; i++)
		hit_sizes(p, last, 1);
	finish();
	ck_assert_uint_ge(ev.n, 4);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add(s, path, NULL), 0);
	while (tnf_stream_next(s, &e) == 1) {
		ck_assert(tnf_event_value(&e, 0, &v));
		ck_assert(!v.cut && v.u.s.len == 3000);
	}
	tnf_stream_close(s);
}
END_TEST

/* A character is not cut in two; what is no UTF-8 is cut where the limit is. */
START_TEST(characters)
{
	static char text[TNF_LONG_MAX + 10], bad[TNF_LONG_MAX + 10];
	struct tnf_probe_control *p = define("c", 2, n_text);
	size_t i;

	for (i = 1; i < sizeof(text) - 3; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	text[0] = 'x';
	memset(bad, '\x80', sizeof(bad));
	start(4096);
	selfctl_on(p);
	hit_text(p, 0, text, sizeof(text));
	hit_text(p, 1, bad, sizeof(bad));
	finish();
	ck_assert_uint_eq(strlen(ev.v[0].text), strlen("c n=0 s=\"\"...") + 65536);
	ck_assert_uint_eq(strlen(ev.v[1].text), strlen("c n=0 s=\"\"...") + 65536);
	bad[0] = 'x';
	text[0] = text[1] = 'x';
	for (i = 2; i < sizeof(text) - 3; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	hit_text(p, 2, text, sizeof(text));
	finish();
	ck_assert_uint_eq(strlen(ev.v[2].text), strlen("c n=0 s=\"\"...") + 65534);
}
END_TEST

/* A long value gives its blocks back, wherever in the ring they lie: else the ring is soon held. */
START_TEST(given_back)
{
	struct tnf_probe_control *p = define("long", 2, n_text);
	char text[9000];

	memset(text, 't', sizeof(text));
	start(128);
	selfctl_on(p);
	for (int i = 0; i < 400; i++)
		hit_text(p, i, text, (size_t)(1 + i * 97 % 9000));
	tnf_thread_disable();
	finish();
	ck_assert_uint_eq(ev.held, 0);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
}
END_TEST

/* More than one hit can reach: the rest is cut, the event is there. */
START_TEST(sixteen)
{
	static char text[70000];
	struct tnf_probe_argument_type args[16];
	struct tnf_probe_value v[16];
	char names[16][4];
	struct tnf_probe_control *p;
	unsigned i;

	memset(text, 't', sizeof(text));
	for (i = 0; i < 16; i++) {
		snprintf(names[i], sizeof(names[i]), "a%u", i);
		args[i].name = names[i];
		args[i].kind = i % 2 ? TNF_ARG_TEXT : TNF_ARG_BLOB;
		v[i].u.text = text;
		v[i].size = sizeof(text);
	}
	start(8192);
	p = define("sixteen", 16, args);
	selfctl_on(p);
	tnf_probe_hit(p, v);
	v[1].size = 10;
	tnf_probe_hit(p, v);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_TOO_LARGE], 0);
	ck_assert_uint_ge(strlen(ev.v[0].text), 3 * 65536);
}
END_TEST

static unsigned
count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

/* The texts take what one event may reach.  None of them is null for that: it is marked
   as cut and counted, and there is room for the strings behind them. */
START_TEST(shortened)
{
	static char text[60000], string[TNF_STRING_MAX + 1];
	struct tnf_probe_argument_type args[16];
	struct tnf_probe_value v[16];
	static const char *const name[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i",
	    "j", "k", "l", "m", "n", "o", "p" };
	unsigned texts, i, n = 0;
	struct tnf_probe_control *p;

	memset(text, 't', sizeof(text));
	memset(string, 's', TNF_STRING_MAX);
	start(8192);
	for (texts = 16; texts > 0; texts -= 5) {
		for (i = 0; i < 16; i++) {
			args[i].name = name[i];
			args[i].kind = i >= texts ? TNF_ARG_STRING :
			    i % 2 ? TNF_ARG_TEXT : TNF_ARG_BLOB;
			v[i].u.text = i < texts ? text : string + i;
			v[i].size = i < texts ? sizeof(text) : TNF_SIZE_NUL;
		}
		p = define(name[texts - 1], 16, args);
		selfctl_on(p);
		tnf_probe_hit(p, v);
		if (texts == 1)
			break;
	}
	finish();
	ck_assert_uint_eq(ev.n, 4);
	for (i = 0, texts = 0; i < ev.n; i++) {
		ck_assert_ptr_null(strstr(ev.v[i].text, "NULL"));
		texts += count_of(ev.v[i].text, "...");
	}
	ck_assert_uint_gt(count_of(ev.v[0].text, "..."), 4);
	ck_assert_uint_eq(count_of(ev.v[3].text, "..."), 0);
	for (i = 6; i < 16; i++)
		n += (TNF_STRING_MAX - i) / 4;
	ck_assert_uint_eq(count_of(ev.v[2].text, "ssss"), n);
	ck_assert_uint_eq(ev.ext.shortened, texts);
	for (i = 0; i < TNF_LOST_REASONS; i++)
		ck_assert_uint_eq(ev.ext.lost[i], 0);
}
END_TEST

static pthread_barrier_t barrier;

static void *
define_many(void *arg)
{
	struct tnf_probe_control **ret = arg;
	char name[16];
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		ret[i] = define(name, 2, n_text);
	}
	return NULL;
}

/* Threads that define the same get the same, and nothing is lost. */
START_TEST(threads)
{
	static struct tnf_probe_control *p[8][200];
	pthread_t id[8];
	int i, k;

	pthread_barrier_init(&barrier, NULL, 8);
	for (i = 0; i < 8; i++)
		pthread_create(&id[i], NULL, define_many, p[i]);
	for (i = 0; i < 8; i++)
		pthread_join(id[i], NULL);
	for (i = 1; i < 8; i++)
		for (k = 0; k < 200; k++)
			ck_assert_ptr_eq(p[i][k], p[0][k]);
	ck_assert_uint_eq(_tnf_process_control.defined, 200);
	start(1024);
	for (k = 0; k < 200; k++) {
		selfctl_on(p[0][k]);
		hit_text(p[0][k], k, "x", 1);
	}
	finish();
	ck_assert_uint_eq(ev.n, 200);
	ck_assert_uint_eq(ev.probes, 200);
	IS(199, "p199 n=199 s=\"x\"");
}
END_TEST

static void
in_child(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		f();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void
child_defines(void)
{
	struct tnf_probe_control *p = define("late", 2, n_text);

	selfctl_on(p);
	hit_text(p, getpid(), "of a child", TNF_SIZE_NUL);
	hit_text(define("early", 2, n_text), getpid(), "of a child",
	    TNF_SIZE_NUL);
}

/* Children have their parent's probes; a definition stands once in the file. */
START_TEST(children)
{
	struct tnf_probe_control *p = define("early", 2, n_text);
	int i;

	start(256);
	selfctl_on(p);
	hit_text(p, 0, "of the parent", TNF_SIZE_NUL);
	for (i = 0; i < 3; i++)
		in_child(child_defines);
	child_defines();
	finish();
	ck_assert_uint_eq(ev.n, 9);
	ck_assert_uint_eq(ev.probes, 2);
}
END_TEST

static const struct tnf_probe_argument_type two_signed[] = {
	{ "a", TNF_ARG_INT64 }, { "b", TNF_ARG_INT64 },
}, first_unsigned[] = {
	{ "a", TNF_ARG_UINT64 }, { "b", TNF_ARG_INT64 },
}, second_unsigned[] = {
	{ "a", TNF_ARG_INT64 }, { "b", TNF_ARG_UINT64 },
};

static void
hit_minus_one(const struct tnf_probe_argument_type *args)
{
	struct tnf_probe_control *p = define("like", 2, args);

	selfctl_on(p);
	tnf_probe_hit(p, (struct tnf_probe_value[]){ { .u.i = -1 }, { .u.i = -1 } });
}

static void child_first(void) { hit_minus_one(first_unsigned); }
static void child_second(void) { hit_minus_one(second_unsigned); }
static void child_same(void) { hit_minus_one(two_signed); }

/* A child's probe that differs in the type of one argument alone is another one. */
START_TEST(children_with_other_types)
{
	start(256);
	in_child(child_same);
	in_child(child_first);
	in_child(child_second);
	in_child(child_same);
	finish();
	ck_assert_uint_eq(ev.n, 4);
	ck_assert_uint_eq(ev.probes, 3);
	IS(0, "like a=-1 b=-1");
	IS(1, "like a=18446744073709551615 b=-1");
	IS(2, "like a=-1 b=18446744073709551615");
	IS(3, "like a=-1 b=-1");
}
END_TEST

/* The process goes on in another file: what was defined is defined there. */
START_TEST(another_file)
{
	static const size_t size[] = { 10, 3000, 65536 };
	struct tnf_probe_control *p;

	start(2048);
	p = text_and_blob();
	hit_sizes(p, size, COUNT(size));
	ck_assert_int_eq(selfctl_open(second, 4096), 0);
	hit_sizes(p, size, COUNT(size));
	hit_text(define("other", 2, n_text), 1, "off", 3);
	check_values(path, size, COUNT(size), TNF_LONG_MAX);
	check_values(second, size, COUNT(size), TNF_LONG_MAX);
	events_read(second, &ev);
	ck_assert_uint_eq(ev.damaged, 0);
	ck_assert_uint_eq(ev.probes, 1);
}
END_TEST

static struct tnf_probe_argument seen;
static char begins[300];

static void
look_at(struct tnf_probe_setup *setup)
{
	ck_assert_int_eq(tnf_probe_get_argument(setup, 1, &seen), 0);
	snprintf(begins, sizeof(begins), "%s", seen.string);
	tnf_probe_debug(setup);
}

/* A connected function sees how a text begins; a hit that is not traced leaves no
   event. */
START_TEST(connected)
{
	static const tnf_probe_func_t chain[] = { look_at, NULL };
	struct tnf_probe_control *p = define("c", 2, n_text);
	static char text[1001];

	memset(text, 'q', 1000);
	start(512);
	selfctl_on(p);
	p->chain = chain;
	hit_text(p, 1, text, TNF_SIZE_NUL);
	ck_assert_uint_eq(strlen(begins), 231);
	p->traced = 0;
	hit_text(p, 2, text, TNF_SIZE_NUL);
	p->traced = 1;
	hit_text(p, 3, NULL, 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { off, kinds, refused, same, sizes,
	    small_file, characters, given_back, sixteen, shortened, threads, children,
	    children_with_other_types, another_file, connected };

	return run_tests("runtime", tests, COUNT(tests));
}
