/*
 * action-do.c - does what a trigger says, at the moment at which it makes an incident.
 */
#include <sys/mman.h>

#include "analysis/json.h"
#include "tnfwatch/daemon.h"

#define WEBHOOK_S	"30"	/* curl gives up then */
#define FREEZE_S	5	/* a process that cannot be frozen until then is not */

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

/* A file with what is told to others: the incident, the machine, and the firing. */
static int
firing_file(const struct daemon *d, const struct firing *f)
{
	int fd = memfd_create("firing", 0);
	char host[256] = "";
	struct out o;

	if (fd < 0 || tnf_out_init(&o, fd) != 0)
		return fd;
	gethostname(host, sizeof host - 1);
	out_lit(&o, "{\"incident\": ");
	json_name(&o, d->window.id);
	out_lit(&o, ", \"host\": ");
	json_name(&o, host);
	out_lit(&o, ", \"firing\": ");
	incident_json_firing(&o, f, d->window.mono_to_wall);
	out_lit(&o, "}\n");
	tnf_out_close(&o);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Posts it with curl(1), which knows TLS and proxies, and tells the log what goes wrong. */
static void
post_now(const struct daemon *d, const char *address)
{
	const struct firing *f = window_trigger(&d->window);

	if (f == NULL || fork() != 0)
		return;
	child_begin(getppid(), 0);
	dup2(firing_file(d, f), STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execlp("curl", "curl", "-q", "-sSfg", "-m", WEBHOOK_S, "--proto", "=http,https", "-o", "/dev/null", "-H",
	    "Content-Type: application/json", "--data-binary", "@-", "--url", address, (char *)NULL);
	say("then = webhook: curl: %s: install curl", strerror(errno));
	_exit(127);
}

/* Becomes prex, which attaches to the process.  Our own process has a trace, and a writer in it
   can have no other one. */
static _Noreturn void
freeze_main(const struct source *s, char *why)
{
	char *program = tnf_program_path("prex"), pid[16], *text, *quote;

	child_begin(getppid(), 0);
	alarm(FREEZE_S);
	while ((quote = strchr(why, '\'')) != NULL)
		*quote = '"';
	text = tnf_xasprintf("freeze '%s'", why);
	snprintf(pid, sizeof pid, "%d", (int)s->pid);
	dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
	dup2(STDIN_FILENO, STDOUT_FILENO);
	execl(program, "prex", "-p", pid, "-c", text, (char *)NULL);
	say("%s: then = freeze: %s: %s: install tnf-tools", s->id, program, strerror(errno));
	_exit(127);
}

/* Ends the recording of the source, or of the kernel if the firing came from outside, at once: the
   incident waits for it. */
static void
freeze_now(struct daemon *d, const struct source *s)
{
	const struct firing *f = window_trigger(&d->window);
	char why[TNFCTL_FREEZE_MAX + 1], wrong[256];

	if (f == NULL)
		return;
	snprintf(why, sizeof why, "%s: %s", f->trigger, f->reason);
	if (s != NULL && s->kind == SOURCE_FILE)
		say("%s: then = freeze: a file of others goes on: freeze its process", s->id);
	else if (s == NULL || s->kind == SOURCE_KERNEL) {
		if (!kernel_freeze(why, wrong, sizeof wrong))
			say("then = freeze: %s", wrong);
	} else if (s->ended == 0) {
		fflush(NULL);
		d->freezer.source = s;
		if ((d->freezer.pid = fork()) == 0)
			freeze_main(s, why);
	}
}

void
actions_child_ended(struct daemon *d, pid_t pid, int status)
{
	if (pid != d->freezer.pid || pid <= 0)
		return;
	for (struct source *s = d->sources; s != NULL; s = s->next)
		if (s == d->freezer.source && status == 0)
			s->frozen = true;
	if (WIFSIGNALED(status))
		say("then = freeze: the process could not be attached to in %d s", FREEZE_S);
	d->freezer.pid = 0;
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

/* The daemon, and the source that has fired. */
struct doing {
	struct daemon *d;
	struct source *source;
};

static void
action_do(void *arg, const struct action *a)
{
	const struct doing *doing = arg;
	struct daemon *d = doing->d;

	switch (a->kind) {
	case ACTION_ENABLE:
		enable_more(d, a);
		break;
	case ACTION_MARK:
		self_mark(a->text, "tnfwatch");
		break;
	case ACTION_RUN:
		run_now(d, a->text);
		break;
	case ACTION_WEBHOOK:
		post_now(d, a->text);
		break;
	case ACTION_FREEZE:
		freeze_now(d, doing->source);
	}
}

void
actions_do(struct daemon *d, const char *text, struct source *s)
{
	char why[256];

	if (text != NULL)
		actions_each(text, action_do, &(struct doing){ d, s }, why, sizeof why);
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
