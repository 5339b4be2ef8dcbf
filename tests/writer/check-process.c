/*
 * check-process.c - the writer in the life of a process: threads, forks, lack
 * of room, files that are not what they should be, the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/writer/suite.h"

static jmp_buf away;

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

static int
disable_thread(void)
{
	tnf_thread_disable();
	return 1;
}

static void
disable_connected(struct tnf_probe_setup *setup)
{
	tnf_thread_disable();
}

static void
number(int n)
{
	TNF_PROBE_1(number, "", "", tnf_int, n, n);
}

/* Disabled within a hit: that one is the last, and the block goes back. */
START_TEST(disable_inside)
{
	static const tnf_probe_func_t chain[] = { disable_connected, NULL };
	int i;

	start(1024);
	selfctl_connect("connected", chain);
	for (i = 0; i < 10000; i++)	/* until a hit takes the short way */
		number(i);
	TNF_PROBE_1(argument, "", "", tnf_int, i, disable_thread());
	for (i = 0; i < 1000; i++)
		number(-1);
	tnf_thread_enable();
	number(i);
	TNF_PROBE_0(connected, "", "");
	for (i = 0; i < 1000; i++)
		number(-1);
	tnf_thread_enable();
	number(i);
	finish();
	ck_assert_uint_eq(ev.n, 10004);
	IS(10000, "argument i=1");
	IS(10001, "number n=1000");
	IS(10002, "connected");
	IS(10003, "number n=1000");
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

struct node { struct node *next; int v; };
TNF_DECLARE_RECORD(struct node, t_node);
TNF_DEFINE_RECORD_2(struct node, t_node, t_node, next, tnf_int, v)

/* ... nor does the child give away the blocks that the hit has reached. */
START_TEST(fork_inside_large)
{
	struct node list[200];
	pid_t me = getpid();
	int i, n = 0;
	char *s;

	for (i = 0; i < 200; i++) {
		list[i].next = i < 199 ? &list[i + 1] : NULL;
		list[i].v = i;
	}
	start(128);
	TNF_PROBE_2(f, "", "", t_node, list, list, tnf_int, child,
	    fork_in_argument());
	if (getpid() != me) {
		for (i = 0; i < 10000; i++)
			TNF_PROBE_1(g, "", "", tnf_int, i, i);
		_exit(0);
	}
	finish();
	s = ev.v[0].text;
	ck_assert(strncmp(s, "f list=", 7) == 0);
	while ((s = strstr(s, "v=")) != NULL)
		s++, n++;
	ck_assert_int_eq(n, 200);
}
END_TEST

static int
child_hits(void)
{
	pid_t child = fork();

	if (child == 0) {
		TNF_PROBE_0(within, "", "");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return (int)child;
}

/* A child that never leaves the hit: what it loses is counted. */
START_TEST(fork_stays_inside)
{
	start(128);
	TNF_PROBE_1(f, "", "", tnf_int, child, child_hits());
	finish();
	ck_assert_uint_eq(ev.n, 1);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NESTED], 1);
}
END_TEST

static bool hit_early;

static void
in_child(void)
{
	if (hit_early)
		TNF_PROBE_0(early, "", "");
}

static pid_t forked_in_chain;

static void
fork_connected(struct tnf_probe_setup *setup)
{
	forked_in_chain = fork();
}

