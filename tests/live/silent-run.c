/*
 * silent-run.c - runs a command that sees one file through a server that can fall silent.
 *
 * silent-run FILE COMMAND ...: from a line "open" or "read" of its input on the server says
 * nothing to such a request, nor to any after it; from any other line on it answers.  At the end
 * of the input the command is killed.  Exit status 77: such a server cannot be had here.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/silent.h"

int
main(int argc, char **argv)
{
	char line[32];
	struct silent f;
	pid_t pid;

	if (argc < 3)
		return 2;
	if (!silent_begin(&f, argv[1]))
		return 77;
	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "r", stdin) != NULL)
			execv(argv[2], argv + 2);
		perror(argv[2]);
		_exit(126);
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
		*f.silence = strcmp(line, "open\n") == 0 ? SILENT_OPEN :
		    strcmp(line, "read\n") == 0 ? SILENT_READ : SILENT_NEVER;
	kill(pid, SIGKILL);
	silent_end(&f);
	waitpid(pid, NULL, 0);
	return 0;
}
