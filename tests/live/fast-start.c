/*
 * fast-start.c - a program whose constructor does something before the program itself begins.
 *
 * usage: fast-start, with BEFORE=fork, thread, spawn or exec in the environment.  It calls start_work() a hundred times.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pid_t child;

static void *
wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void __attribute__((constructor))
before(int argc, char *argv[])
{
	char name[] = "true", *const none[] = { name, NULL };
	const char *what = getenv("BEFORE");
	pthread_t thread;

	if (what == NULL)
		return;
	if (strcmp(what, "fork") == 0)
		child = fork();		/* the child goes on to main(), too */
	else if (strcmp(what, "thread") == 0)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	else if (strcmp(what, "spawn") == 0)
		posix_spawnp(&child, "true", NULL, NULL, none, environ);
	else if (strcmp(what, "exec") == 0) {
		setenv("BEFORE", "no", 1);
		execv("/proc/self/exe", argv);
	}
}

/* Long enough for a jump. */
static __attribute__((noinline)) int
start_work(int n)
{
	__asm__ volatile ("nop\n\tnop\n\tnop\n\tnop\n\tnop");
	return 2 * n + 1;
}

int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += start_work(i);
	if (child > 0)
		waitpid(child, NULL, 0);
	printf("sum %d\n", sum);
	return 0;
}
