/*
 * check-process.c - the writer in the life of a process: on and off, its descriptors and its
 * confinement, the clock.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/context.h>

#include "tests/writer/suite.h"

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

static void
run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* Each event has the CPU on which it was recorded, also in the middle of a block, and in the
   child of a fork. */
START_TEST(cpus)
{
	cpu_set_t all;
	int cpu[2], n = 0;
	pid_t child;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &all))
			cpu[n++] = i;
	if (n < 2 || __rseq_size == 0)
		return;
	start(128);
	for (int i = 0; i < 40; i++) {
		run_on(cpu[i / 4 & 1]);
		number(cpu[i / 4 & 1]);
	}
	if ((child = fork()) == 0) {
		run_on(cpu[0]);
		number(cpu[0]);
		exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	finish();
	ck_assert_uint_eq(ev.n, 41);
	for (size_t i = 0; i < ev.n; i++) {
		char want[32];

		snprintf(want, sizeof(want), "number n=%d", ev.v[i].cpu);
		IS(i, want);
	}
}
END_TEST

/* A freeze keeps the reason, beside what led there; tracing may go on after it. */
START_TEST(freeze)
{
	tnf_context_t *c;

	start(128);
	number(1);
	tnf_process_freeze("order 812: no\nflour");
	number(2);
	tnf_process_enable();
	number(3);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(1, "number n=3");
	ck_assert_int_eq(tnf_context_open(path, &c), 0);
	ck_assert_ptr_nonnull(tnf_context_fact(c, "frozen"));
	ck_assert_str_eq(strchr(tnf_context_fact(c, "frozen"), ' ') + 1, "order 812: no\nflour");
	tnf_context_close(c);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		disable, disable_inside, disable_first, close_all, seccomp,
		clock_agrees, long_gap, cpus, freeze,
	};

	return run_tests("process", tests, sizeof(tests) / sizeof(tests[0]));
}