/* The child goes on from there without the hit, and can record. */
START_TEST(fork_in_connected)
{
	static const tnf_probe_func_t chain[] = { fork_connected, NULL };
	int status;

	start(128);
	selfctl_connect("forks", chain);
	TNF_PROBE_0(forks, "", "");
	if (forked_in_chain == 0) {
		TNF_PROBE_0(child, "", "");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(forked_in_chain, &status, 0), forked_in_chain);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

/* With the static library this one is first. */
static void __attribute__((constructor(101)))
before_the_library(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/* A probe that the child hits before it knows that it is one. */
START_TEST(fork_early)
{
	start(128);
	TNF_PROBE_0(parent, "", "");
	hit_early = true;
	if (fork() == 0) {
		TNF_PROBE_0(child, "", "");
		_exit(0);
	}
	ck_assert_int_gt(wait(NULL), 0);
	finish();
	ck_assert_uint_eq(ev.n, 3);
	IS(2, "child");
	ck_assert_uint_eq(ev.ext.attached, 2);
	ck_assert_uint_eq(ev.ext.data_cursor, 2);
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
			/* Not ck_assert: the two would write one file at a time. */
			if (write(fd[1], "x", 1) == 1)
				pause();
			_exit(1);
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
	for (i = 0; i < TNF_LOST_REASONS; i++)
		ck_assert_uint_eq(ev.ext.lost[i], 0);
	ck_assert(strncmp(ev.v[ev.n - 2].text, "sleeper i=2 s=\"bbb", 18) == 0);
	ck_assert(strncmp(ev.v[ev.n - 1].text, "sleeper i=3 s=\"bbb", 18) == 0);
}
END_TEST

static void *
hurried(void *arg)
{
	int i;

	for (i = 0; i < 10000; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	for (i = 0; i < 100; i++)
		TNF_PROBE_1(mark, "", "", tnf_int, i, i);
	return NULL;
}

/* A thread in a hurry has taken blocks beforehand, and pauses.  They are no
   place for its next events when the others have nearly come round. */
START_TEST(pause_in_a_hurry)
{
	const int blocks = (2048 * 1024 - 0x18000) / 512, each = 28;
	size_t n, marks = 0;
	pthread_t t;
	int i;

	start(2048);
	pthread_barrier_init(&all_in, NULL, 2);
	pthread_barrier_init(&go_on, NULL, 2);
	pthread_create(&t, NULL, hurried, NULL);
	pthread_barrier_wait(&all_in);
	for (i = 0; i < blocks * 9 / 10 * each; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&go_on);
	pthread_join(t, NULL);
	for (i = 0; i < blocks / 4 * each; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	finish();
	for (n = 0; n < ev.n; n++)
		marks += strncmp(ev.v[n].text, "mark", 4) == 0;
	/* The block that it held all the time is the oldest. */
	ck_assert_uint_ge(marks, 100 - 30);
}
END_TEST

/* Probes made at run time: more than the directory and the reserve hold. */
static void
many_probes(int count, unsigned kbytes)
{
	static struct tnf_probe_control *all;	/* probes live as long as the program */
	struct tnf_probe_control *p;
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

/*
 * Root's file, and a server that has another user's rights for a while: its
 * hits in that time are lost, even where that user may replace the file, and
 * the first one afterwards opens it.
 */
START_TEST(file_refused)
{
	char dir[80];
	struct stat st;

	if (getuid() != 0)
		return;
	snprintf(dir, sizeof(dir), "%s.d", path);
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	strcat(strcpy(path, dir), "/t");
	start(128);
	ck_assert_int_eq(seteuid(65534), 0);
	TNF_PROBE_0(refused, "", "");
	ck_assert_int_eq(seteuid(0), 0);
	while (_tnf_process_control.state == TNF_PROC_READY)
		TNF_PROBE_0(again, "", "");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, 0);
	finish();
	ck_assert_uint_eq(ev.n, 1);
	IS(0, "again");
	ck_assert_uint_ge(ev.ext.lost[TNF_LOST_BUSY], 1);
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

/* A SIGBUS by kill() does what it does without us. */
START_TEST(sent_sigbus)
{
	int status;

	signal(SIGBUS, SIG_DFL);	/* sanitizers have a handler */
	start(128);
	if (fork() == 0) {
		TNF_PROBE_0(child, "", "");
		raise(SIGBUS);
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}
END_TEST

START_TEST(ignored_sigbus)
{
	signal(SIGBUS, SIG_IGN);
	start(128);
	TNF_PROBE_0(t, "", "");
	raise(SIGBUS);
	ck_assert_int_eq(truncate(path, 0), 0);
	TNF_PROBE_0(t, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
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

/* All generations have been used: they begin again. */
START_TEST(generations)
{
	const uint32_t last = 0xfffffffe, blocks = 64, data = 0x18000;
	char want[32], *file;
	size_t i;
	int n, fd = -1;

	start(128);
	TNF_PROBE_0(first, "", "");
	tnf_thread_disable();
	fd = open(path, O_RDWR);
	file = mmap(NULL, 0x20000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(file != MAP_FAILED);
	for (i = 0; i < blocks; i++)
		((uint32_t *)(void *)(file + data + i * 512))[1] = last - 1;
	((struct tnf_ext *)(void *)(file + TNF_EXT_OFFSET))->data_cursor =
	    (uint64_t)(last - 1) * blocks;
	close(fd);
	tnf_thread_enable();
	for (n = 0; n < 100000; n++)
		TNF_PROBE_2(loop, "", "", tnf_int, i, n, tnf_string, s, "x");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	ck_assert_uint_gt(ev.n, 63 * 13);
	for (i = 0; i < ev.n; i++) {
		snprintf(want, sizeof(want), "loop i=%d s=\"x\"",
		    (int)(100000 - ev.n + i));
		IS(i, want);
	}
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

int
main(void)
{
	const TTest *const tests[] = {
		disable, disable_inside, disable_first, fork_plain, fork_first, fork_raw, fork_disabled,
		fork_inside, fork_inside_large, fork_in_connected,
		fork_stays_inside, fork_early, vforked, thread_exit,
		no_block, killed_owners, long_sleep, pause_in_a_hurry,
		directory_full, tag_space_full, file_gone, file_symlink, file_hard_link,
		file_short, file_fifo, file_foreign, file_refused, truncated,
		other_sigbus, sent_sigbus, ignored_sigbus, close_all, seccomp,
		generations, clock_agrees, long_gap,
	};

	return run_tests("process", tests, sizeof(tests) / sizeof(tests[0]));
}
