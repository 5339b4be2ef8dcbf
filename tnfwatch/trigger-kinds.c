/*
 * trigger-kinds.c - the functions of the language of triggers: an expression alone, lost(),
 * ended(), and the table of all.
 *
 * For a fact that is no event (a state, a loss, an end) we make up an event, which expressions
 * can be asked about: it has a probe without members, or one whose members lie behind it in
 * memory.
 */
#include "tnfwatch/trigger-impl.h"

static const struct tnf_type int_type = { .name = "tnf_int32", .base = "tnf_int32",
	.kind = TNF_K_INT32, .size = 4, .align = 4 };
static const struct tnf_member ending_members[] = {
	{ "signal", &int_type, 0 }, { "status", &int_type, 4 }, { "core", &int_type, 8 },
};
#define N_MEMBERS (sizeof(ending_members) / sizeof(ending_members[0]))

struct tnf_probe trigger_fact_probe = { .name = "tnfwatch", .keys = "", .id = 0 };
struct tnf_probe trigger_ending_probe = { .name = "ended", .keys = "", .id = 1,
	.n_members = N_MEMBERS, .members = ending_members };

bool
trigger_has_ending_member(const char *name)
{
	return perprobe_member(&trigger_ending_probe, name) >= 0;
}

void
trigger_fact(const struct trigger_source *s, int64_t now, struct tnf_event *ret)
{
	*ret = (struct tnf_event){ .time = now, .pid = s->pid, .lwpid = (uint32_t)s->pid,
	    .cpu = -1, .kernel = s->kernel, .probe = &trigger_fact_probe };
}

static bool
fact_member(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	const struct ending *e = (const struct ending *)(const void *)ev;

	if (ev->probe != &trigger_ending_probe || i >= N_MEMBERS || !e->known)
		return false;
	*v = (struct tnf_value){ .type = &int_type, .kind = TNF_K_INT32, .u.i = e->values[i] };
	return true;
}

static bool
fact_item(const struct tnf_file *f, const struct tnf_value *r, unsigned i,
    struct tnf_value *v)
{
	return false;
}

static const char *
fact_comm(void *arg, const struct tnf_event *ev)
{
	const struct trigger_source *s = arg;

	if (ev->probe == &trigger_ending_probe)
		return ((const struct ending *)(const void *)ev)->comm;
	return s->ops.comm != NULL ? s->ops.comm(s->client, ev) : NULL;
}

void
facts_source(struct expr_source *ret, struct trigger_source *s)
{
	*ret = (struct expr_source){ .member = fact_member, .item = fact_item,
	    .comm = fact_comm, .arg = s };
}

/* An expression alone fires at each event for which it holds. */

static bool
event_concerns(struct watch *w, const struct tnf_probe *p)
{
	return expr_possible(w->condition, p);
}

/* Apart from event_event(), which would make room for it each time. */
__attribute__((noinline)) static void
event_fire(struct watch *w, const struct tnf_event *ev)
{
	char who[WHO_TEXT];

	trigger_fire(w, ev->time, ev, "%.60s%s", ev->probe->name, who_text(who, w, ev));
}

static void
event_event(struct watch *w, const struct feed *feed)
{
	if (watch_holds(w, feed->ev))
		event_fire(w, feed->ev);
}

static const struct trigger_kind trigger_event_kind = {
	.usage = "an expression",
	.members = true,
	.concerns = event_concerns,
	.event = event_event,
};

/* incident(): the program itself asks for an incident, by tnf_incident(3). */

static bool
incident_concerns(struct watch *w, const struct tnf_probe *p)
{
	return strcmp(p->name, TRIGGER_INCIDENT_PROBE) == 0 &&
	    (w->condition == NULL || expr_possible(w->condition, p));
}

static void
incident_event(struct watch *w, const struct feed *feed)
{
	int member = perprobe_member(feed->ev->probe, "text");
	struct tnf_value v = { .null = true };
	char who[WHO_TEXT];

	if (!watch_holds(w, feed->ev))
		return;
	if (member < 0 || !tnf_event_value(feed->ev, (unsigned)member, &v) || v.null ||
	    v.kind != TNF_K_STRING)
		v.u.s.len = 0;
	trigger_fire(w, feed->ev->time, feed->ev, "%.*s%s", v.u.s.len > 160 ? 160 :
	    (int)v.u.s.len, v.u.s.len > 0 ? v.u.s.chars : "", who_text(who, w, feed->ev));
}

static const struct trigger_kind trigger_incident_kind = {
	.name = "incident", .usage = "incident()",
	.members = true, .concerns = incident_concerns, .event = incident_event,
};

/* lost(): fires when so many events were lost since it fired last, but at most once a second: a
   loss that goes on is found anew with each look at the ring. */
#define LOST_PAUSE	INT64_C(1000000000)

static bool
lost_enough(const struct watch *w)
{
	const struct when *when = &w->trigger->when;
	double lost = (double)w->lost;

	return lost > when->number || (lost == when->number && when->equal);
}

static int64_t
lost_run(struct watch *w, int64_t now)
{
	int64_t at = w->counts ? time_add(w->since, LOST_PAUSE) : now;
	struct tnf_event fact;

	if (w->lost == 0 || !lost_enough(w))
		return NEVER;
	if (at > now)
		return at;
	trigger_fact(w->source, now, &fact);
	if (watch_holds(w, &fact))
		trigger_fire(w, now, NULL, "%llu event%s lost in %.60s",
		    (unsigned long long)w->lost, w->lost == 1 ? " was" : "s were",
		    w->source->name);
	w->lost = 0;
	w->counts = true;
	w->since = now;
	return NEVER;
}

static void
lost_lost(struct watch *w, uint64_t n, int64_t now)
{
	w->lost = w->lost + n < n ? UINT64_MAX : w->lost + n;
	watch_until(w, lost_run(w, now));
}

static const struct trigger_kind trigger_lost_kind = {
	.name = "lost", .usage = "lost() > NUMBER",
	.compare = COMPARE_MORE, .run = lost_run, .lost = lost_lost,
};

/* ended("NAME"): fires when a watched process has ended. */
static void
ended_fire(struct watch *w, const struct ending *end)
{
	const char *comm = end->comm != NULL ? end->comm : "a process";
	int pid = (int)end->ev.pid, sig = end->values[0];
	const char *name = sigabbrev_np(sig);

	if (sig > 0)
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) was killed by signal %d%s%s",
		    comm, pid, sig, name != NULL ? ", SIG" : "", name != NULL ? name : "");
	else if (end->known)
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) ended with status %d", comm,
		    pid, end->values[1]);
	else
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) ended", comm, pid);
}

static void
ended_ended(struct watch *w, const struct ending *end)
{
	const struct when *when = &w->trigger->when;

	if (when->n_args > 0 && (end->comm == NULL || !probe_matches(when, 0, end->comm)))
		return;
	if (watch_holds(w, &end->ev))
		ended_fire(w, end);
}

const struct trigger_kind trigger_ended_kind = {
	.name = "ended", .usage = "ended(\"NAME\")",
	.args_max = 1, .ended = ended_ended,
};

static const struct trigger_kind *const kinds[] = {
	&trigger_event_kind,
	&trigger_duration,
	&trigger_open,
	&trigger_state,
	&trigger_rate,
	&trigger_silence,
	&trigger_percentile,
	&trigger_lost_kind,
	&trigger_ended_kind,
	&trigger_incident_kind,
};

const struct trigger_kind *
trigger_kind(unsigned i)
{
	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i] : NULL;
}
