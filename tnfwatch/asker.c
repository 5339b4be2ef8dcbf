/*
 * asker.c - children that ask other machines for an incident's sake: "ask =".
 *
 * One is started together with the child that writes the incident, and waits at a pipe
 * until the incident is complete, so that it has a directory and is not late: what others
 * have of that time is overwritten soon.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/asker.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/util.h"

#define ASK_TIME	(600 * SECOND)
#define WORDS_MAX	32
#define UNASKED		127	/* the incident did not come to be */

/* "label role=db" as options of tnfwatch ask; the caller frees all but the first five. */
static char **
asker_arguments(const struct daemon *d, const char *text, char *to)
{
	char **argv = tnf_xcalloc(6 + WORDS_MAX + 1, sizeof *argv);
	char *copy = tnf_xstrdup(text), *rest = copy, *word;
	size_t n = 0;
	bool option = true;

	argv[n++] = (char *)(uintptr_t)"tnfwatch";
	argv[n++] = (char *)(uintptr_t)"-c";
	argv[n++] = d->config->file;
	argv[n++] = (char *)(uintptr_t)"ask";
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = to;
	while (n < 6 + WORDS_MAX && (word = strsep(&rest, " \t")) != NULL) {
		if (*word == '\0')
			continue;
		argv[n++] = option ? tnf_xasprintf("--%s", word) : tnf_xstrdup(word);
		option = !option;
	}
	free(copy);
	return argv;
}

static _Noreturn void
asker_main(char **argv, int incident, pid_t daemon)
{
	sigset_t none;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != daemon)
		_exit(UNASKED);
	setpriority(PRIO_PROCESS, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(incident, &byte, 1) != 1)
		_exit(UNASKED);
	execv("/proc/self/exe", argv);
	_exit(UNASKED);
}

static void
asker_fork(struct asker *a, char **argv, const int incident[2])
{
	pid_t daemon = getpid();

	if ((a->pid = fork()) != 0)
		return;
	close(incident[1]);
	asker_main(argv, incident[0], daemon);
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

/* The text of "ask =" of what opened the window; NULL: nobody is asked. */
static const char *
asker_text(const struct daemon *d)
{
	const struct firing *f = window_trigger(&d->window);
	int i = f != NULL ? config_trigger_find(d->config, f->trigger) : -1;

	return i >= 0 ? d->config->trigger[i].ask : NULL;
}

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
	char **argv = asker_arguments(d, text, a->to);
	asker_fork(a, argv, incident);
	for (size_t i = 6; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
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

void
asker_care(struct daemon *d, int64_t now)
{
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid > 0 && now >= d->asker[i].until)
			kill(d->asker[i].pid, SIGKILL);
}

void
asker_ended(struct daemon *d, pid_t pid, int status)
{
	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid == pid) {
			if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == UNASKED))
				say("ask = %s: not all of them answered: tnfwatch ask -o %s",
				    d->asker[i].text, d->asker[i].to);
			asker_clear(&d->asker[i]);
		}
}

void
asker_stop(struct daemon *d)
{
	int status;

	for (size_t i = 0; i < ASKERS_MAX; i++)
		if (d->asker[i].pid > 0) {
			kill(d->asker[i].pid, SIGKILL);
			while (waitpid(d->asker[i].pid, &status, 0) < 0 && errno == EINTR)
				;
			asker_ended(d, d->asker[i].pid, status);
		}
}
