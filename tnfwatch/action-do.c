/*
 * action-do.c - does what a trigger says, at the moment at which it makes an incident.
 */
#include <stdio.h>
#include <unistd.h>

#include "tnfwatch/action.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/util.h"

static void
run_now(const struct daemon *d, const char *command)
{
	const struct firing *f = window_trigger(&d->window);

	if (f == NULL || fork() != 0)
		return;
	child_begin(getppid(), 0);
	setenv("TNF_INCIDENT", d->window.id, 1);
	setenv("TNF_TRIGGER", f->trigger, 1);
	setenv("TNF_REASON", f->reason, 1);
	setenv("TNF_EVENT", f->event != NULL ? f->event : "", 1);
	execl("/bin/sh", "sh", "-c", command, "tnfwatch", (char *)NULL);
	_exit(127);
}

/* Switches on what is off; while more probes are on, the later of the two ends counts. */
static void
enable_more(struct daemon *d, const struct action *a)
{
	int64_t until = now_mono() + a->time;
	char why[256];

	if (!kernel_more(a->enable, &d->more.probes, why, sizeof why))
		say("then = enable %s: %s", enable_text(a->enable), why);
	if (d->more.probes.n > 0 && until > d->more.until)
		d->more.until = until;
}

static void
action_do(void *arg, const struct action *a)
{
	struct daemon *d = arg;

	if (a->kind == ACTION_ENABLE)
		enable_more(d, a);
	else if (a->kind == ACTION_MARK)
		self_mark(a->text, "tnfwatch");
	else
		run_now(d, a->text);
}

void
actions_do(struct daemon *d, const char *text)
{
	char why[256];

	if (text != NULL)
		actions_each(text, action_do, d, why, sizeof why);
}

void
actions_care(struct daemon *d, int64_t now)
{
	char why[256];

	if (d->more.probes.n == 0 || now < d->more.until)
		return;
	if (!kernel_less(&d->more.probes, why, sizeof why)) {
		/* Another program controls the kernel now. */
		d->more.until = now_mono() + SECOND;
		return;
	}
	d->more.probes = (struct enabled){ .n = 0 };
	d->more.until = 0;
}
