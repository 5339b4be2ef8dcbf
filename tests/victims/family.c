/*
 * family.c - victim: threads that make children at the same time.
 *
 * family THREADS [CHILDREN]: each thread makes so many, or goes on until a line
 * of input comes, by posix_spawn(), vfork() and fork() in turns, and waits for
 * each.  Prints "unharmed" if all have ended as they should.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <tnf/probe.h>

#include "victim.h"

extern char **environ;

static pthread_barrier_t start;
static atomic_bool stop;
static long children;

static pid_t
child_start(long how)
{
	char name[] = "true", *argv[] = { name, NULL };
	pid_t pid = -1;

	switch (how % 3) {
	case 0:
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv,
		    environ) != 0)
			victim_harmed("posix_spawn");
		break;
	case 1:
		if ((pid = vfork()) == 0)
			_exit(0);
		break;
	case 2:
		if ((pid = fork()) == 0) {
			TNF_PROBE_0(child, "family", "");
			_exit(0);
		}
		break;
	}
	return pid;
}

static void *
make_children(void *arg)
{
	int status;
	pid_t pid;
	long i;

	pthread_barrier_wait(&start);
	for (i = 0; children > 0 ? i < children : !stop; i++)
		if ((pid = child_start(i)) < 0 ||
		    waitpid(pid, &status, 0) != pid || status != 0)
			victim_harmed("a child");
	return NULL;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 2, i;
	pthread_t *t = calloc((size_t)n, sizeof(*t));

	children = argc > 2 ? atol(argv[2]) : 0;
	pthread_barrier_init(&start, NULL, (unsigned int)n);
	victim_ready();
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, make_children, NULL) != 0)
			victim_harmed("pthread_create");
	if (children == 0) {
		getchar();
		stop = true;
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	puts("unharmed");
	return 0;
}
