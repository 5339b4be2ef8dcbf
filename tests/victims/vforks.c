/*
 * vforks.c - victim: waits in vfork() until its input ends, then prints "unharmed".
 */
#include <sys/wait.h>

#include <tnf/probe.h>

#include "victim.h"

int
main(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	int status;
	pid_t pid;

	TNF_PROBE_0(vforks, "vfork", "");
	victim_ready();
	if ((pid = vfork()) == 0) {
		poll(&p, 1, -1);
		_exit(7);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 7)
		victim_harmed("vfork");
	puts("unharmed");
	return 0;
}
