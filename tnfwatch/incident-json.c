/*
 * incident-json.c - incident.json: why an incident was kept, and what is in it.
 */
#include <sys/utsname.h>
#include <sys/wait.h>

#include <inttypes.h>

#include "analysis/json.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/history.h"
#include "tnfwatch/watch.h"

#define INDENT	"  "

/* before"name": value */
static void
put_text(struct out *o, const char *before, const char *name, const char *value)
{
	tnf_out_format(o, "%s\"%s\": ", before, name);
	json_name(o, value);
}

static void
put_member(struct out *o, const char *name, const char *value)
{
	put_text(o, ",\n" INDENT, name, value);
}

/* "name": ns of the monotonic clock, and "wall" for "time", else "name_wall": the date */
static void
put_time(struct out *o, const char *name, int64_t mono, int64_t mono_to_wall)
{
	bool time = strcmp(name, "time") == 0;

	tnf_out_format(o, "\"%s\": %" PRId64 ", \"%s%swall\": ", name, mono, time ? "" : name,
	    time ? "" : "_");
	json_wall(o, mono + mono_to_wall);
}

void
incident_json_firing(struct out *o, const struct firing *w, int64_t mono_to_wall)
{
	put_text(o, "{", "trigger", w->trigger);
	out_lit(o, ", ");
	put_time(o, "time", w->time, mono_to_wall);
	tnf_out_format(o, ", \"noticed\": %" PRId64, w->noticed);
	put_text(o, ", ", "source", w->source);
	put_text(o, ", ", "reason", w->reason);
	if (w->note != NULL)
		put_text(o, ", ", "note", w->note);
	if (w->trace != NULL)
		put_text(o, ", ", "trace", w->trace);
	out_lit(o, ", \"event\": ");
	out_str(o, w->event != NULL ? w->event : "null");
	out_char(o, '}');
}

static void
put_firings(struct out *o, const struct window *w, int64_t mono_to_wall)
{
	out_lit(o, ",\n" INDENT "\"firings\": [");
	for (size_t i = 0; i < w->n; i++) {
		out_str(o, i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT);
		incident_json_firing(o, &w->firing[i], mono_to_wall);
	}
	tnf_out_format(o, "],\n" INDENT "\"firings_more\": %" PRIu64, w->more);
}

static void
put_trigger(struct out *o, const struct config *c, const struct firing *first)
{
	const char *name = first != NULL ? first->trigger : "";
	/* A question has no section, even if a section has its name. */
	int i = first != NULL && !first->asked ? config_trigger_find(c, name) : -1;
	const struct config_trigger *t = i >= 0 ? &c->trigger[i] : NULL;

	put_text(o, ",\n" INDENT "\"trigger\": {", "name", name);
	put_text(o, ", ", "when", t != NULL ? t->when : NULL);
	tnf_out_format(o, ", \"after_ns\": %" PRId64 "}", t != NULL ? t->after : 0);
}

static void
put_ended(struct out *o, const struct source *s)
{
	if (s->ended == 0)
		return;
	out_lit(o, ", \"ended\": {");
	if (s->status < 0)
		out_lit(o, "\"how\": null");
	else if (WIFSIGNALED(s->status))
		tnf_out_format(o, "\"signal\": %d", WTERMSIG(s->status));
	else
		tnf_out_format(o, "\"exit\": %d", WEXITSTATUS(s->status));
	out_char(o, '}');
}

static void
put_frozen(struct out *o, const struct incident_facts *x, const struct source *s)
{
	char why[256];
	int64_t time;

	if (!source_frozen(s, &time, why, sizeof why))
		return;
	out_lit(o, ", \"frozen\": {");
	put_time(o, "time", time, x->mono_to_wall);
	put_text(o, ", ", "why", why);
	out_char(o, '}');
}

static void
put_channel(struct out *o, const struct incident_facts *x, const struct source *s)
{
	struct channel_status st;

	if (s->channel == NULL)
		return;
	channel_status(s->channel, &st);
	tnf_out_format(o, ", \"channel\": {\"events\": %" PRIu64 ", ", st.events);
	put_time(o, "since", st.since, x->mono_to_wall);
	out_char(o, '}');
}

static void
put_source(struct out *o, const struct incident_facts *x, const struct incident_source *is)
{
	static const char *const kinds[] = { "process", "file", "kernel" };
	const struct source *s = is->source;
	int64_t first = x->d->window.n > 0 ? x->d->window.firing[0].time : x->end;

	put_text(o, "{", "name", s->name);
	put_text(o, ", ", "kind", kinds[s->kind]);
	if (s->pid != 0) {
		tnf_out_format(o, ", \"pid\": %d", (int)s->pid);
		put_text(o, ", ", "comm", s->comm);
	}
	out_lit(o, ", \"files\": [");
	for (size_t i = 0; i < is->n_files; i++) {
		out_str(o, i > 0 ? ", " : "");
		json_name(o, is->files[i]);
	}
	tnf_out_format(o, "], \"bytes\": %" PRIu64, is->size);
	if (is->since != 0) {
		out_lit(o, ", ");
		put_time(o, "since", is->since, x->mono_to_wall);
		tnf_out_format(o, ", \"reach_ns\": %" PRId64 ", \"promise_kept\": %s",
		    first - is->since, *is->why == '\0' ? "true" : "false");
	}
	if (*is->why != '\0')
		put_text(o, ", ", "why", is->why);
	tnf_out_format(o, ", \"events_lost\": %" PRIu64 ", \"blocks_not_read\": %" PRIu64, s->lost,
	    s->missed);
	put_channel(o, x, s);
	put_ended(o, s);
	put_frozen(o, x, s);
	out_char(o, '}');
}

static void
put_machine(struct out *o)
{
	struct utsname u;

	if (uname(&u) == 0) {
		put_member(o, "host", u.nodename);
		put_member(o, "release", u.release);
		put_member(o, "machine", u.machine);
	}
	put_member(o, "boot", boot_id());
	put_member(o, "tnfwatch", TNF_VERSION);
}

void
incident_json(struct out *o, const struct incident_facts *x)
{
	const struct daemon *d = x->d;
	const struct window *w = &d->window;

	tnf_out_format(o, "{\n" INDENT "\"version\": 1,\n" INDENT "\"number\": %" PRIu64, x->number);
	put_member(o, "id", w->id);
	put_trigger(o, d->config, w->n > 0 ? &w->firing[0] : NULL);
	if (w->n > 0) {
		out_lit(o, ",\n" INDENT);
		put_time(o, "time", w->firing[0].time, x->mono_to_wall);
		put_member(o, "reason", w->firing[0].reason);
	}
	out_lit(o, ",\n" INDENT);
	put_time(o, "end", x->end, x->mono_to_wall);
	tnf_out_format(o, ",\n" INDENT "\"keep_ns\": %" PRId64, d->config->keep);
	put_firings(o, w, x->mono_to_wall);
	out_lit(o, ",\n" INDENT "\"sources\": [");
	for (size_t i = 0; i < x->n_sources; i++) {
		out_str(o, i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT);
		put_source(o, x, &x->sources[i]);
	}
	out_char(o, ']');
	put_machine(o);
	put_member(o, "configuration", d->config->text);
	out_lit(o, "\n}\n");
}
