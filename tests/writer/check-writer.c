/*
 * check-writer.c - the writer, seen through the reader.  Each test runs in a
 * process of its own, as the library has one trace file for its life.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "selfctl.h"

extern struct tnf_process_control _tnf_process_control;

static char path[64];
static struct events ev;

static void
start(unsigned kbytes)
{
	selfctl_file(path, kbytes);
	selfctl_enable(NULL);
}

static void
finish(void)
{
	events_read(path, &ev);
	ck_assert_uint_eq(ev.damaged, 0);
}

static void
setup(void)
{
	snprintf(path, sizeof(path), "/tmp/check-writer.%d", (int)getpid());
}

static void
teardown(void)
{
	unlink(path);
}

#define IS(i, want)	ck_assert_str_eq(ev.v[i].text, want)

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

/* Strings are cut at 255 characters, in whatever place of a block. */
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
		snprintf(want, sizeof(want), "s s=\"%.*s\"", (int)n, text);
		IS(i, want);
	}
	IS(300, "s s=NULL");
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

START_TEST(disable)
{
	start(128);
	TNF_PROBE_1(on, "", "", tnf_int, i, 1);
	tnf_thread_disable();
	tnf_thread_disable();
	TNF_PROBE_1(on, "", "", tnf_int, i, 2);
	tnf_thread_enable();
	TNF_PROBE_1(on, "", "", tnf_int, i, 3);
	tnf_process_disable();
	TNF_PROBE_1(on, "", "", tnf_int, i, 4);
	ck_assert_uint_eq(_tnf_process_control.stopped, 1);
	tnf_process_enable();
	TNF_PROBE_1(on, "", "", tnf_int, i, 5);
	finish();
	ck_assert_uint_eq(ev.n, 3);
	IS(0, "on i=1");
	IS(1, "on i=3");
	IS(2, "on i=5");
}
END_TEST

/* Disabled before there is a file: nothing is opened. */
START_TEST(disable_first)
{
	tnf_process_disable();
	start(128);
	TNF_PROBE_0(on, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_READY);
	tnf_process_enable();
	TNF_PROBE_0(on, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 1);
}
END_TEST

/* The child goes on in the same file under its own number, in blocks of its
   own; also one that did not go through fork(). */
static void
forked(bool raw, bool first, bool disabled)
{
	pid_t child, me = getpid();
	int status, i;
	size_t k, mine = 0, its = 0;

	start(256);
	if (!first)
		TNF_PROBE_1(f, "", "", tnf_int, i, 0);
	if (disabled)
		tnf_process_disable();
	child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	tnf_process_enable();
	for (i = 1; i < 500; i++)
		TNF_PROBE_1(f, "", "", tnf_int, i, i);
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	finish();
	for (k = 0; k < ev.n; k++) {
		mine += ev.v[k].pid == me;
		its += ev.v[k].pid == child;
	}
	ck_assert_uint_eq(its, 499);
	ck_assert_uint_eq(mine, first ? 499 : 500);
	ck_assert_uint_eq(ev.ext.attached, 2);
}

START_TEST(fork_plain) { forked(false, false, false); } END_TEST
START_TEST(fork_first) { forked(false, true, false); } END_TEST
START_TEST(fork_raw) { forked(true, false, false); } END_TEST
START_TEST(fork_disabled) { forked(false, false, true); } END_TEST

static int
fork_in_argument(void)
{
	pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	return (int)child;
}

/* The parent commits the hit, not the child. */
START_TEST(fork_inside)
{
	pid_t me = getpid();
	int i;

	start(256);
	TNF_PROBE_1(f, "", "", tnf_int, child, fork_in_argument());
	for (i = 0; i < 3; i++)
		TNF_PROBE_1(g, "", "", tnf_int, i, i);
	if (getpid() != me)
		_exit(0);
	finish();
	ck_assert_uint_eq(ev.n, 7);
}
END_TEST

START_TEST(vforked)
{
	int status;
	pid_t child, me = getpid();

	start(128);
	TNF_PROBE_0(before, "", "");
	child = vfork();
	if (child == 0) {
		TNF_PROBE_0(child, "", "");
		_exit(0);
	}
	waitpid(child, &status, 0);
	TNF_PROBE_0(after, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 3);
	ck_assert_int_eq(ev.v[1].pid, me);
}
END_TEST

