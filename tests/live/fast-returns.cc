/*
 * fast-returns.cc - a program for fast-returns.sh: functions that return, and functions that are left in other ways.
 *
 *	fast-returns ROUNDS [jit|wait]
 *
 * A round calls functions that return, one that goes on in another by a jump, one that recurses;
 * leaves some by longjmp(), by an exception and by pthread_exit(); hits some in a signal handler on a stack of
 * its own, in a child, and beside other threads.  Prints "ready" at first, and in the end, or at SIGTERM,
 * "rounds N wrong W".  With "jit" it has memory whose code is in no file.  With "wait" it reads bytes
 * in place of rounds, and waits for each in a function.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOIPA	extern "C" __attribute__((noipa))

static volatile sig_atomic_t over;
static volatile long handled, wrong;
static jmp_buf out;
extern char **environ;

NOIPA long
work_leaf(long a)
{
	return a * 3;
}

NOIPA long
work_deep(long n)
{
	return n == 0 ? 1 : n + work_deep(n - 1);
}

NOIPA double
work_double(double x)
{
	return x * 1.5 + 1;
}

NOIPA long
work_second(long a)
{
	return a + 7;
}

/* The compiler makes a jump of the call, behind some arithmetic. */
NOIPA long
work_first(long a, long b, long c)
{
	for (long i = 0; i < b % 3; i++)
		a = a * c % 1009;
	return work_second(a);
}

NOIPA void
work_jump(int n)
{
	if (n == 0)
		longjmp(out, 1);
	work_jump(n - 1);
	__asm__ volatile("");
}

NOIPA void
work_throw(int n)
{
	if (n == 0)
		throw 42;
	work_throw(n - 1);
	__asm__ volatile("");
}

NOIPA void
work_quit(int n)
{
	if (n == 0)
		pthread_exit((void *)5);
	work_quit(n - 1);
	__asm__ volatile("");
}

NOIPA void
work_handler(int)
{
	handled = handled + (work_leaf(2) == 6 && work_deep(3) == 7);
}

/* Words of the linker from the program's start are in 'room', as in many a large array: only a walk from frame
   to frame tells that the linker has called nothing of this. */
NOIPA long
work_wait(void)
{
	char room[32768];

	__asm__ volatile("" : : "r"(room) : "memory");
	return read(0, room, 1);
}

static void
on_term(int)
{
	over = 1;
}

static void *
thread(void *arg)
{
	for (long i = 0; i < 300; i++)
		if (work_deep(20) != 211 || work_leaf(i) != 3 * i || work_double((double)i) != (double)i * 1.5 + 1)
			wrong = wrong + 1;
	work_quit(5);
	return arg;
}

static void
left(void)
{
	if (setjmp(out) == 0)
		work_jump(6);
	try {
		work_throw(6);
		wrong = wrong + 1;
	} catch (int n) {
		wrong = wrong + (n != 42);
	}
}

static void
others(void)
{
	const char *argv[] = { "true", NULL };
	pthread_t t[2];
	int status = 1;
	void *result;
	pid_t pid;

	for (pthread_t &one : t)
		pthread_create(&one, NULL, thread, NULL);
	if ((pid = fork()) == 0) {
		left();
		_exit(work_deep(10) == 56 && work_leaf(5) == 15 ? 0 : 1);
	}
	wrong = wrong + (waitpid(pid, &status, 0) != pid || status != 0);
	wrong = wrong + (posix_spawnp(&pid, "true", NULL, NULL, (char **)argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0);
	for (pthread_t one : t) {
		pthread_join(one, &result);
		wrong = wrong + (result != (void *)5);
	}
}

static void
work_round(long n)
{
	long before = handled;

	wrong = wrong + (work_leaf(n) != 3 * n) + (work_deep(10) != 56) + (work_first(4, 0, 2) != 11);
	left();
	raise(SIGUSR1);
	wrong = wrong + (handled != before + 1);
	if (n % 50 == 0)
		others();
}

int
main(int argc, char **argv)
{
	static char stack[65536];
	stack_t alternate = {};
	struct sigaction action = {};
	long n = 0;

	alternate.ss_sp = stack;
	alternate.ss_size = sizeof(stack);
	sigaltstack(&alternate, NULL);
	action.sa_handler = work_handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGTERM, on_term);
	if (argc > 2 && strcmp(argv[2], "jit") == 0)
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	puts("ready");
	fflush(stdout);
	while (argc > 2 && strcmp(argv[2], "wait") == 0 && work_wait() > 0)
		n++;
	for (long rounds = atol(argv[1]); n < rounds && !over; n++)
		work_round(n);
	printf("rounds %ld wrong %ld\n", n, (long)wrong);
	return wrong != 0;
}
