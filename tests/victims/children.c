/*
 * children.c - victim: makes children in each way, who load a library or become another
 * program.  Loads the library itself before and after.
 *
 * Usage: victim-children LIBRARY alone|thread.  "thread": another thread sleeps meanwhile.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim.h"

extern char **environ;

static char *const true_argv[] = { (char *)(uintptr_t)"true", NULL };

static void
load_and_leave(const char *library)
{
	_exit(dlopen(library, RTLD_NOW) == NULL ? 1 : 5);
}

static void
ended_well(pid_t pid, int wanted, const char *what)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, __WALL) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != wanted)
		victim_harmed(what);
}

static void
make_children(const char *library)
{
	pid_t pid;

	if ((pid = fork()) == 0)
		load_and_leave(library);
	ended_well(pid, 5, "fork");
	if ((pid = vfork()) == 0) {
		execv("/bin/true", true_argv);
		_exit(1);
	}
	ended_well(pid, 0, "vfork");
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, true_argv, environ) != 0)
		pid = -1;
	ended_well(pid, 0, "posix_spawn");
	/* Without a signal at its end, and with a copy of the memory though the mother waits. */
	if ((pid = (pid_t)syscall(SYS_clone, CLONE_VFORK, 0, 0, 0, 0)) == 0)
		load_and_leave(library);
	ended_well(pid, 5, "clone");
}

static void
load(const char *library)
{
	void *p = dlopen(library, RTLD_NOW);

	if (p == NULL || dlclose(p) != 0)
		victim_harmed("dlopen");
}

static void *
sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	if (strcmp(argv[2], "thread") == 0)
		pthread_create(&t, NULL, sleep_on, NULL);
	load(argv[1]);
	make_children(argv[1]);
	load(argv[1]);
	make_children(argv[1]);
	return 0;
}
