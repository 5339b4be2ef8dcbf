/*
 * journal.c - an entry of systemd's journal for each incident.
 *
 * The journal takes an entry as one datagram of lines NAME=VALUE.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "common/out.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/util.h"

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
