/*
 * like.c - writes the files that the original writer wrote (like.sh compares).
 *
 *	writer-like scalars|records|fork|threads FILE
 */
#include <err.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/writer/selfctl.h"

static char alphabet[296];

static void
scalars(void)
{
	int n;

#line 11 "scalars.c"
	TNF_PROBE_0(start, "test start", "sunw%debug start of main");
	TNF_PROBE_5(signed_small, "test scalars", "sunw%debug small signed ints;mykey value with spaces", tnf_char, c1, 'A', tnf_int8, i8, -128, tnf_int16, i16, -32768, tnf_int32, i32, -2147483647 - 1, tnf_int64, i64, -9223372036854775807l - 1);
#line 15 "scalars.c"
	TNF_PROBE_4(unsigned_all, "test scalars", "", tnf_uint8, u8, 255, tnf_uint16, u16, 65535, tnf_uint32, u32, 4294967295u, tnf_uint64, u64, ~0ul);
#line 18 "scalars.c"
	TNF_PROBE_2(floats32, "test floats", "", tnf_float32, f32, 3.14159265f, tnf_float, ff, -1e20f);
	TNF_PROBE_2(floats64, "test floats", "", tnf_float64, f64, 2.718281828, tnf_double, dd, -1e-300);
	TNF_PROBE_5(portable1, "test portable", "", tnf_uchar, uc, 200, tnf_short, sh, -2, tnf_ushort, us, 65534, tnf_int, in, -3, tnf_uint, ui, 4000000000u);
#line 22 "scalars.c"
	TNF_PROBE_4(portable2, "test portable", "", tnf_long, l, -4, tnf_ulong, ul, 5, tnf_longlong, ll, -6, tnf_ulonglong, ull, 7);
#line 24 "scalars.c"
	TNF_PROBE_3(opaque_size, "test portable", "", tnf_opaque, o, (void *)0xdeadbeef, tnf_size, sz, 12345, tnf_opaque, nullp, NULL);
#line 26 "scalars.c"
	TNF_PROBE_1(str1, "test strings", "", tnf_string, s, "hello, world");
	TNF_PROBE_1(str_null, "test strings", "", tnf_string, s, NULL);
	TNF_PROBE_1(str_empty, "test strings", "", tnf_string, s, "");
	TNF_PROBE_1(str_long, "test strings", "", tnf_string, s, alphabet);
	for (n = 1; n <= 11; n++)
		TNF_PROBE_2(str_len, "test strings", "", tnf_int, len, n, tnf_string, s, alphabet + 295 - n);
	TNF_PROBE_1(str_esc, "test strings", "", tnf_string, s, "tab\there \"quoted\" back\\slash nl\n\xc3\xa9");
	TNF_PROBE_2(str_two, "test strings", "", tnf_string, s1, "first", tnf_string, s2, "second");
	TNF_PROBE_5(str_five, "test strings", "", tnf_string, a, "1", tnf_string, b, "22", tnf_string, c, "333", tnf_string, d, "4444", tnf_string, e, "55555");
#line 37 "scalars.c"
	TNF_PROBE_3(align1, "test align", "", tnf_int, a, 1, tnf_int64, b, 2, tnf_int, c, 3);
	TNF_PROBE_5(align2, "test align", "", tnf_char, a, 'x', tnf_short, b, 2, tnf_char, c, 'y', tnf_int64, d, 4, tnf_char, e, 'z');
	TNF_PROBE_3(align3, "test align", "", tnf_char, a, 'x', tnf_double, b, 2.5, tnf_string, c, "s");
	TNF_PROBE_1(align4, "test align", "", tnf_uint8, a, 9);
	TNF_PROBE_1(nodetail, "test", "", tnf_long, a, 9);
	TNF_PROBE_0(nokeys, "", "");
	TNF_PROBE_1(a_very_long_probe_name_that_is_longer_than_the_twenty_five_columns, "test long", "", tnf_long, a_very_long_slot_name_too, 1);
	TNF_PROBE_1(name_arg, "test name", "", tnf_name, nm, "a name");
	TNF_PROBE_0(end, "test end", "sunw%debug end of main");
}

struct point { int x, y; };
struct one { long long big; };
struct line { const char *name; struct point *a, *b; double w; };
struct five { char c; short s; int i; long l; const char *str; };
struct node { struct node *next; int v; unsigned u; };
TNF_DECLARE_RECORD(struct point, tnf_point);
TNF_DEFINE_RECORD_2(struct point, tnf_point, tnf_int, x, tnf_int, y)
TNF_DECLARE_RECORD(struct one, tnf_one);
TNF_DEFINE_RECORD_1(struct one, tnf_one, tnf_longlong, big)
TNF_DECLARE_RECORD(struct line, tnf_line);
TNF_DEFINE_RECORD_4(struct line, tnf_line, tnf_string, name, tnf_point, a, tnf_point, b, tnf_double, w)
TNF_DECLARE_RECORD(struct five, tnf_five);
TNF_DEFINE_RECORD_5(struct five, tnf_five, tnf_char, c, tnf_short, s, tnf_int, i, tnf_long, l, tnf_string, str)
TNF_DECLARE_RECORD(struct node, tnf_node);
TNF_DEFINE_RECORD_3(struct node, tnf_node, tnf_node, next, tnf_int, v, tnf_uint, u)

