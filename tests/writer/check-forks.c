/*
 * check-forks.c - children that record in the file of their parent, wherever it forked.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/runtime.h>

#include "tests/writer/suite.h"

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

static int linker[2], go_on[2];

static int
hold_linker(struct dl_phdr_info *info, size_t size, void *arg)
{
	char c = 0;

	ck_assert(write(linker[1], &c, 1) == 1);
	ck_assert(read(go_on[0], &c, 1) == 1);
	return 1;
}

static void *
hold(void *arg)
{
	dl_iterate_phdr(hold_linker, NULL);
	return NULL;
}

/* Another thread has the dynamic linker's lock at the fork: the child waits for it in vain. */
START_TEST(fork_with_linker)
{
	pthread_t thread;
	int status;
	pid_t child;
	char c;

	start(128);
	ck_assert(pipe(linker) == 0 && pipe(go_on) == 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, hold, NULL), 0);
	ck_assert(read(linker[0], &c, 1) == 1);
	if ((child = fork()) == 0) {
		alarm(20);
		_exit(tnf_probe_define("late", "k", NULL, 0, NULL) == NULL);
	}
	waitpid(child, &status, 0);
	ck_assert(write(go_on[1], &c, 1) == 1);
	pthread_join(thread, NULL);
	ck_assert_int_eq(status, 0);
	finish();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		fork_plain, fork_first, fork_raw, fork_disabled, fork_inside,
		fork_inside_large, fork_in_connected, fork_stays_inside, fork_early,
		vforked, fork_with_linker,
	};

	return run_tests("forks", tests, sizeof(tests) / sizeof(tests[0]));
}
