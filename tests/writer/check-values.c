/*
 * check-values.c - what an event holds, seen through the reader.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/writer/suite.h"

/* A program whose probes are off pays nothing and evaluates nothing. */
START_TEST(off)
{
	int n = 0;

	selfctl_file(path, 128);
	TNF_PROBE_1(off, "", "", tnf_int, n, ++n);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_READY);
}
END_TEST

/* Every argument type, at its limits. */
START_TEST(scalars)
{
	int here;

	start(256);
	TNF_PROBE_0(start, "k", "");
	TNF_PROBE_5(a, "k", "", tnf_int, i, -1, tnf_uint, u, 4294967295u,
	    tnf_long, l, -9223372036854775807l - 1, tnf_ulong, ul, ~0ul,
	    tnf_longlong, ll, -5);
	TNF_PROBE_5(b, "k", "", tnf_ulonglong, ull, ~0ull, tnf_float, f, 0.5f,
	    tnf_double, d, -1.25, tnf_string, s, "hello", tnf_opaque, o, &here);
	TNF_PROBE_5(c, "k", "", tnf_char, c, 'x', tnf_int8, i8, -128,
	    tnf_uint8, u8, 255, tnf_int16, i16, -32768, tnf_uint16, u16, 65535);
	TNF_PROBE_5(d, "k", "", tnf_int32, a, 1, tnf_uint32, b, 2, tnf_int64,
	    c, 3, tnf_uint64, d, 4, tnf_float32, e, 5);
	TNF_PROBE_5(e, "k", "", tnf_float64, a, 6, tnf_uchar, b, 7, tnf_short,
	    c, -8, tnf_ushort, d, 9, tnf_name, e, "name");
	TNF_PROBE_3(f, "k", "", tnf_size, a, 10, tnf_pid, b, -11, tnf_lwpid,
	    c, 12);
	finish();
	ck_assert_uint_eq(ev.n, 7);
	IS(0, "start");
	IS(1, "a i=-1 u=4294967295 l=-9223372036854775808 "
	    "ul=18446744073709551615 ll=-5");
	ck_assert_ptr_eq(strstr(ev.v[2].text, "b ull=18446744073709551615 "
	    "f=0.5 d=-1.25 s=\"hello\" o="), ev.v[2].text);
	IS(3, "c c=120 i8=-128 u8=255 i16=-32768 u16=65535");
	IS(4, "d a=1 b=2 c=3 d=4 e=5");
	IS(5, "e a=6 b=7 c=-8 d=9 e=\"name\"");
	IS(6, "f a=10 b=-11 c=12");
	ck_assert_int_eq(ev.v[0].pid, getpid());
	ck_assert_uint_eq(ev.v[0].tid, (unsigned)syscall(SYS_gettid));
}
END_TEST

/* Strings are cut at 255 characters, and say so, in whatever place of a block. */
START_TEST(strings)
{
	char text[400], want[512];
	size_t i, n;

	memset(text, 'x', sizeof(text));
	start(1024);
	for (i = 0; i < 300; i++) {
		text[i] = '\0';
		TNF_PROBE_1(s, "", "", tnf_string, s, text);
		text[i] = 'x';
	}
	TNF_PROBE_1(s, "", "", tnf_string, s, NULL);
	finish();
	ck_assert_uint_eq(ev.n, 301);
	for (i = 0; i < 300; i++) {
		n = i < 255 ? i : 255;
		snprintf(want, sizeof(want), "s s=\"%.*s\"%s", (int)n, text, i > 255 ? "..." : "");
		IS(i, want);
	}
	IS(300, "s s=NULL");
}
END_TEST

