/*
 * same-numbers.c - two processes that write one trace and are both number 1, each in a
 * pid name space of its own.  The slow one writes an event now and then, so that its
 * block ends long after the other's later ones have begun.
 */
#include <sys/wait.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tnf/probe.h>

#define ROUNDS	60
#define BUSY	12000

static void
turn(int in, int out, int i, int n)
{
	char c;

	if (read(in, &c, 1) != 1)
		_exit(1);
	while (n-- > 0)
		TNF_PROBE_2(same_numbers, "numbers", "", tnf_long, round, i, tnf_long, left, n);
	if (write(out, &c, 1) != 1)
		_exit(1);
}

/* One of the two, below a process whose children have numbers of their own. */
static pid_t
start(int in, int out, int n)
{
	pid_t pid = fork(), child;
	int i, status = 1;

	if (pid != 0)
		return pid;
	alarm(300);	/* the other may be dead */
	if (unshare(CLONE_NEWPID) != 0) {
		perror("unshare");
		_exit(77);
	}
	if ((child = fork()) == 0) {
		alarm(300);
		for (i = 0; i < ROUNDS; i++)
			turn(in, out, i, n);
		exit(0);
	}
	_exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static int
finish(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
main(void)
{
	int ping[2], pong[2], a, b;
	pid_t fast, slow;

	tnf_process_enable();	/* the linker keeps the library for it */
	/* So that the trace is there, and theirs. */
	TNF_PROBE_0(same_numbers_begin, "numbers", "");
	if (pipe(ping) != 0 || pipe(pong) != 0 || write(ping[1], "x", 1) != 1)
		return 1;
	fast = start(ping[0], pong[1], BUSY);
	slow = start(pong[0], ping[1], 1);
	if (fast < 0 || slow < 0)
		return 1;
	a = finish(fast);
	b = finish(slow);
	return a != 0 ? a : b;
}
