/*
 * floor.c - runs a command while programs are attached that do almost nothing:
 *
 *	kernel-floor empty|clock [-f | -t] COMMAND [ARG]...
 *
 * Both ends of a system call; -f: the three places that tell of a page fault;
 * -t (empty): the perf event of the tracepoint where a call begins.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.skel.h"

static const char *const calls[] = { "sys_enter", "sys_exit", NULL };
static const char *const faults[] = { "page_fault_user", "mm_page_alloc",
    "count_memcg_events", NULL };
static const char *const tracepoint[] = { "tracepoint", NULL };

static bool
is_wanted(const char *program, const char *what, const char *const *hooks)
{
	size_t n = strlen(what);

	if (strncmp(program, what, n) != 0 || program[n] != '_')
		return false;
	for (; *hooks != NULL; hooks++)
		if (strcmp(program + n + 1, *hooks) == 0)
			return true;
	return false;
}

static int
attach(const char *what, const char *const *hooks)
{
	struct floor_bpf *skel = floor_bpf__open();
	struct bpf_program *p;

	if (skel == NULL)
		return -1;
	bpf_object__for_each_program(p, skel->obj)
		bpf_program__set_autoload(p, is_wanted(bpf_program__name(p), what, hooks));
	if (floor_bpf__load(skel) != 0)
		return -1;
	bpf_object__for_each_program(p, skel->obj)
		if (bpf_program__autoload(p) && bpf_program__attach(p) == NULL)
			return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	bool fault = argc > 2 && strcmp(argv[2], "-f") == 0;
	bool at_event = argc > 2 && strcmp(argv[2], "-t") == 0;
	int status = 1, first = fault || at_event ? 3 : 2;
	pid_t pid;

	if (argc <= first || attach(argv[1], fault ? faults : at_event ? tracepoint : calls) != 0) {
		fprintf(stderr, "kernel-floor: cannot attach (root?)\n");
		return 1;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[first], argv + first);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
