/*
 * floor.c - runs a command while the empty programs are attached:
 * kernel-floor COMMAND [ARG]...
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.skel.h"

int
main(int argc, char **argv)
{
	struct floor_bpf *skel = floor_bpf__open_and_load();
	int status = 1;
	pid_t pid;

	if (argc < 2 || skel == NULL || floor_bpf__attach(skel) != 0) {
		fprintf(stderr, "kernel-floor: cannot attach (root?)\n");
		return 1;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	floor_bpf__destroy(skel);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
