/*
 * fast-born.c - a program for fast-life.sh that has many functions, and at SIGUSR1 a child, which calls one of them all
 * the time and ends with its mother.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ONE(n)	static __attribute__((noinline, used)) long born_##n(long a) { return a * 3 + 1##n; }
#define TEN(n)	ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define MANY(n)	TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)

MANY(0) MANY(1) MANY(2) MANY(3) MANY(4) MANY(5) MANY(6) MANY(7) MANY(8) MANY(9)
MANY(10) MANY(11) MANY(12) MANY(13) MANY(14) MANY(15) MANY(16) MANY(17) MANY(18) MANY(19)

static void
on_signal(int sig)
{
	volatile long wrong = 0;

	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (wrong == 0) {
		wrong = born_1000(wrong + 1) - 11003;
		usleep(1000);
	}
	_exit(1);
}

int
main(void)
{
	signal(SIGUSR1, on_signal);
	puts("ready");
	fflush(stdout);
	for (;;)
		usleep(1000);
}
