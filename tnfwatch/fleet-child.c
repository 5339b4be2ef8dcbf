/*
 * fleet-child.c - tnfwatch starts its own program as "tnfwatch agent".
 *
 * The library for the wire has threads, and what comes over the wire is anybody's: in a
 * process of its own neither concerns the one that holds the rings.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/fleet-child.h"
#include "tnfwatch/util.h"

#define AGAIN		(10 * SECOND)	/* from one start to the next, at first ... */
#define AGAIN_MAX	(600 * SECOND)	/* ... and of one that ends again and again */
#define RAN		(60 * SECOND)	/* one that ran for so long can run */
#define PATIENCE	(1 * SECOND)	/* until one that is to end is killed */
#define PATIENCE_TICK	(10 * MS)

static _Noreturn void
fleet_child_main(const struct daemon *d, pid_t parent)
{
	char *const argv[] = { (char *)(uintptr_t)"tnfwatch", (char *)(uintptr_t)"-c",
		d->config->file, (char *)(uintptr_t)"agent", NULL };
	sigset_t none;

	/* It ends with us, also if we were killed before this. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	/* Only who reads the rings goes before others. */
	setpriority(PRIO_PROCESS, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

#ifdef HAVE_FLEET
static bool
fleet_child_can(struct daemon *d)
{
	return d->config->fleet.servers != NULL;
}
#else
static bool
fleet_child_can(struct daemon *d)
{
	if (d->config->fleet.servers != NULL && !d->agent_told)
		say("[fleet]: built without libnats: no other machine is answered");
	d->agent_told = true;
	return false;
}
#endif

/* One that was told to end is not waited for here: rings are to be read. */
static void
fleet_child_end(struct daemon *d, int64_t now)
{
	if (d->agent_end == 0) {
		d->agent_end = now + PATIENCE;
		kill(d->agent, SIGTERM);
	} else if (now >= d->agent_end)
		kill(d->agent, SIGKILL);
}

void
fleet_child_care(struct daemon *d, int64_t now)
{
	pid_t parent = getpid();

	if (d->agent > 0) {
		if (d->agent_end != 0 || d->config->fleet.servers == NULL)
			fleet_child_end(d, now);
		return;
	}
	if (now < d->agent_retry || !fleet_child_can(d))
		return;
	d->agent_begun = now;
	if ((d->agent = fork()) == 0)
		fleet_child_main(d, parent);
	if (d->agent < 0) {
		d->agent = 0;
		d->agent_retry = now + AGAIN;
	}
}

void
fleet_child_ended(struct daemon *d, pid_t pid)
{
	int64_t now = now_mono();

	if (d->agent != pid)
		return;
	d->agent = 0;
	/* It was told to, or reads another configuration. */
	if (d->agent_end != 0) {
		d->agent_end = d->agent_retry = d->agent_wait = 0;
		return;
	}
	if (d->agent_wait == 0 || now - d->agent_begun >= RAN)
		d->agent_wait = AGAIN;
	else if ((d->agent_wait *= 2) > AGAIN_MAX)
		d->agent_wait = AGAIN_MAX;
	d->agent_retry = d->agent_begun + d->agent_wait;
	say("fleet: the agent has ended: it is started again, at most every %d s",
	    (int)(d->agent_wait / SECOND));
}

static bool
is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

void
fleet_child_reload(struct daemon *d, const struct config_fleet *before)
{
	const struct config_fleet *f = &d->config->fleet;

	if (is_same(f->servers, before->servers) && is_same(f->name, before->name) &&
	    is_same(f->labels, before->labels) && is_same(f->prefix, before->prefix) &&
	    is_same(f->credentials, before->credentials) && is_same(f->ca, before->ca) &&
	    is_same(f->cert, before->cert) && is_same(f->key, before->key) &&
	    is_same(f->recorded, before->recorded) && f->rate == before->rate &&
	    f->limit_n == before->limit_n && f->limit_ns == before->limit_ns)
		return;
	/* One that could not run may be able to now. */
	d->agent_retry = d->agent_wait = 0;
	if (d->agent > 0 && d->agent_end == 0)
		fleet_child_end(d, now_mono());
}

void
fleet_child_stop(struct daemon *d)
{
	const struct timespec tick = { .tv_nsec = PATIENCE_TICK };
	int64_t until = now_mono() + PATIENCE;
	pid_t pid;

	if (d->agent <= 0)
		return;
	kill(d->agent, SIGTERM);
	while (((pid = waitpid(d->agent, NULL, WNOHANG)) == 0 || (pid < 0 && errno == EINTR)) &&
	    now_mono() < until)
		nanosleep(&tick, NULL);
	if (pid == 0) {
		kill(d->agent, SIGKILL);
		while (waitpid(d->agent, NULL, 0) < 0 && errno == EINTR)
			;
	}
	d->agent = 0;
}