/* Text without a NUL; behind its end nothing is read. */
START_TEST(chars)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0), want[512];
	char *end = page + 4096;

	ck_assert(page != MAP_FAILED);
	memset(page, 'x', 4096);
	ck_assert_int_eq(mprotect(end, 4096, PROT_NONE), 0);
	start(128);
	TNF_PROBE_2(c, "", "", tnf_chars, s, TNF_CHARS(end - 3, 3),
	    tnf_chars, none, TNF_CHARS(end, 0));
	TNF_PROBE_1(d, "", "", tnf_chars, s, TNF_CHARS(end - 300, 300));
	TNF_PROBE_1(d, "", "", tnf_chars, s, TNF_CHARS("ab\0cd", 5));
	TNF_PROBE_1(d, "", "", tnf_chars, s, TNF_CHARS(NULL, 5));
	finish();
	ck_assert_uint_eq(ev.n, 4);
	IS(0, "c s=\"xxx\" none=\"\"");
	snprintf(want, sizeof(want), "d s=\"%.255s\"...", page);
	IS(1, want);
	IS(2, "d s=\"ab\"");
	IS(3, "d s=NULL");
}
END_TEST

static char shown[64];

static void
look(struct tnf_probe_setup *setup)
{
	struct tnf_probe_argument a;

	if (tnf_probe_get_argument(setup, 1, &a) == 0 && a.string != NULL)
		snprintf(shown, sizeof(shown), "%s", a.string);
}

/* A string that is in the block already is not written again; but one that was
   changed is, and nobody refers to one of a hit that was given up. */
START_TEST(strings_shared)
{
	static const tnf_probe_func_t chain[] = { look, NULL };
	char text[8] = "a", want[64];
	int i;

	start(256);
	selfctl_connect("same", chain);
	for (i = 0; i < 1000; i++) {
		selfctl_trace("dropped", i % 3 != 0);
		text[0] = (char)('a' + i % 7 / 3);
		TNF_PROBE_1(dropped, "", "", tnf_string, s, text);
		TNF_PROBE_2(same, "", "", tnf_string, s, text, tnf_name, n,
		    text);
		ck_assert_str_eq(shown, text);
		TNF_PROBE_1(literal, "", "", tnf_string, s, "hello");
		text[1] = i % 5 == 0 ? 'x' : '\0';
	}
	finish();
	for (i = 0; i < (int)ev.n; i++)
		if (strncmp(ev.v[i].text, "literal", 7) == 0)
			IS(i, "literal s=\"hello\"");
	memset(text, 0, sizeof(text));
	for (i = 0, ev.n = 0; i < 1000; i++) {
		text[0] = (char)('a' + i % 7 / 3);
		if (i % 3 != 0) {
			snprintf(want, sizeof(want), "dropped s=\"%s\"", text);
			IS(ev.n++, want);
		}
		snprintf(want, sizeof(want), "same s=\"%s\" n=\"%s\"", text,
		    text);
		IS(ev.n, want);
		ev.n += 2;
		text[1] = i % 5 == 0 ? 'x' : '\0';
	}
}
END_TEST

/* 24 bytes an event and a string for each block: 18 events in a block. */
START_TEST(strings_take_no_room)
{
	int i;

	start(256);
	for (i = 0; i < 1800; i++)
		TNF_PROBE_3(e, "", "", tnf_int, a, i, tnf_int, b, 7, tnf_string,
		    s, "hello");
	finish();
	ck_assert_uint_eq(ev.n, 1800);
	ck_assert_uint_le(ev.ext.data_cursor, 100 + 4);
}
END_TEST

/* An event whose strings need more than a block. */
START_TEST(strings_over_blocks)
{
	char s[5][256], want[2000];
	int i;

	for (i = 0; i < 5; i++)
		memset(s[i], 'a' + i, 255), s[i][255] = '\0';
	snprintf(want, sizeof(want),
	    "five a=\"%s\" b=\"%s\" c=\"%s\" d=\"%s\" e=\"%s\"", s[0], s[1],
	    s[2], s[3], s[4]);
	start(256);
	for (i = 0; i < 30; i++) {
		TNF_PROBE_0(between, "", "");
		TNF_PROBE_5(five, "", "", tnf_string, a, s[0], tnf_string, b,
		    s[1], tnf_string, c, s[2], tnf_string, d, s[3], tnf_string,
		    e, s[4]);
	}
	finish();
	ck_assert_uint_eq(ev.n, 60);
	for (i = 0; i < 30; i++) {
		IS(2 * i, "between");
		IS(2 * i + 1, want);
	}
}
END_TEST

