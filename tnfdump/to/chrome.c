/*
 * chrome.c - the Trace Event Format that Chrome, Perfetto and speedscope open.
 *
 * Times are microseconds with three decimals, relative to the first event.
 * A pair of events in one thread becomes a complete slice ("X"), a pair that may
 * overlap others (block I/O) an asynchronous one, every other event an instant.  The
 * states of each thread are slices of a row of their own.
 */
#include "analysis/names.h"
#include "tnfdump/to/formats.h"

struct chrome {
	struct dump	*d;
	struct out	*o;
	struct states	*states;
	struct tasks	*tasks;		/* threads that are named */
	struct tnf_event named;		/* the last event whose thread was found to be named */
	struct perthread where;		/* formats_thread(): ,"pid":...,"tid":... */
	struct tasks	*state_rows;	/* state rows that are named */
	struct perprobe	 names;		/* formats_once(): ,"name":...,"cat":... */
	int64_t		 first;
	bool		 started;
};

static void
chrome_entry(struct chrome *c, char phase, int64_t time)
{
	if (c->started)
		out_char(c->o, ',');
	c->started = true;
	out_lit(c->o, "\n{\"ph\":\"");
	out_char(c->o, phase);
	out_lit(c->o, "\",\"ts\":");
	tnf_out_us(c->o, time - c->first);
}

static void
chrome_where(struct out *o, int32_t pid, uint32_t lwpid)
{
	out_lit(o, ",\"pid\":");
	tnf_out_i64(o, pid);
	out_lit(o, ",\"tid\":");
	tnf_out_u64(o, lwpid);
}

static void
chrome_writer(struct dump *d, struct out *o, const struct tnf_event *ev)
{
	struct tnf_event who = formats_writer(d, ev);

	chrome_where(o, who.pid, who.lwpid);
}

static void
chrome_named(struct out *o, const char *name, const char *category)
{
	out_lit(o, ",\"name\":");
	json_name(o, name);
	out_lit(o, ",\"cat\":");
	json_name(o, category);
}

static void
chrome_probe(struct out *o, const struct tnf_probe *p)
{
	chrome_named(o, p->name, p->keys);
}

/* Begins an entry in the row of the event's thread, with the event's keys; if 'name' is
   NULL, without name and keys. */
static void
chrome_of(struct chrome *c, char phase, int64_t time, const struct tnf_event *ev,
    const char *name)
{
	chrome_entry(c, phase, time);
	formats_thread(c->d, &c->where, ev, chrome_writer);
	if (name == ev->probe->name)
		formats_once(c->o, &c->names, ev->probe, chrome_probe);
	else if (name != NULL)
		chrome_named(c->o, name, ev->probe->keys);
}

static void
chrome_details(struct chrome *c, const struct tnf_event *ev)
{
	out_lit(c->o, ",\"args\":{");
	print_json(c->d, c->o, ev, NULL, NULL);
	out_char(c->o, '}');
}

/* Names the row of a thread's states.  Viewers draw a row for each thread, so the states
   get a thread with a number that no thread has. */
static void
name_state_row(struct chrome *c, const struct state_span *s, uint32_t row)
{
	chrome_entry(c, 'M', c->first);
	chrome_where(c->o, hosts_pid(c->d, s->host, s->pid), row);
	out_lit(c->o, ",\"name\":\"thread_name\",\"args\":{\"name\":\"state of ");
	if (s->lwpid != 0)
		tnf_out_u64(c->o, s->lwpid);
	else {
		tnf_out_0x(c->o, s->tid);
	}
	out_lit(c->o, "\"}}");
}

static void
chrome_span(void *arg, const struct state_span *s)
{
	struct chrome *c = arg;
	uint32_t row = 1u << 31 | state_row(s);
	struct tnf_event who = { .pid = hosts_pid(c->d, s->host, s->pid), .lwpid = row };

	if (tasks_seen(c->state_rows, &who) & TASK_NEW_THREAD)
		name_state_row(c, s, row);
	chrome_entry(c, 'X', s->start);
	chrome_where(c->o, who.pid, row);
	chrome_named(c->o, state_name(s->state), "state");
	out_lit(c->o, ",\"dur\":");
	tnf_out_us(c->o, s->duration);
	out_char(c->o, '}');
}

