/*
 * incident-json.c - incident.json: why an incident was kept, and what is in it.
 */
#include <sys/utsname.h>

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "tnfwatch/channel.h"
#include "tnfwatch/incident-json.h"
#include "tnfwatch/json.h"
#include "tnfwatch/util.h"

#define INDENT	"  "

static void
put_text(FILE *f, const char *before, const char *name, const char *value)
{
	fprintf(f, "%s\"%s\": ", before, name);
	json_string(f, value);
}

static void
put_member(FILE *f, const char *name, const char *value)
{
	put_text(f, ",\n" INDENT, name, value);
}

static void
put_time(FILE *f, const char *name, int64_t mono, int64_t mono_to_wall)
{
	fprintf(f, "\"%s_ns\": %" PRId64 ", \"%s\": ", name, mono, name);
	json_wall(f, mono + mono_to_wall);
}

static void
put_firing(FILE *f, const struct firing *w, int64_t mono_to_wall)
{
	put_text(f, "{", "trigger", w->trigger);
	fputs(", ", f);
	put_time(f, "time", w->time, mono_to_wall);
	put_text(f, ", ", "source", w->source);
	put_text(f, ", ", "reason", w->reason);
	if (w->note != NULL)
		put_text(f, ", ", "note", w->note);
	fprintf(f, ", \"event\": %s}", w->event != NULL ? w->event : "null");
}

static void
put_firings(FILE *f, const struct window *w, int64_t mono_to_wall)
{
	fputs(",\n" INDENT "\"firings\": [", f);
	for (size_t i = 0; i < w->n; i++) {
		fputs(i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT, f);
		put_firing(f, &w->firing[i], mono_to_wall);
	}
	fprintf(f, "],\n" INDENT "\"firings_more\": %" PRIu64, w->more);
}

static void
put_trigger(FILE *f, const struct config *c, const struct firing *first)
{
	const char *name = first != NULL ? first->trigger : "";
	/* A question has no section, also if one has its name. */
	int i = first != NULL && !first->asked ? config_trigger_find(c, name) : -1;
	const struct config_trigger *t = i >= 0 ? &c->trigger[i] : NULL;

	fputs(",\n" INDENT "\"trigger\": {\"name\": ", f);
	json_string(f, name);
	put_text(f, ", ", "when", t != NULL ? t->when : NULL);
	fprintf(f, ", \"after_s\": %.3f}", t != NULL ? (double)t->after / 1e9 : 0.0);
}

static void
put_ended(FILE *f, const struct source *s)
{
	if (s->ended == 0)
		return;
	fputs(", \"ended\": {", f);
	if (s->status < 0)
		fputs("\"how\": null", f);
	else if (WIFSIGNALED(s->status))
		fprintf(f, "\"signal\": %d", WTERMSIG(s->status));
	else
		fprintf(f, "\"exit\": %d", WEXITSTATUS(s->status));
	putc('}', f);
}

static void
put_channel(FILE *f, const struct incident_facts *x, const struct source *s)
{
	struct channel_status st;

	if (s->channel == NULL)
		return;
	channel_status(s->channel, &st);
	fprintf(f, ", \"channel\": {\"events\": %" PRIu64 ", ", st.events);
	put_time(f, "since", st.since, x->mono_to_wall);
	putc('}', f);
}

static void
put_source(FILE *f, const struct incident_facts *x, const struct incident_source *is)
{
	static const char *const kinds[] = { "process", "file", "kernel" };
	const struct source *s = is->source;
	int64_t first = x->d->window.n > 0 ? x->d->window.firing[0].time : x->end;
	double reach = is->since != 0 ? (double)(first - is->since) / 1e9 : 0;

	put_text(f, "{", "name", s->name);
	fprintf(f, ", \"kind\": \"%s\"", kinds[s->kind]);
	if (s->pid != 0) {
		fprintf(f, ", \"pid\": %d, \"comm\": ", (int)s->pid);
		json_string(f, s->comm);
	}
	fputs(", \"files\": [", f);
	for (size_t i = 0; i < is->n_files; i++) {
		fputs(i > 0 ? ", " : "", f);
		json_string(f, is->files[i]);
	}
	fprintf(f, "], \"bytes\": %" PRIu64, is->size);
	if (is->since != 0) {
		fputs(", ", f);
		put_time(f, "since", is->since, x->mono_to_wall);
		fprintf(f, ", \"reach_s\": %.3f, \"promise_kept\": %s", reach,
		    *is->why == '\0' ? "true" : "false");
	}
	if (*is->why != '\0')
		put_text(f, ", ", "why", is->why);
	fprintf(f, ", \"events_lost\": %" PRIu64 ", \"blocks_not_read\": %" PRIu64, s->lost,
	    s->missed);
	put_channel(f, x, s);
	put_ended(f, s);
	putc('}', f);
}

static void
put_machine(FILE *f, const struct incident_facts *x)
{
	struct utsname u;

	if (uname(&u) == 0) {
		put_member(f, "host", u.nodename);
		put_member(f, "release", u.release);
		put_member(f, "machine", u.machine);
	}
	put_member(f, "boot", x->crash != NULL ? x->crash : boot_id());
	put_member(f, "tnfwatch", TNF_VERSION);
}

void
incident_json(FILE *f, const struct incident_facts *x)
{
	const struct daemon *d = x->d;
	const struct window *w = &d->window;

	fprintf(f, "{\n" INDENT "\"version\": 1,\n" INDENT "\"number\": %" PRIu64, x->number);
	put_member(f, "id", w->id);
	put_trigger(f, d->config, w->n > 0 ? &w->firing[0] : NULL);
	if (w->n > 0) {
		fputs(",\n" INDENT, f);
		put_time(f, "time", w->firing[0].time, x->mono_to_wall);
		put_member(f, "reason", w->firing[0].reason);
	}
	fputs(",\n" INDENT, f);
	put_time(f, "end", x->end, x->mono_to_wall);
	fprintf(f, ",\n" INDENT "\"keep_s\": %.3f", (double)d->config->keep / 1e9);
	put_firings(f, w, x->mono_to_wall);
	fputs(",\n" INDENT "\"sources\": [", f);
	for (size_t i = 0; i < x->n_sources; i++) {
		fputs(i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT, f);
		put_source(f, x, &x->sources[i]);
	}
	putc(']', f);
	put_machine(f, x);
	put_member(f, "configuration", d->config->text);
	fputs("\n}\n", f);
}
