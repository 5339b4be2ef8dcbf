/*
 * self.c - tnfwatch tells of itself: to systemd(1) and its journal, and in a trace of its own.
 *
 * systemd is told without its library (sd_notify(3)).  The trace is a source like others, so
 * every incident has it: a mark stands there among the events of that time.
 */
#include <sys/socket.h>

#include <tnf/probe.h>

#include "tnfwatch/daemon.h"

void
notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = path != NULL ? strlen(path) : 0;
	int fd;

	if (n < 2 || n >= sizeof a.sun_path || (*path != '/' && *path != '@') ||
	    (fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
		return;
	memcpy(a.sun_path, path, n);
	if (*path == '@')
		a.sun_path[0] = '\0';
	/* We go on even if nobody listens. */
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		n = 0;
	close(fd);
}

void
notify_reloading(void)
{
	autofree char *text = tnf_xasprintf("RELOADING=1\nMONOTONIC_USEC=%lld",
	    (long long)(now_mono() / 1000));

	notify(text);
}

int64_t
notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoll(usec, NULL, 10) * 1000;
}

#define SELF_SIZE	(256u << 10)

struct source *
self_begin(const struct config *c)
{
	autofree char *path = tnf_xasprintf("%s/tnfwatch-%d.tnf", c->rings, (int)getpid());
	struct source *s = NULL;
	tnfctl_handle_t *h = NULL;
	tnfctl_errcode_t err;

	/* An earlier process with this pid may have left a file. */
	unlink(path);
	if ((err = tnfctl_internal_open(&h)) == TNFCTL_ERR_NONE &&
	    (err = tnfctl_buffer_alloc(h, path, SELF_SIZE)) == TNFCTL_ERR_NONE &&
	    (err = tnfctl_probe_apply(h, tnfctl_probe_trace, NULL)) == TNFCTL_ERR_NONE)
		err = tnfctl_probe_apply(h, tnfctl_probe_enable, NULL);
	if (err == TNFCTL_ERR_NONE) {
		s = source_process("tnfwatch", getpid(), "tnfwatch", path, true);
		self_mark("tnfwatch begins", "tnfwatch");
	} else
		say("marks are not kept: %s: %s", tnfctl_strerror(err), tnfctl_error_detail());
	if (h != NULL)
		tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	return s;
}

/* As tnfctl_mark() has it. */
void
self_mark(const char *text, const char *by)
{
	TNF_PROBE_2(mark, "watch mark", "", tnf_string, text, text, tnf_string, by, by);
}

/* The page of an incident opens at this event: 'ago' ns before it ended what fired, which had
   'lasted' ns in this thread. */
void
self_fired(const char *trigger, const struct trigger_firing *f)
{
	const struct tnf_event *ev = f->span != NULL ? f->span->start : f->event;

	TNF_PROBE_5(fired, "watch trigger", "", tnf_string, trigger, trigger,
	    tnf_string, reason, f->reason, tnf_longlong, ago, now_mono() - f->time,
	    tnf_longlong, lasted, f->span != NULL ? f->time - ev->time : 0,
	    tnf_long, thread, ev != NULL ? (long)ev->lwpid : 0);
}

/*
 * An entry of systemd's journal for each incident.
 *
 * The journal takes an entry as one datagram of lines NAME=VALUE.
 */

/* All entries about incidents have this number: "journalctl MESSAGE_ID=..." finds them. */
#define MESSAGE_ID	"c0f4d1a5d6a44c0d9f3b7a1f0b6e2a47"

/* A value has one line. */
static void
field(struct out *o, const char *name, const char *value)
{
	if (value == NULL)
		return;
	out_str(o, name);
	out_char(o, '=');
	for (; *value != '\0'; value++)
		out_char(o, *value == '\n' ? ' ' : *value);
	out_char(o, '\n');
}

static int
send_entry(const char *path, const struct out *o)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int s, e = 0;

	if (strlen(path) >= sizeof to.sun_path)
		return ENAMETOOLONG;
	strcpy(to.sun_path, path);
	if ((s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
		return errno;
	if (sendto(s, o->base, out_size(o), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to,
	    sizeof to) < 0)
		e = errno;
	close(s);
	return e;
}

void
journal_incident(const struct config *c, const struct window *w, const char *path)
{
	const struct firing *first = &w->firing[0];
	struct out o;
	int e;

	if (c->journal == NULL)
		return;
	autofree char *message = tnf_xasprintf("incident %s: %s", w->id, first->reason);
	tnf_out_memory(&o);
	field(&o, "MESSAGE", message);
	field(&o, "MESSAGE_ID", MESSAGE_ID);
	field(&o, "PRIORITY", "4");
	field(&o, "SYSLOG_IDENTIFIER", "tnfwatch");
	field(&o, "TNF_INCIDENT", path);
	field(&o, "TNF_TRIGGER", first->trigger);
	field(&o, "TNF_SOURCE", first->source);
	field(&o, "TNF_NOTE", first->note);
	field(&o, "TNF_EVENT", first->event);
	field(&o, "TRACE_ID", first->trace);
	if ((e = send_entry(c->journal, &o)) != 0)
		say("journal = %s: %s", c->journal, strerror(e));
	tnf_out_close(&o);
}