static void *
one_hit(void *arg)
{
	TNF_PROBE_1(thread, "", "", tnf_long, i, (long)arg);
	return NULL;
}

/* Ten times as many threads as the file has blocks, one after another. */
START_TEST(thread_exit)
{
	pthread_t t;
	long i;

	start(128);
	for (i = 0; i < 640; i++) {
		ck_assert_int_eq(pthread_create(&t, NULL, one_hit, (void *)i), 0);
		pthread_join(t, NULL);
	}
	finish();
	ck_assert_uint_ge(ev.n, 63);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	IS(ev.n - 1, "thread i=639");
}
END_TEST

static pthread_barrier_t all_in, go_on;

static void *
holder(void *arg)
{
	TNF_PROBE_0(hold, "", "");
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	return NULL;
}

/* All blocks are held: events are lost and counted; when blocks come back
   tracing goes on. */
START_TEST(no_block)
{
	struct timespec ms = { 0, 2000000 };
	pthread_t t[100];
	int i;

	start(128);
	pthread_barrier_init(&all_in, NULL, 101);
	pthread_barrier_init(&go_on, NULL, 101);
	for (i = 0; i < 100; i++)
		pthread_create(&t[i], NULL, holder, NULL);
	pthread_barrier_wait(&all_in);
	TNF_PROBE_0(lost, "", "");
	pthread_barrier_wait(&go_on);
	for (i = 0; i < 100; i++)
		pthread_join(t[i], NULL);
	nanosleep(&ms, NULL);
	TNF_PROBE_0(found, "", "");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK] +
	    ev.ext.lost[TNF_LOST_BUSY], 100 - 64 + 1);
	IS(ev.n - 1, "found");
	/* It has taken the place of one that was held. */
	ck_assert_uint_eq(ev.n, 64);
}
END_TEST

/* Children that are killed leave their blocks locked; they are found. */
START_TEST(killed_owners)
{
	struct timespec ms = { 0, 2000000 };
	int i, fd[2];
	pid_t child;
	char c;

	start(128);
	TNF_PROBE_0(parent, "", "");
	for (i = 0; i < 200; i++) {
		ck_assert_int_eq(pipe(fd), 0);
		child = fork();
		if (child == 0) {
			TNF_PROBE_1(child, "", "", tnf_int, i, i);
			ck_assert_int_eq(write(fd[1], "x", 1), 1);
			pause();
		}
		ck_assert_int_eq(read(fd[0], &c, 1), 1);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(fd[0]);
		close(fd[1]);
	}
	nanosleep(&ms, NULL);
	TNF_PROBE_0(parent, "", "");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	IS(ev.n - 2, "child i=199");
}
END_TEST

/* A thread sleeps on its half-filled block while the others go round the file
   so often that no reference leads from there to a new block. */
static void *
sleeper(void *arg)
{
	char big[256];

	memset(big, 'b', 255);
	big[255] = '\0';
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 1, tnf_string, s, big);
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 2, tnf_string, s, big);
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 3, tnf_string, s, big);
	return NULL;
}

START_TEST(long_sleep)
{
	pthread_t t;
	int i;

	start(128);
	pthread_barrier_init(&all_in, NULL, 2);
	pthread_barrier_init(&go_on, NULL, 2);
	pthread_create(&t, NULL, sleeper, NULL);
	pthread_barrier_wait(&all_in);
	/* 8192 laps of 64 blocks of some 30 events. */
	for (i = 0; i < 8200 * 64 * 40; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&go_on);
	pthread_join(t, NULL);
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_TOO_LARGE], 1);
	ck_assert(strncmp(ev.v[ev.n - 1].text, "sleeper i=3 s=\"bbb", 18) == 0);
}
END_TEST

/* Probes made at run time: more than the directory and the reserve hold. */
static void
many_probes(int count, unsigned kbytes)
{
	struct tnf_probe_control *p, *all;
	static const struct tnf_tag_data *const slots[] = {
		&tnf_int_tag_data, NULL
	};
	struct tnf_probe_setup setup;
	uint32_t *e;
	char *attrs;
	int i;

	all = aligned_alloc(64, count * sizeof(*all));
	start(kbytes);
	for (i = 0; i < count; i++) {
		p = &all[i];
		memset(p, 0, sizeof(*p));
		ck_assert_int_gt(asprintf(&attrs,
		    "name p%d;slots i ;keys k;file f.c;line %d;", i, i), 0);
		p->tnf_version = TNF_PROBE_ABI;
		p->size = sizeof(*p);
		p->test = p->traced = 1;
		p->ops = _tnf_process_control.ops;
		p->event_size = 12;
		p->attrs = attrs;
		p->slots = slots;
		e = p->ops->alloc(p, &setup);
		if (e != NULL) {
			e[2] = (uint32_t)i;
			p->ops->commit(&setup);
		}
	}
}

