/*
 * trigger-fire.c - tells the client that a trigger has fired, and why.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/printable.h"
#include "tnfwatch/trigger-impl.h"

#define REASON_TEXT 256

const char *
time_text(char buf[TIME_TEXT], int64_t ns)
{
	static const struct { int64_t unit; const char *name; } units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ns >= units[i].unit) {
			snprintf(buf, TIME_TEXT, ns % units[i].unit == 0 ? "%.0f %s" :
			    "%.3f %s", (double)ns / (double)units[i].unit, units[i].name);
			return buf;
		}
	snprintf(buf, TIME_TEXT, "%lld ns", (long long)ns);
	return buf;
}

const char *
who_text(char buf[WHO_TEXT], const struct watch *w, const struct tnf_event *ev)
{
	const struct trigger_source *s = w->source;
	const char *comm = s->ops.comm != NULL ? s->ops.comm(s->client, ev) : NULL;

	if (comm != NULL)
		snprintf(buf, WHO_TEXT, " in %.40s (%d/%u)", comm, (int)ev->pid, ev->lwpid);
	else
		snprintf(buf, WHO_TEXT, " in %d/%u", (int)ev->pid, ev->lwpid);
	return buf;
}

/* Names are whatever a target likes: what a terminal would act on becomes '?'. */
static void
make_printable(char *s)
{
	unsigned char *p = (unsigned char *)s;
	size_t n;

	for (; *p != '\0'; p += n)
		if ((n = tnf_printable_length(p, strlen((char *)p))) == 0) {
			*p = '?';
			n = 1;
		}
}

void
trigger_fire(struct watch *w, int64_t time, const struct tnf_event *ev, const char *fmt, ...)
{
	struct trigger_engine *e = w->source->engine;
	struct trigger_firing f = { w->trigger->number, time, w->source->client, ev, NULL };
	char reason[REASON_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	make_printable(reason);
	f.reason = reason;
	e->fired(e->arg, &f);
}