int
chrome_begin(struct dump *d)
{
	struct chrome *c = tnf_xcalloc(1, sizeof(*c));

	c->tasks = tasks_new();
	c->state_rows = tasks_new();
	c->states = formats_states(d, chrome_span, c);
	c->d = d;
	c->o = &d->out;
	c->first = INT64_MIN;
	out_lit(c->o, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	d->state = c;
	return 0;
}

static void
chrome_name(struct chrome *c, const struct tnf_event *ev, const char *what, const char *name)
{
	if (name == NULL)
		return;
	chrome_of(c, 'M', c->first, ev, NULL);
	out_lit(c->o, ",\"name\":\"");
	out_str(c->o, what);
	out_lit(c->o, "\",\"args\":{\"name\":");
	json_name(c->o, name);
	out_lit(c->o, "}}");
}

/* Names the event's thread, and the process with its first thread. */
static void
chrome_introduce(struct chrome *c, const struct tnf_event *ev)
{
	if (formats_same_thread(ev, &c->named))
		return;
	struct tnf_event who = formats_writer(c->d, ev);
	unsigned fresh = tasks_seen(c->tasks, &who);

	c->named = *ev;
	if (fresh & TASK_NEW_PROCESS) {
		char *name = formats_process(c->d, ev);
		chrome_name(c, ev, "process_name", name);
		free(name);
	}
	if (fresh & TASK_NEW_THREAD)
		chrome_name(c, ev, "thread_name", origin_comm_last(c->d, ev));
}

static void
chrome_instant(struct chrome *c, const struct tnf_event *ev)
{
	char text[MARK_TEXT_MAX];
	bool mark = mark_text(ev, text);

	chrome_of(c, 'i', ev->time, ev, mark ? text : ev->probe->name);
	/* A mark is global: viewers draw it as a line across the whole view. */
	out_lit(c->o, ",\"s\":\"");
	out_char(c->o, mark ? 'g' : 't');
	out_char(c->o, '"');
	chrome_details(c, ev);
	out_char(c->o, '}');
}

static void
chrome_slice(struct chrome *c, const struct pair_slice *s, const struct tnf_event *end)
{
	chrome_of(c, 'X', s->start->time, s->start, pretty_slice_name(s));
	out_lit(c->o, ",\"dur\":");
	tnf_out_us(c->o, s->duration);
	out_lit(c->o, ",\"args\":{\"start\":{");
	print_json(c->d, c->o, s->start, NULL, NULL);
	out_lit(c->o, "},\"end\":{");
	print_json(c->d, c->o, end, NULL, NULL);
	out_lit(c->o, "}}}");
}

static void
chrome_async(struct chrome *c, char phase, const struct pair_slice *s,
    const struct tnf_event *ev)
{
	chrome_of(c, phase, ev->time, s->start, s->name);
	out_lit(c->o, ",\"id\":\"0x");
	tnf_out_hex(c->o, s->id);
	out_char(c->o, '"');
	chrome_details(c, ev);
	out_char(c->o, '}');
}

/* Writes a slice that an event has ended; its start is written even if filters dropped it. */
static void
chrome_ended(struct chrome *c, const struct pair_slice *s, const struct tnf_event *ev)
{
	chrome_introduce(c, s->start);
	if (!s->rule->async) {
		chrome_slice(c, s, ev);
		return;
	}
	if (!s->start_kept)
		chrome_async(c, 'b', s, s->start);
	chrome_async(c, 'e', s, ev);
}

int
chrome_event(struct dump *d, const struct tnf_event *ev)
{
	struct chrome *c = d->state;
	bool kept = d->keep == KEEP_ALL;
	struct pair_slice s;

	if (c->first == INT64_MIN && pipeline_zero(d)) {
		c->first = ev->time;
		states_window(c->states, c->first, d->high);
	}
	if (kept)
		chrome_introduce(c, ev);
	enum pair_role role = formats_feed(d, c->states, ev, &s);
	if (role == PAIR_END && s.kept)
		chrome_ended(c, &s, ev);
	else if (kept && (role == PAIR_NONE || !s.kept))
		chrome_instant(c, ev);
	else if (kept && s.rule->async)
		chrome_async(c, 'b', &s, ev);
	return c->o->error != 0 ? -1 : 0;
}

/* Writes a slice that never ended; viewers draw it up to the end of the trace. */
static void
chrome_unfinished(void *arg, const struct pair_slice *s)
{
	struct chrome *c = arg;

	if (s->rule->async)
		return;
	chrome_of(c, 'B', s->start->time, s->start, pretty_slice_name(s));
	chrome_details(c, s->start);
	out_char(c->o, '}');
}

int
chrome_end(struct dump *d)
{
	struct chrome *c = d->state;

	pairs_each_open(d->pairs, chrome_unfinished, c);
	states_end(c->states);
	out_lit(c->o, "\n]}\n");
	formats_once_free(&c->names);
	formats_thread_free(&c->where);
	tasks_free(c->tasks);
	tasks_free(c->state_rows);
	free(c);
	return 0;
}
