/*
 * ends.c - victim: forks, becomes another program, or ends, as it is told.
 *
 * A line of its input is a list of words: fork vfork vforkread (its child waits
 * for the next line) clone exec=FILE
 * threadexec=FILE exit=N kill=N leave (the main thread ends, another goes on)
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <tnf/probe.h>

#include "victim.h"

static void
in_child(void)
{
	TNF_PROBE_0(child, "fork", "");
	_exit(5);
}

static void
say_status(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void *
exec_in_thread(void *file)
{
	execl(file, file, (char *)NULL);
	victim_harmed("exec");
	return NULL;
}

/* Is the main thread gone?  Until the last thread ends, it is a zombie. */
static int
left_behind(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	char state = '?';

	if (f == NULL || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		victim_harmed("/proc/self/stat");
	fclose(f);
	return state == 'Z';
}

static void *
go_on(void *arg)
{
	while (!left_behind())
		usleep(1000);
	puts("alone");
	exit(4);
}

/* A child that does not say when it ends: to ptrace(2), it is like a thread. */
static _Alignas(16) char stack[65536];

static int
clone_main(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
	return 9;
}

static void
obey(char *word)
{
	char *value = strchr(word, '=');
	pthread_t t;
	int status;
	pid_t pid;

	if (value != NULL)
		*value++ = '\0';
	if (strcmp(word, "fork") == 0) {
		if ((pid = fork()) == 0)
			in_child();
		say_status(pid);
	} else if (strcmp(word, "vfork") == 0) {
		if ((pid = vfork()) == 0)
			_exit(6);
		say_status(pid);
	} else if (strcmp(word, "vforkread") == 0) {
		if ((pid = vfork()) == 0)
			_exit(read(0, word, 1) == 1 ? 7 : 0);
		say_status(pid);
	} else if (strcmp(word, "clone") == 0) {
		pid = clone(clone_main, stack + sizeof(stack), 0, NULL);
		waitpid(pid, &status, __WALL);
		printf("child %d\n", WEXITSTATUS(status));
	} else if (strcmp(word, "exec") == 0) {
		exec_in_thread(value);
	} else if (strcmp(word, "threadexec") == 0) {
		pthread_create(&t, NULL, exec_in_thread, value);
		pause();
	} else if (strcmp(word, "exit") == 0) {
		exit(atoi(value));
	} else if (strcmp(word, "kill") == 0) {
		kill(getpid(), atoi(value));
	} else if (strcmp(word, "leave") == 0) {
		pthread_create(&t, NULL, go_on, NULL);
		pthread_exit(NULL);
	}
}

int
main(void)
{
	char line[512], *rest, *word;

	victim_ready();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (rest = line; (word = strsep(&rest, " \n")) != NULL; )
			obey(word);
		puts("done");
		fflush(stdout);
	}
	TNF_PROBE_0(end, "end", "");
	return 0;
}
