/*
 * fleet.c - the processes of tnffleet that the daemon starts.
 */
#include "tnfwatch/daemon.h"

#define AGAIN		(10 * SECOND)	/* from one start to the next, at first ... */
#define AGAIN_MAX	(600 * SECOND)	/* ... and of one that ends again and again */
#define RAN		(60 * SECOND)	/* one that ran for so long can run */
#define PATIENCE	(1 * SECOND)	/* until one that is to end is killed */
#define PATIENCE_TICK	(10 * MS)

#define ASK_TIME	(600 * SECOND)
#define WORDS_MAX	32
#define UNASKED		127	/* the incident did not come to be */

/* Runs in the child: becomes tnffleet, as "tnfwatch agent" or "tnfwatch ask ...".  An asker
   waits until a byte comes from the pipe 'incident'; an agent has -1. */
static _Noreturn void
child_main(char **argv, int incident, pid_t daemon)
{
	char byte;

	/* Only the daemon keeps its higher priority. */
	if (!child_begin(daemon, 0))
		_exit(UNASKED);
	if (incident < 0 || read(incident, &byte, 1) == 1)
		execv("/proc/self/exe", argv);
	_exit(UNASKED);
}

static char *
constant(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void
agent_start(struct daemon *d, int64_t now)
{
	char *argv[] = { constant("tnfwatch"), constant("-c"), d->config->file, constant("agent"), NULL };
	pid_t daemon = getpid();

	d->agent.begun = now;
	if ((d->agent.pid = fork()) == 0)
		child_main(argv, -1, daemon);
	if (d->agent.pid < 0) {
		d->agent.pid = 0;
		d->agent.retry = now + AGAIN;
	}
}

/* Tells the agent to end, or kills one that was told and has not; the daemon does not wait
   here, since it has rings to read. */
static void
agent_end(struct agent *a, int64_t now)
{
	if (a->end == 0) {
		a->end = now + PATIENCE;
		kill(a->pid, SIGTERM);
	} else if (now >= a->end)
		kill(a->pid, SIGKILL);
}

static void
agent_ended(struct agent *a)
{
	int64_t now = now_mono();

	a->pid = 0;
	if (a->end != 0) {
		a->end = a->retry = a->wait = 0;
		return;
	}
	if (a->wait == 0 || now - a->begun >= RAN)
		a->wait = AGAIN;
	else if ((a->wait *= 2) > AGAIN_MAX)
		a->wait = AGAIN_MAX;
	a->retry = a->begun + a->wait;
	say("fleet: the agent has ended: it is started again, at most every %d s", (int)(a->wait / SECOND));
}

void
fleet_reload(struct daemon *d, const struct config *before)
{
	if (config_same_fleet(d->config, before))
		return;
	/* An agent that could not run may be able to run now. */
	d->agent.retry = d->agent.wait = 0;
	if (d->agent.pid > 0 && d->agent.end == 0)
		agent_end(&d->agent, now_mono());
}

void
agent_stop(struct daemon *d)
{
	const struct timespec tick = { .tv_nsec = PATIENCE_TICK };
	int64_t until = now_mono() + PATIENCE;
	pid_t pid;

	if (d->agent.pid <= 0)
		return;
	kill(d->agent.pid, SIGTERM);
	while (((pid = waitpid(d->agent.pid, NULL, WNOHANG)) == 0 || (pid < 0 && errno == EINTR)) &&
	    now_mono() < until)
		nanosleep(&tick, NULL);
	if (pid == 0) {
		kill(d->agent.pid, SIGKILL);
		child_wait(d->agent.pid);
	}
	d->agent.pid = 0;
}

/* Starts an asker with the options in 'text': "label role=db" is --label role=db. */
static void
asker_fork(struct daemon *d, struct asker *a, const char *text, const int incident[2])
{
	char *argv[6 + WORDS_MAX + 1] = { constant("tnfwatch"), constant("-c"), d->config->file,
	    constant("ask"), constant("-o"), a->to };
	char *copy = tnf_xstrdup(text), *rest = copy, *word;
	pid_t daemon = getpid();
	size_t n = 6;
	bool option = true;

	while (n < 6 + WORDS_MAX && (word = strsep(&rest, " \t")) != NULL) {
		if (*word == '\0')
			continue;
		argv[n++] = option ? tnf_xasprintf("--%s", word) : tnf_xstrdup(word);
		option = !option;
	}
	if ((a->pid = fork()) == 0) {
		close(incident[1]);
		child_main(argv, incident[0], daemon);
	}
	int e = errno;
	while (n > 6)
		free(argv[--n]);
	free(copy);
	errno = e;
}

static struct asker *
asker_free(struct daemon *d)
{
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid == 0)
			return &d->asker[i];
	return NULL;
}

static void
asker_clear(struct asker *a)
{
	free(a->text);
	free(a->to);
	*a = (struct asker){ .pid = 0 };
}

/* The text of "ask =" of the trigger that opened the window; NULL: the trigger asks no host. */
static const char *
asker_text(const struct daemon *d)
{
	const struct config_trigger *t = daemon_window_section(d);

	return t != NULL ? t->ask : NULL;
}

/* We start an asker together with the child that writes the incident.  The asker waits at a pipe
   until the incident is complete: then the incident has its directory, and the history of
   other machines is not overwritten yet. */
int
asker_start(struct daemon *d)
{
	const char *text = asker_text(d);
	struct asker *a = asker_free(d);
	int incident[2];

	if (text == NULL)
		return -1;
	if (a == NULL || pipe2(incident, O_CLOEXEC) != 0) {
		say("%s: ask = %s: not asked: %s", d->window.id, text,
		    a == NULL ? "too many questions are under way" : strerror(errno));
		return -1;
	}
	char *path = incident_path(d->config, d->window.id);
	a->to = tnf_xasprintf("%s/hosts", path);
	a->text = tnf_xstrdup(text);
	a->until = now_mono() + ASK_TIME;
	asker_fork(d, a, text, incident);
	free(path);
	close(incident[0]);
	if (a->pid > 0)
		return incident[1];
	say("%s: ask = %s: not asked: %s", d->window.id, text, strerror(errno));
	asker_clear(a);
	close(incident[1]);
	return -1;
}

void
asker_go(int incident)
{
	if (incident >= 0 && write(incident, "", 1) != 1)
		say("ask: %s", strerror(errno));
}

static void
asker_ended(struct asker *a, int status)
{
	if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == UNASKED))
		say("ask = %s: not all of it has come: tnfwatch ask -o %s", a->text, a->to);
	asker_clear(a);
}

void
asker_stop(struct daemon *d)
{
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid > 0) {
			kill(d->asker[i].pid, SIGKILL);
			asker_ended(&d->asker[i], child_wait(d->asker[i].pid));
		}
}

void
fleet_care(struct daemon *d, int64_t now)
{
	bool has_fleet = d->config->fleet.servers != NULL;

	if (d->agent.pid == 0 && has_fleet && now >= d->agent.retry)
		agent_start(d, now);
	else if (d->agent.pid > 0 && (d->agent.end != 0 || !has_fleet))
		agent_end(&d->agent, now);
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid > 0 && now >= d->asker[i].until)
			kill(d->asker[i].pid, SIGKILL);
}

void
fleet_child_ended(struct daemon *d, pid_t pid, int status)
{
	if (d->agent.pid == pid)
		agent_ended(&d->agent);
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid == pid)
			asker_ended(&d->asker[i], status);
}
