/*
 * leave-stopped.c - a program that prex started stays stopped without prex.
 *
 * When we end, its process group loses the last tie to the terminal's session,
 * and the kernel sends SIGHUP and SIGCONT to such a group if one of its
 * processes is stopped by then.  So only ptrace holds the program until then, and
 * a SIGSTOP waits for it.  The kernel lets go of the program at our very end.
 */
#include <sys/ptrace.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "prex/target.h"

/* Returns how many threads were not held before. */
static unsigned
hold_threads(pid_t pid)
{
	struct dirent *e;
	unsigned n = 0;
	char path[64];
	pid_t tid;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if ((d = opendir(path)) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		if ((tid = (pid_t)atol(e->d_name)) > 0 &&
		    ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
			n++;
	closedir(d);
	return n;
}

void
leave_stopped(pid_t pid)
{
	while (hold_threads(pid) > 0)
		;
	/* SIGCONT ends the job control stop.  SIGSTOP discards the pending SIGCONT, so
	   that no handler of the program runs, and stops the program when the kernel
	   detaches us at exit. */
	kill(pid, SIGCONT);
	kill(pid, SIGSTOP);
}