struct point { int x, y; };
struct shape { char c; short s; const char *name; struct point *at; double w; };
struct node { struct node *next; int v; };
TNF_DECLARE_RECORD(struct point, t_point);
TNF_DEFINE_RECORD_2(struct point, t_point, tnf_int, x, tnf_int, y)
TNF_DECLARE_RECORD(struct shape, t_shape);
TNF_DEFINE_RECORD_5(struct shape, t_shape, tnf_char, c, tnf_short, s,
    tnf_string, name, t_point, at, tnf_double, w)
TNF_DECLARE_RECORD(struct node, t_node);
TNF_DEFINE_RECORD_2(struct node, t_node, t_node, next, tnf_int, v)

START_TEST(records)
{
	struct point p = { 3, -4 };
	struct shape s = { 'c', -2, "diagonal", &p, .5 }, none = { 0 };
	const struct point *nul = NULL;

	start(256);
	TNF_PROBE_2(shape, "", "", t_shape, s, &s, tnf_int, k, 1);
	TNF_PROBE_2(shape, "", "", t_shape, s, &none, tnf_int, k, 2);
	TNF_PROBE_1(point, "", "", t_point, p, nul);
	finish();
	ck_assert_uint_eq(ev.n, 3);
	IS(0, "shape s={c=99 s=-2 name=\"diagonal\" at={x=3 y=-4} w=0.5} k=1");
	IS(1, "shape s={c=0 s=0 name=NULL at=NULL w=0} k=2");
	IS(2, "point p=NULL");
}
END_TEST

/* A list is written whole; a circle ends where the room for one event does. */
START_TEST(lists)
{
	struct node n[200];
	char *s;
	int i, count;

	for (i = 0; i < 200; i++) {
		n[i].next = i < 199 ? &n[i + 1] : NULL;
		n[i].v = i;
	}
	start(256);
	TNF_PROBE_1(list, "", "", t_node, n, n);
	n[199].next = n;
	TNF_PROBE_1(circle, "", "", t_node, n, n);
	TNF_PROBE_0(after, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 3);
	count = 0;
	for (s = ev.v[0].text; (s = strstr(s, "v=")) != NULL; s++)
		count++;
	ck_assert_int_eq(count, 200);
	ck_assert(strncmp(ev.v[1].text, "circle n={next={", 16) == 0);
	IS(2, "after");
}
END_TEST

/* The file wraps: what is left is the end, without a gap. */
START_TEST(wrap)
{
	char want[32];
	size_t i;
	int n;

	start(128);
	for (n = 0; n < 100000; n++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, n);
	finish();
	ck_assert_uint_gt(ev.n, 63 * 25);
	for (i = 0; i < ev.n; i++) {
		snprintf(want, sizeof(want), "loop i=%d",
		    (int)(100000 - ev.n + i));
		IS(i, want);
	}
}
END_TEST

/* Strings keep their events when both have wrapped. */
START_TEST(wrap_strings)
{
	char text[300], want[320];
	size_t i;
	int n;

	start(128);
	for (n = 0; n < 20000; n++) {
		snprintf(text, sizeof(text), "%d %.*s", n, n % 250,
		    "_________________________________________________________"
		    "_________________________________________________________"
		    "_________________________________________________________"
		    "_________________________________________________________"
		    "________________________________");
		TNF_PROBE_1(loop, "", "", tnf_string, s, text);
	}
	finish();
	ck_assert_uint_gt(ev.n, 60);
	for (i = 1; i < ev.n; i++) {
		snprintf(want, sizeof(want), "loop s=\"%d ",
		    (int)(20000 - ev.n + i));
		ck_assert_msg(strncmp(ev.v[i].text, want, strlen(want)) == 0,
		    "%s instead of %s", ev.v[i].text, want);
	}
}
END_TEST

static int said, enough;

static void *
talk(void *arg)
{
	char text[2][200];
	int n;

	memset(text, 'x', sizeof(text));
	text[0][199] = text[1][199] = '\0';
	for (n = 1; !__atomic_load_n(&enough, __ATOMIC_RELAXED); n++) {
		TNF_PROBE_3(talk, "", "", tnf_int, n, n, tnf_string, a,
		    text[0] + n % 150, tnf_string, b, text[1] + n % 70);
		__atomic_store_n(&said, n, __ATOMIC_RELAXED);
		if (n % 40 == 0)
			usleep(1000);
	}
	return NULL;
}

