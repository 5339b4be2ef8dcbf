/*
 * auto.c - what auto.sh runs: a program that is traced from its start.
 *
 *	auto N			hits "work" N times
 *	auto N fork		... and so does a child
 *	auto N exec PROGRAM...	a child executes it meanwhile
 *	auto N become PROGRAM... goes on as it
 *	auto N quit		as the first, but writes nothing to standard output
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/probe.h>

#ifdef KEEP_LIBRARY
/* Or else the linker leaves it out. */
extern struct tnf_process_control _tnf_process_control;
struct tnf_process_control *keep_library = &_tnf_process_control;
#endif

static void __attribute__((constructor))
early(void)
{
	TNF_PROBE_0(early, "start", "");
}

static void
work(int n)
{
	for (int i = 0; i < n; i++) {
		TNF_PROBE_1(work, "order io", "", tnf_int, i, i);
		TNF_PROBE_0(other, "other", "");
	}
}

static int
child(char **argv, int n)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (strcmp(argv[2], "exec") == 0) {
			execv(argv[3], argv + 3);
			_exit(99);
		}
		work(n);
		exit(0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, status = 0;

	work(n);
	if (argc > 3 && strcmp(argv[2], "become") == 0)
		execv(argv[3], argv + 3);
	if (argc > 2 && strcmp(argv[2], "quit") != 0)
		status = child(argv, n);
	if (argc < 3)
		puts("done");
	return status;
}
