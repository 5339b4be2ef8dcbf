/*
 * elapsed.c - elapsed [-c | -m] CMD...: runs the command and prints how many
 * milliseconds it took, on the wall; what a shell would add is not in it.
 *
 * -c: of CPU, its own and that of all processes that it has waited for.
 * -m: KiB of memory in place of milliseconds, as much as one of them had at most.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double
cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static double
memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)u.ru_maxrss;
}

int
main(int argc, char **argv)
{
	static double (*clock_of)(void) = wall;
	double start;
	int status;
	pid_t pid;

	argv++;
	if (*argv != NULL && (strcmp(*argv, "-c") == 0 || strcmp(*argv, "-m") == 0)) {
		clock_of = (*argv)[1] == 'c' ? cpu : memory;
		argv++;
	}
	if (*argv == NULL)
		errx(2, "usage: elapsed [-c | -m] CMD...");
	start = clock_of();
	pid = vfork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "%s", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		errx(1, "%s: failed", argv[0]);
	printf("%.3f\n", clock_of() - start);
	return 0;
}
