/*
 * fleet-child.c - tnfwatch starts its own program as "tnfwatch agent".
 *
 * The library for the wire has threads, and what comes over the wire is anybody's: in a
 * process of its own neither concerns the one that holds the rings.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/fleet-child.h"
#include "tnfwatch/util.h"

#define AGAIN	(10 * SECOND)

static _Noreturn void
fleet_child_main(const struct daemon *d, pid_t parent)
{
	char *const argv[] = { (char *)(uintptr_t)"tnfwatch", (char *)(uintptr_t)"-c",
		d->config->file, (char *)(uintptr_t)"agent", NULL };
	sigset_t none;

	/* It ends with us, also if we were killed before this. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

void
fleet_child_care(struct daemon *d, int64_t now)
{
	pid_t parent = getpid();

	if (d->config->fleet.servers == NULL) {
		fleet_child_stop(d);
		return;
	}
	if (d->agent > 0 || now < d->agent_retry)
		return;
	d->agent_retry = now + AGAIN;
	if ((d->agent = fork()) == 0)
		fleet_child_main(d, parent);
	if (d->agent < 0)
		d->agent = 0;
}

void
fleet_child_ended(struct daemon *d, pid_t pid)
{
	if (d->agent != pid)
		return;
	say("fleet: the agent has ended: started again");
	d->agent = 0;
}

void
fleet_child_stop(struct daemon *d)
{
	if (d->agent <= 0)
		return;
	kill(d->agent, SIGTERM);
	while (waitpid(d->agent, NULL, 0) < 0 && errno == EINTR)
		;
	d->agent = 0;
}