START_TEST(directory_full)
{
	char want[32];
	int i;

	many_probes(17000, 64 * 1024);
	finish();
	ck_assert_uint_eq(ev.n, 17000);
	ck_assert_uint_eq(ev.probes, 17000);
	for (i = 0; i < 17000; i++) {
		snprintf(want, sizeof(want), "p%d i=%d", i, i);
		IS(i, want);
	}
}
END_TEST

/* Definitions do not fit a small file: what does not is counted. */
START_TEST(tag_space_full)
{
	many_probes(2000, 128);
	TNF_PROBE_0(not_defined, "", "");
	finish();
	ck_assert_uint_gt(ev.n, 10);
	ck_assert_uint_gt(ev.ext.lost[TNF_LOST_NO_TAG_SPACE], 100);
}
END_TEST

static void
broken(int error)
{
	TNF_PROBE_0(b, "", "");
	TNF_PROBE_0(b, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
	ck_assert_int_eq(_tnf_process_control.broken_errno, error);
}

START_TEST(file_gone) { start(128); unlink(path); broken(ENOENT); } END_TEST

START_TEST(file_symlink)
{
	char other[80];

	start(128);
	snprintf(other, sizeof(other), "%s.x", path);
	rename(path, other);
	ck_assert_int_eq(symlink(other, path), 0);
	broken(ELOOP);
	unlink(other);
}
END_TEST

START_TEST(file_hard_link)
{
	char other[80];

	start(128);
	snprintf(other, sizeof(other), "%s.x", path);
	ck_assert_int_eq(link(path, other), 0);
	broken(EINVAL);
	unlink(other);
}
END_TEST

START_TEST(file_short)
{
	start(256);
	ck_assert_int_eq(truncate(path, 200000), 0);
	broken(EFBIG);
}
END_TEST

START_TEST(file_fifo)
{
	start(128);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	broken(EINVAL);
}
END_TEST

START_TEST(file_foreign)
{
	start(128);
	if (getuid() != 0)
		return;
	ck_assert_int_eq(chown(path, 1, 1), 0);
	broken(EPERM);
}
END_TEST

/* The file is root's and we are nobody: in a directory of ours we make our
   own; in a sticky one we must not, and cannot. */
START_TEST(file_refused)
{
	char dir[80];
	struct stat st;

	if (getuid() != 0)
		return;
	snprintf(dir, sizeof(dir), "%s.d", path);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	strcat(strcpy(path, dir), "/t");
	start(128);
	ck_assert_int_eq(chown(dir, 65534, 65534), 0);
	ck_assert_int_eq(chmod(path, 0600), 0);
	if (fork() == 0) {
		ck_assert_int_eq(setuid(65534), 0);
		TNF_PROBE_0(own, "", "");
		_exit(_tnf_process_control.state != TNF_PROC_RUNNING);
	}
	int status;
	ck_assert_int_gt(wait(&status), 0);
	/* fork() opened the file in the parent: root's own hit is there. */
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(stat(path, &st), 0);
	unlink(path);
	rmdir(dir);
}
END_TEST

/* The file is cut off while we write: we live. */
START_TEST(truncated)
{
	int i;

	start(128);
	for (i = 0; i < 5000; i++) {
		TNF_PROBE_1(t, "", "", tnf_int, i, i);
		if (i == 1000)
			ck_assert_int_eq(truncate(path, 0), 0);
	}
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
}
END_TEST

static volatile sig_atomic_t others;

static void
on_sigbus(int sig, siginfo_t *si, void *context)
{
	others++;
	longjmp(away, 1);
}

/* A SIGBUS that is not ours goes to the program's handler. */
START_TEST(other_sigbus)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus,
	    .sa_flags = SA_SIGINFO | SA_NODEFER };
	char other[80], *m;
	int fd;

	sigaction(SIGBUS, &sa, NULL);
	start(128);
	TNF_PROBE_0(t, "", "");
	snprintf(other, sizeof(other), "%s.x", path);
	fd = open(other, O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	unlink(other);
	m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (setjmp(away) == 0)
		ck_assert_int_eq(*(volatile char *)m, 0);
	ck_assert_int_eq(others, 1);
	ck_assert_int_eq(truncate(path, 0), 0);
	TNF_PROBE_0(t, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
	ck_assert_int_eq(others, 1);
}
END_TEST

/* A program that closes all descriptors traces on, and has leaked none. */
START_TEST(close_all)
{
	int i, before = dup(2);

	close(before);
	start(128);
	TNF_PROBE_0(t, "", "");
	i = dup(2);
	ck_assert_int_eq(i, before);
	close(i);
	if (fork() == 0) {
		for (i = 0; i < 100; i++)
			close(i);
		TNF_PROBE_0(child, "", "");
		_exit(0);
	}
	ck_assert_int_gt(wait(&i), 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

/* Strict seccomp after the first hit: the thread goes on, unrecorded. */
START_TEST(seccomp)
{
	int status;

	start(128);
	TNF_PROBE_0(t, "", "");
	if (fork() == 0) {
		TNF_PROBE_0(child, "", "");
		prctl(PR_SET_SECCOMP, 1, 0, 0, 0);
		TNF_PROBE_0(child, "", "");
		syscall(SYS_exit, 0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

static int64_t
mono(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Times lie between clock_gettime() before and after; prints by how much not. */
START_TEST(clock_agrees)
{
	enum { N = 20000 };
	static int64_t before[N], after[N];
	int64_t d, early = 0, late = 0, worst = 0, gap = 0;
	int i, many = 0;

	start(4096);
	for (i = 0; i < N; i++) {
		before[i] = mono();
		TNF_PROBE_1(t, "", "", tnf_int, i, i);
		after[i] = mono();
		if (i % 10 == 0) {
			struct timespec us = { 0, 1000 * (i % 1000) };
			nanosleep(&us, NULL);
		}
	}
	finish();
	ck_assert_uint_eq(ev.n, N);
	for (i = 0; i < N; i++) {
		if (after[i] - before[i] > 2000)
			continue;	/* interrupted */
		d = before[i] - ev.v[i].time;
		early = d > early ? d : early;
		many += d > 50;
		d = ev.v[i].time - after[i];
		late = d > late ? d : late;
		worst = d > worst ? d : worst;
		gap = after[i] - before[i] > gap ? after[i] - before[i] : gap;
	}
	printf("# clock: at most %lld ns early, %lld ns late; %d of %d more "
	    "than 50 ns early\n", (long long)early, (long long)late, many, N);
	ck_assert_int_lt(many, N / 100);
	ck_assert_int_lt(early, 5000);
	ck_assert_int_lt(late, 5000);
}
END_TEST

/* A delta has 32 bits, 4.29 seconds: after a longer gap a new base. */
START_TEST(long_gap)
{
	struct timespec ts = { 4, 400000000 };

	start(128);
	TNF_PROBE_0(t, "", "");
	nanosleep(&ts, NULL);
	TNF_PROBE_0(t, "", "");
	finish();
	ck_assert_uint_eq(ev.n, 2);
	ck_assert_int_ge(ev.v[1].time - ev.v[0].time, 4400000000ll);
	ck_assert_int_lt(ev.v[1].time - ev.v[0].time, 6000000000ll);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("writer");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
#define T(name)	tcase_add_test(t, name)
	T(off); T(scalars); T(strings); T(strings_over_blocks); T(records);
	T(lists); T(wrap); T(wrap_strings); T(untraced); T(untraced_large);
	T(debug); T(longjmp_out); T(alternate_stack); T(disable);
	T(disable_first); T(fork_plain); T(fork_first); T(fork_raw);
	T(fork_disabled); T(fork_inside); T(vforked); T(thread_exit);
	T(no_block); T(killed_owners); T(long_sleep); T(directory_full);
	T(tag_space_full); T(file_gone); T(file_symlink); T(file_hard_link);
	T(file_short); T(file_fifo); T(file_foreign); T(file_refused);
	T(truncated); T(other_sigbus); T(close_all); T(seccomp);
	T(clock_agrees); T(long_gap);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	SRunner *r = srunner_create(suite());
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
