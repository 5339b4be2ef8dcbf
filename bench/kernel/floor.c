/*
 * floor.c - runs a command while programs are attached that do almost nothing:
 *
 *	kernel-floor empty|clock [-f | -s | -t] COMMAND [ARG]...
 *	kernel-floor one|stack [-s] COMMAND [ARG]...
 *
 * Both ends of a system call (one, stack: its beginning); -f: the three places that tell of a page fault; -s: the two
 * that tell of a switch, a thread's wake-up and its coming (one, stack: its wake-up); -t (empty): the perf event of the tracepoint where a call begins.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.skel.h"

static const char *const calls[] = { "sys_enter", "sys_exit", NULL };
static const char *const faults[] = { "page_fault_user", "mm_page_alloc",
    "count_memcg_events", NULL };
static const char *const switches[] = { "sched_switch", "sched_wakeup", NULL };
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

/* NULL: of a system call, since this is no option. */
static const char *const *
hooks_of(const char *option)
{
	return strcmp(option, "-f") == 0 ? faults : strcmp(option, "-s") == 0 ? switches :
	    strcmp(option, "-t") == 0 ? tracepoint : NULL;
}

int
main(int argc, char **argv)
{
	const char *const *hooks = hooks_of(argc > 2 ? argv[2] : "");
	int status = 1, first = hooks == NULL ? 2 : 3;
	pid_t pid;

	if (argc <= first || attach(argv[1], hooks == NULL ? calls : hooks) != 0) {
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