/* Whoever looks at a file while it is written, sees each event of a thread up
   to some moment, with all that is in it. */
START_TEST(looked_at)
{
	pthread_t thread;
	int look, n, first;
	size_t i;

	start(1024);
	ck_assert_int_eq(pthread_create(&thread, NULL, talk, NULL), 0);
	while (__atomic_load_n(&said, __ATOMIC_RELAXED) < 5000)
		usleep(10000);
	for (look = 0; look < 100; look++) {
		finish();
		ck_assert_uint_gt(ev.n, 0);
		ck_assert_int_eq(sscanf(ev.v[0].text, "talk n=%d ", &first), 1);
		for (i = 0; i < ev.n; i++) {
			ck_assert_int_eq(sscanf(ev.v[i].text, "talk n=%d ", &n), 1);
			ck_assert_int_eq(n, first + (int)i);
			ck_assert_ptr_null(strstr(ev.v[i].text, "NULL"));
		}
		events_free(&ev);
	}
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}
END_TEST

static int ran;

static void
count_runs(struct tnf_probe_setup *setup)
{
	struct tnf_probe_argument a;
	size_t len;

	ck_assert_ptr_nonnull(tnf_probe_get_attribute(setup->probe, "keys", &len));
	ck_assert_int_eq(tnf_probe_get_argument(setup, 1, &a), 0);
	ck_assert_str_eq(a.string, "text");
	ck_assert_int_eq(strncmp(a.name, "s", a.name_len), 0);
	ck_assert_int_eq(tnf_probe_get_argument(setup, 0, &a), 0);
	ck_assert_int_eq(*(const int *)a.value, 7);
	ck_assert_int_eq(tnf_probe_get_argument(setup, 2, &a), -1);
	ran++;
	/* A probe inside a connected function is lost, and counted. */
	TNF_PROBE_0(inner, "", "");
}

/* Untraced: the functions run, nothing is written. */
START_TEST(untraced)
{
	static const tnf_probe_func_t chain[] = { count_runs, NULL };
	int i;

	start(128);
	selfctl_connect("conn", chain);
	selfctl_trace("conn", 0);
	for (i = 0; i < 1000; i++) {
		if (i == 500)
			selfctl_trace("conn", 1);
		TNF_PROBE_2(conn, "k", "", tnf_int, a, 7, tnf_string, s,
		    "text");
		if (i == 501)
			selfctl_trace("conn", 0);
	}
	finish();
	ck_assert_int_eq(ran, 1000);
	ck_assert_uint_eq(ev.n, 2);
	IS(1, "conn a=7 s=\"text\"");
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NESTED], 1000);
}
END_TEST

/* Untraced events with large arguments must not eat the trace. */
START_TEST(untraced_large)
{
	char big[256];
	int i;

	memset(big, 'b', 255);
	big[255] = '\0';
	start(128);
	selfctl_trace("big", 0);
	for (i = 0; i < 10; i++)
		TNF_PROBE_1(keep, "", "", tnf_int, i, i);
	for (i = 0; i < 10000; i++)
		TNF_PROBE_3(big, "", "", tnf_string, a, big, tnf_string, b,
		    big, tnf_string, c, big);
	finish();
	ck_assert_uint_eq(ev.n, 10);
}
END_TEST

/* The blocks that such an event leaves to the thread it uses in their order, so
   that older events are overwritten before newer ones. */
START_TEST(left_over)
{
	char big[256];
	size_t i;
	int n;

	memset(big, 'b', 255);
	big[255] = '\0';
	start(128);
	selfctl_trace("big", 0);
	TNF_PROBE_4(big, "", "", tnf_string, a, big, tnf_string, b, big,
	    tnf_string, c, big, tnf_string, d, big);
	for (n = 0; n < 200; n++)
		TNF_PROBE_1(keep, "", "", tnf_int, i, n);
	finish();
	ck_assert_uint_eq(ev.n, 200);
	for (i = 1; i < ev.n; i++)
		ck_assert_uint_gt(ev.v[i].pos, ev.v[i - 1].pos);
}
END_TEST

