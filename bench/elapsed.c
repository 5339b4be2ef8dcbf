/*
 * elapsed.c - elapsed CMD...: runs the command and prints how many milliseconds
 * it took, on the wall; what a shell would add is not in it.
 */
#include <err.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int
main(int argc, char **argv)
{
	double start;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: elapsed CMD...");
	start = now();
	pid = vfork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "%s", argv[1]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		errx(1, "%s: failed", argv[1]);
	printf("%.3f\n", now() - start);
	return 0;
}
