/*
 * trigger.c - the engine's interface: triggers, sources, their events, and firings.
 */
#include <sys/wait.h>

#include "analysis/match.h"
#include "common/text.h"
#include "tnfwatch/trigger-impl.h"

#define REASON_TEXT 256

struct trigger_engine *
trigger_engine_new(trigger_fired_fn *fired, void *arg)
{
	struct trigger_engine *e = tnf_xcalloc(1, sizeof(*e));

	e->fired = fired;
	e->arg = arg;
	e->end = &e->first;
	return e;
}

void
trigger_engine_free(struct trigger_engine *e)
{
	struct trigger *t;

	if (e == NULL)
		return;
	while (e->sources != NULL)
		trigger_source_close(e->sources);
	source_free(e->nowhere);
	source_free(e->total);
	while ((t = e->first) != NULL) {
		e->first = t->next;
		when_free(&t->when);
		free(t->name);
		free(t->of);
		free(t);
	}
	free(e);
}

int
trigger_add(struct trigger_engine *e, const char *name, const char *when,
    struct trigger_error *err)
{
	struct trigger *t = tnf_xcalloc(1, sizeof(*t));

	t->manual = when == NULL || when[strspn(when, " \t\r\n")] == '\0';
	if (!t->manual && !when_parse(when, &t->when, err)) {
		free(t);
		return -1;
	}
	t->name = tnf_xstrdup(name);
	t->number = e->n++;
	*e->end = t;
	e->end = &t->next;
	return (int)t->number;
}

void
trigger_about(struct trigger_engine *e, int number, const char *of)
{
	for (struct trigger *t = e->first; t != NULL; t = t->next)
		if ((int)t->number == number && of != NULL)
			t->of = tnf_xstrdup(of);
}

char *
trigger_section(const char *text)
{
	struct trigger_error err;
	struct when when;
	char *of = NULL;

	if (text == NULL || !when_parse(text, &when, &err))
		return NULL;
	if (when.of != NULL)
		of = tnf_xstrdup(when.of);
	when_free(&when);
	return of;
}

static bool
has_totals(const struct trigger_engine *e)
{
	for (const struct trigger *t = e->first; t != NULL; t = t->next)
		if (t->when.of != NULL)
			return true;
	return false;
}

struct trigger_source *
trigger_source_open(struct trigger_engine *e, void *client, const char *name, pid_t pid,
    bool kernel, const struct trigger_source_ops *ops)
{
	struct trigger_source *s;

	if (e->total == NULL && has_totals(e))
		e->total = source_new(e, NULL, NULL, 0, false, NULL);
	s = source_new(e, client, name, pid, kernel, ops);
	s->next = e->sources;
	if (s->next != NULL)
		s->next->before = s;
	e->sources = s;
	return s;
}

void
trigger_source_close(struct trigger_source *s)
{
	if (s == NULL)
		return;
	*(s->before != NULL ? &s->before->next : &s->engine->sources) = s->next;
	if (s->next != NULL)
		s->next->before = s->before;
	source_free(s);
}

void
trigger_source_ended(struct trigger_source *s)
{
	if (s != NULL)
		s->ended = true;
}

static void
told_time(struct trigger_engine *e, int64_t now)
{
	if (now > e->now)
		e->now = now;
}

void
trigger_expect(struct trigger_source *s, const char *probe, int64_t now)
{
	told_time(s->engine, now);
	EACH_WATCH(s, w)
		if (w->trigger->when.kind->expect != NULL)
			w->trigger->when.kind->expect(w, probe, now);
}

bool
trigger_concerns(const struct trigger_source *s, unsigned trigger, const struct tnf_probe *p)
{
	EACH_WATCH(s, w)
		if (w->trigger->number == trigger && w->trigger->when.kind->concerns != NULL)
			return p == NULL || w->trigger->when.kind->concerns(w, p);
	return false;
}

void
trigger_event(struct trigger_source *s, const struct tnf_event *ev)
{
	if (s->events.first == 0)
		s->events.first = ev->time;
	told_time(s->engine, ev->time);
	if (ev->time >= s->deadline)
		source_run(s, ev->time);
	source_event(s, ev);
}

void
trigger_past(struct trigger_source *s, const struct tnf_event *ev)
{
	s->past = true;
	source_event(s, ev);
	s->past = false;
}

/* Spans that are open, and events that did not come, are not known any more. */
static void
source_missed(struct trigger_source *s, uint64_t n)
{
	source_forget(s);
	EACH_WATCH(s, w)
		if (w->trigger->when.kind->lost != NULL)
			w->trigger->when.kind->lost(w, n, s->engine->now);
}

void
trigger_lost(struct trigger_source *s, uint64_t n)
{
	if (n > 0)
		source_missed(s, n);
}

void
trigger_source_rests(struct trigger_source *s, bool rests)
{
	if (s != NULL)
		s->rests = rests;
}

void
trigger_ended(struct trigger_engine *e, struct trigger_source *s, const char *comm,
    pid_t pid, int status, int64_t now)
{
	struct ending end = { .comm = comm, .known = status != -1 };

	if (s == NULL && e->nowhere == NULL)
		e->nowhere = source_new(e, NULL, NULL, 0, false, NULL);
	if (s == NULL)
		s = e->nowhere;
	else if (!s->kernel)
		source_forget(s);	/* nothing of it goes on */
	told_time(e, now);
	trigger_fact(s, now, &end.ev);
	end.ev.probe = &trigger_ending_probe;
	end.ev.pid = pid;
	end.ev.lwpid = (uint32_t)pid;
	if (end.known) {
		end.values[0] = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		end.values[1] = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		end.values[2] = WIFSIGNALED(status) && WCOREDUMP(status);
	}
	EACH_WATCH(s, w)
		if (w->trigger->when.kind->ended != NULL)
			w->trigger->when.kind->ended(w, &end);
}

void
trigger_tick(struct trigger_engine *e, int64_t now)
{
	told_time(e, now);
	for (struct trigger_source *s = e->sources; s != NULL; s = s->next) {
		if (s->rests)
			source_missed(s, 0);
		else
			source_settle(s);
		source_run(s, now);
	}
	if (e->total == NULL)
		return;
	EACH_WATCH(e->total, w)
		rate_settle(w);
	source_run(e->total, now);
}

bool
probe_matches(const struct when *when, unsigned arg, const char *name)
{
	return match_glob(when->args[arg], name);
}

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

/* Replaces characters on which a terminal would act by '?': a target may use any name. */
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

__attribute__((format(printf, 5, 0)))
static void
fire(struct watch *w, int64_t time, const struct tnf_event *ev, const struct trigger_span *span,
    const char *fmt, va_list ap)
{
	struct trigger_engine *e = w->source->engine;
	struct trigger_firing f = { w->trigger->number, time, w->source->client, ev, NULL, span };
	char reason[REASON_TEXT];

	if (w->source->past)
		return;
	vsnprintf(reason, sizeof(reason), fmt, ap);
	make_printable(reason);
	f.reason = reason;
	e->fired(e->arg, &f);
}

void
trigger_fire(struct watch *w, int64_t time, const struct tnf_event *ev, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fire(w, time, ev, NULL, fmt, ap);
	va_end(ap);
}

void
trigger_fire_span(struct watch *w, int64_t time, const struct tnf_event *ev,
    const struct span_start *start, const char *fmt, ...)
{
	const struct trigger_span span = { &start->ev, start->n, start->values };
	va_list ap;

	va_start(ap, fmt);
	fire(w, time, ev, &span, fmt, ap);
	va_end(ap);
}
