/*
 * fast-target.c - a program without probes for fast.sh: threads that call functions and check
 * what comes back, one that checks registers, flags and the red zone, and signal handlers on stacks of their own.
 *
 * Prints "ready", and at SIGTERM "calls N wrong W code same|changed": W counts results that were
 * not what they must be, and the code is that of its functions.  At SIGUSR1 it prints the same.
 * With the argument "unread" it has a thread whose stack cannot be read, prints "unread", too, and
 * has neither children, in which vfork() waits, nor threads that come and go.
 */
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/writer/fast-site.h"

/* clang has no attribute that keeps a call as it is written but these. */
#if __has_attribute(noipa)
#define NOIPA		__attribute__((noipa))
#else
#define NOIPA		__attribute__((noinline, optnone))
#endif
#define NOIPA_USED	static NOIPA __attribute__((used))
#define THREADS		4
#define CODE		32	/* bytes of each of these functions that are compared */
#define CODES		7

static uint64_t calls, wrong;
static volatile sig_atomic_t tell;

/* A leaf with data below the stack pointer. */
static NOIPA long
exec_leaf(long a, long b)
{
	volatile long v[8];

	for (int i = 0; i < 8; i++)
		v[i] = a * i + b;
	return v[3] + v[7];
}

static NOIPA double
exec_double(double x, int n)
{
	return n == 0 ? x : x * 1.5 + n;
}

static NOIPA long
exec_text(const char *s, unsigned n)
{
	long sum = 0;

	for (unsigned i = 0; s[i] != '\0'; i++)
		sum = sum * 31 + s[i];
	return sum + n;
}

static NOIPA long
exec_deep(int n)
{
	return n == 0 ? 1 : n + exec_deep(n - 1);
}

/* The same function by another name: it has one probe. */
long exec_deep_too(int n) __attribute__((alias("exec_deep"), used));

static NOIPA void
exec_jump(jmp_buf *out, int value)
{
	longjmp(*out, value);
}

/* The linker puts it into a segment of its own. */
static NOIPA __attribute__((section("far_code"))) int
exec_eight(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

/* This is never called: a breakpoint may stay there. */
NOIPA_USED long
exec_never(long a, long b)
{
	volatile long kept = a;

	return kept * b + 12345;
}

static void
check(int is_right)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (!is_right)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void
call_all(int n)
{
	jmp_buf out;
	int value;

	check(exec_leaf(n, 7) == 10L * n + 14);
	check(exec_double(2.0, n % 3 + 1) == 2.0 * 1.5 + (n % 3 + 1));
	check(exec_text("cake", 5) == (((99L * 31 + 97) * 31) + 107) * 31 + 101 + 5);
	check(exec_deep(10) == 56);
	if ((value = setjmp(out)) == 0)
		exec_jump(&out, 3);
	check(value == 3);
	check(exec_eight(1, n, 1, 1, 1, 1, 1, 1) == 34 + 2 * n);
}

static void *
work(void *arg)
{
	for (int n = 0; ; n = (n + 1) % 1000)
		call_all(n);
	return NULL;
}

/* Threads that come and go. */
static void *
short_work(void *arg)
{
	call_all(1);
	return NULL;
}

/* Children inherit the jumps; that of vfork() even the memory. */
static void
have_children(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		wrong = 0;
		call_all(5);
		_exit(wrong == 0 ? 7 : 1);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	if ((pid = vfork()) == 0)
		_exit(exec_deep(3) == 7 ? 8 : 1);
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

static void
on_alarm(int sig)
{
	call_all(2);
}

static void
on_tell(int sig)
{
	tell = sig;
}

static void
have_stack(void)
{
	stack_t ss = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&ss, NULL);
}

/* Runs through a function and a USDT probe, with all registers, flags and the red zone known. */
static void *
keep_registers(void *arg)
{
	have_stack();
	for (unsigned n = 0; ; n++) {
		check(fast_run_keeps(fast_entry_run, false, n));
		check(fast_run_keeps(fast_inner_run, true, n));
	}
	return arg;
}

/* Waits with a stack pointer behind the end of a file, where no process has memory. */
static void *
have_no_stack(void *arg)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_create("stack", 0), 0);
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	puts("unread");
	fflush(stdout);
	__asm__ volatile("mov %0, %%rsp\n1:\tmov $34, %%eax\n\tsyscall\n\tjmp 1b" :: "r"(at + 4096) : "memory");
	return arg;
}

static void *
work_with_stack(void *arg)
{
	have_stack();
	return work(arg);
}

static void
copy_code(unsigned char *to)
{
	const void *const all[CODES] = { exec_leaf, exec_double, exec_text, exec_deep, exec_jump, exec_eight, fast_inner_run };

	for (size_t i = 0; i < CODES; i++)
		memcpy(to + i * CODE, all[i], CODE);
}

int
main(int argc, char **argv)
{
	struct sigaction alarms = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct sigaction tells = { .sa_handler = on_tell, .sa_flags = SA_RESTART };
	struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	struct timespec pause = { 0, 1000000 };
	unsigned char before[CODES * CODE], now[CODES * CODE];
	timer_t timer;
	pthread_t t;

	copy_code(before);
	have_stack();
	sigaction(SIGTERM, &tells, NULL);
	sigaction(SIGUSR1, &tells, NULL);
	sigaction(SIGALRM, &alarms, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, work_with_stack, NULL);
	if (__builtin_cpu_supports("avx"))
		pthread_create(&t, NULL, keep_registers, NULL);
	if (argc > 1)
		pthread_create(&t, NULL, have_no_stack, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &every, NULL);
	puts("ready");
	fflush(stdout);
	for (int told = 0, n = 0; told != SIGTERM; ) {
		if (argc == 1 && pthread_create(&t, NULL, short_work, NULL) == 0)
			pthread_join(t, NULL);
		nanosleep(&pause, NULL);
		if (argc == 1 && n++ % 100 == 0)
			have_children();
		if ((told = tell) == 0)
			continue;
		tell = 0;
		copy_code(now);
		printf("calls %lu wrong %lu code %s\n", (unsigned long)calls, (unsigned long)wrong,
		    memcmp(before, now, sizeof(now)) == 0 ? "same" : "changed");
		fflush(stdout);
	}
	return wrong != 0;
}