/* One line to descriptor 2, never beyond its bounds. */
START_TEST(debug)
{
	static const tnf_probe_func_t chain[] = { tnf_probe_debug, NULL };
	char line[2048], big[300];
	int fd[2], saved;
	ssize_t n;

	memset(big, 'b', 299);
	big[299] = '\0';
	start(128);
	selfctl_connect(NULL, chain);
	ck_assert_int_eq(pipe(fd), 0);
	saved = dup(2);
	dup2(fd[1], 2);
	TNF_PROBE_2(parse_line, "", "sunw%debug 'line done'", tnf_int, lineno,
	    7, tnf_string, text, "x = 1");
	TNF_PROBE_5(kinds, "", "", tnf_char, c, 'x', tnf_short, s, -7,
	    tnf_string, nul, NULL, tnf_double, d, 1.5, tnf_uint8, u, 255);
	TNF_PROBE_5(cut, "", "", tnf_string, a, big, tnf_string, b, big,
	    tnf_string, c, big, tnf_string, d, big, tnf_string, e, big);
	dup2(saved, 2);
	n = read(fd[0], line, sizeof(line) - 1);
	ck_assert_int_gt(n, 0);
	line[n] = '\0';
	ck_assert_ptr_nonnull(strstr(line, "probe parse_line; "
	    "sunw%debug \"'line done'\"; lineno=7; text=\"x = 1\"; \n"));
	ck_assert_ptr_nonnull(strstr(line, "probe kinds; c=<unknown>; s=-7; "
	    "nul=<NULL>; d=1.500000; u=255; \n"));
	ck_assert_ptr_nonnull(strstr(line, "probe cut; a=\"bbb"));
}
END_TEST

static jmp_buf away;

static int
leave(void)
{
	longjmp(away, 1);
}

static void __attribute__((noinline))
left_hit(void)
{
	TNF_PROBE_1(left, "", "", tnf_int, i, leave());
}

static void __attribute__((noinline))
left_here(void)
{
	volatile int i;

	for (i = 0; i < 10; i++)
		if (setjmp(away) == 0)
			TNF_PROBE_1(same, "", "", tnf_int, i, leave());
}

/* longjmp out of an argument: the hit is gone, the next ones are not. */
START_TEST(longjmp_out)
{
	volatile int i;

	start(128);
	for (i = 0; i < 10; i++) {
		if (setjmp(away) == 0)
			left_hit();
		TNF_PROBE_0(after, "", "");
	}
	left_here();
	TNF_PROBE_0(end, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 11);
	IS(10, "end");
	IS(0, "after");
}
END_TEST

static void
on_usr1(int sig)
{
	TNF_PROBE_0(handler, "", "");
	if (sig == SIGUSR2)
		longjmp(away, 1);
}

static int
raise_in_argument(int sig)
{
	raise(sig);
	return 0;
}

/* A handler on the alternate stack, which may lie above: a nested hit is a
   nested hit there too, and a longjmp() out of it is noticed. */
START_TEST(alternate_stack)
{
	struct sigaction sa = { .sa_handler = on_usr1,
	    .sa_flags = SA_ONSTACK | SA_NODEFER };
	stack_t ss = { .ss_size = 1 << 16 };
	char above[1 << 16];
	int i;

	ss.ss_sp = above;	/* as near to "above" as it gets */
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	start(128);
	for (i = 0; i < 5; i++) {
		TNF_PROBE_1(outer, "", "", tnf_int, i,
		    raise_in_argument(SIGUSR1));
		raise(SIGUSR1);
	}
	for (i = 0; i < 5; i++) {
		if (setjmp(away) == 0)
			raise(SIGUSR2);
		TNF_PROBE_0(then, "", "");
	}
	finish();
	ck_assert_uint_eq(ev.n, 20);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NESTED], 5);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		off, scalars, strings, chars, strings_shared, strings_take_no_room, strings_over_blocks, records, lists, wrap,
		wrap_strings, looked_at, untraced, untraced_large, left_over,
		debug, longjmp_out, alternate_stack,
	};

	return run_tests("values", tests, sizeof(tests) / sizeof(tests[0]));
}