static void
records(void)
{
	struct point p = { 3, -4 }, q = { 100, 200 }, *none = NULL;
	struct one o = { 1234567890123ll };
	struct line l = { "diagonal", &p, &q, .5 }, m = { NULL, &p, NULL, -1 };
	struct five f = { 'c', -7, 42, -1, "five" };
	struct node n3 = { NULL, 3, 3 }, n2 = { &n3, 2, 2 }, n1 = { &n2, 1, 1 };
	int i;

#line 27 "records.c"
	TNF_PROBE_1(point, "rec", "", tnf_point, pt, &p);
	TNF_PROBE_1(nullpoint, "rec", "", tnf_point, pt, none);
	TNF_PROBE_1(one, "rec", "", tnf_one, o, &o);
	TNF_PROBE_2(line, "rec", "sunw%debug nested", tnf_line, ln, &l, tnf_long, k, 1);
	TNF_PROBE_1(line_nulls, "rec", "", tnf_line, ln, &m);
	TNF_PROBE_1(five, "rec", "", tnf_five, f, &f);
	TNF_PROBE_1(list, "rec", "", tnf_node, head, &n1);
	TNF_PROBE_5(pts, "rec", "", tnf_point, a, &p, tnf_string, s, "mid", tnf_point, b, &q, tnf_int, i, 5, tnf_point, c, &p);
	for (i = 0; i < 30; i++) { struct point r = { i, -4 };
#line 35 "records.c"
		TNF_PROBE_2(manyp, "rec", "", tnf_int, i, i, tnf_point, pt, &r); }
}

static void
forks(void)
{
	int i;

	for (i = 0; i < 5; i++)
#line 12 "forkt.c"
		TNF_PROBE_1(before, "fork", "", tnf_int, i, i);
	if (fork() == 0) {
		for (i = 0; i < 20; i++)
#line 17 "forkt.c"
			TNF_PROBE_2(child, "fork", "", tnf_int, i, i, tnf_string, who, "child");
		_exit(0);
	}
	wait(NULL);
	for (i = 0; i < 5; i++)
#line 23 "forkt.c"
		TNF_PROBE_2(parent, "fork", "", tnf_int, i, i, tnf_string, who, "parent");
}

static void *
worker(void *arg)
{
	int w = (int)(intptr_t)arg, i;

#line 14 "threads.c"
	TNF_PROBE_1(worker_start, "thread", "sunw%debug worker starts", tnf_long, worker, w);
	for (i = 0; i < 40; i++) {
#line 15 "threads.c"
		TNF_PROBE_2(work, "thread work", "", tnf_long, worker, w, tnf_long, iter, i);
		if (i % 10 == w % 10)
#line 16 "threads.c"
			TNF_PROBE_1(say, "thread work", "", tnf_string, msg, "hello from worker");
	}
#line 17 "threads.c"
	TNF_PROBE_1(worker_end, "thread", "", tnf_long, worker, w);
	return NULL;
}

static void
threads(void)
{
	pthread_t id[4];
	int i;

#line 26 "threads.c"
	TNF_PROBE_0(main_start, "main", "");
	for (i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, worker, (void *)(intptr_t)(i + 1));
	for (i = 0; i < 40; i++)
#line 28 "threads.c"
		TNF_PROBE_1(main_tick, "main", "", tnf_long, i, i);
	for (i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
#line 30 "threads.c"
	TNF_PROBE_0(main_end, "main", "");
}

int
main(int argc, char **argv)
{
	int i;

	if (argc != 3)
		errx(2, "usage: writer-like what file");
	for (i = 0; i < 295; i++)
		alphabet[i] = 'a' + i % 26;
	selfctl_file(argv[2], strcmp(argv[1], "fork") == 0 ? 128 : 256);
	selfctl_enable(NULL);
	if (strcmp(argv[1], "scalars") == 0)
		scalars();
	else if (strcmp(argv[1], "records") == 0)
		records();
	else if (strcmp(argv[1], "fork") == 0)
		forks();
	else if (strcmp(argv[1], "threads") == 0)
		threads();
	else
		errx(2, "%s: not known", argv[1]);
	return 0;
}
