/*
 * filter.c - filters by expression, CPU, probe and key, and the source of events for
 * expressions.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tnfdump/hosts.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/pretty.h"
#include "analysis/match.h"
#include "common/xalloc.h"

const char *
fact_comm(void *arg, const struct tnf_event *ev)
{
	return origin_comm(arg, ev);
}

static const char *
filter_host_of(void *arg, const struct tnf_event *ev)
{
	return host_name(arg, ev);
}

const char *
fact_program(void *arg, const struct tnf_event *ev)
{
	return origin_program(arg, ev);
}

static const char *
program_of_pid(void *arg, const struct tnf_event *ev, int32_t pid)
{
	return origin_program_of(arg, ev, pid);
}

const char *
fact_cgroup(void *arg, const struct tnf_event *ev)
{
	return origin_cgroup(arg, ev);
}

const char *
fact_trace(void *arg, const struct tnf_event *ev)
{
	return current_trace(arg, ev);
}

const char *
fact_span(void *arg, const struct tnf_event *ev)
{
	return current_id(arg, ev);
}

const char *
fact_operation(void *arg, const struct tnf_event *ev)
{
	return around_now(arg)->operation;
}

const char *
fact_syscall(void *arg, const struct tnf_event *ev)
{
	return around_now(arg)->syscall;
}

static void
want_around(void *arg)
{
	around_want(arg);
}

static bool
duration_of(void *arg, const struct tnf_event *ev, int64_t *ns)
{
	return spans_duration(((struct dump *)arg)->spans, ns);
}

static bool
within_of(void *arg, struct expr *e, unsigned i, const struct tnf_event *ev)
{
	return spans_within(((struct dump *)arg)->spans, i);
}

static const char *
thread_of(void *arg, const struct tnf_event *ev, uint64_t address)
{
	return labels_thread_name(arg, ev, address);
}

struct expr_source *
dump_expr_source(struct dump *d)
{
	struct expr_source *s = d->source;

	if (s == NULL) {
		s = d->source = tnf_xcalloc(1, sizeof *s);
		s->member = tnf_event_value;
		s->item = tnf_value_item;
		s->comm = fact_comm;
		s->program = fact_program;
		s->program_of = program_of_pid;
		s->cgroup = fact_cgroup;
		s->trace = fact_trace;
		s->span = fact_span;
		s->operation = fact_operation;
		s->syscall = fact_syscall;
		s->want_around = want_around;
		s->thread = thread_of;
		s->arg = d;
		if (d->hosts != NULL)
			s->host = filter_host_of;
	}
	return s;
}

void
dump_expr_begin(struct dump *d)
{
	struct expr_source *s = dump_expr_source(d);

	s->arg = d;
	s->first = d->first;
}

/* An expression with the spans that it asks about. */
struct where {
	struct dump	*d;
	struct expr_source source;	/* the run's, and that of spans */
	struct expr	*e;
	struct spans	*spans;		/* NULL: it asks about none */
};

static void
where_see(void *arg, const struct tnf_event *ev)
{
	struct where *w = arg;

	if (w->spans != NULL)
		spans_feed(w->spans, w->d, ev);
}

static bool
where_keep(void *arg, const struct tnf_event *ev)
{
	struct where *w = arg;

	where_see(arg, ev);
	w->d->spans = w->spans;
	return expr_true(w->e, ev);
}

static void
where_free(void *arg)
{
	struct where *w = arg;

	spans_free(w->spans);
	expr_free(w->e);
	free(w);
}

static void
where_source(struct where *w)
{
	w->source = *dump_expr_source(w->d);
	w->source.duration = duration_of;
	w->source.within = within_of;
}

static int
where_start(void *arg, struct dump *d)
{
	struct where *w = arg;

	w->d = d;
	where_source(w);
	expr_forget(w->e);
	spans_begin(w->spans, d);
	return 0;
}

static void
where_end(void *arg, struct dump *d)
{
	hint_members(d, "where", ((struct where *)arg)->e);
}

int
where_set(struct dump *d, const char *text)
{
	struct expr_error error;
	struct filter f = { .option = "where", .keep = where_keep, .see = where_see,
		.start = where_start, .end = where_end, .free = where_free,
		.asks = KEEP_WHAT };
	char message[512];
	const char *member;

	struct where *w = pipeline_add_filter(d, &f, sizeof(*w))->arg;
	w->d = d;
	where_source(w);
	if ((w->e = expr_new(text, &w->source, &error)) == NULL) {
		expr_error_format(&error, text, message, sizeof(message));
		return options_wrong("where", "%s", message);
	}
	for (unsigned i = 0; (member = expr_member(w->e, i)) != NULL; i++)
		d->see_threads |= strcmp(member, "tid") == 0;
	w->spans = spans_new(d, w->e);
	return 0;
}

struct cpus_wanted {
	struct selectors list;
	int32_t		 first, last;	/* seen; last < 0: none */
};

static bool
cpu_keep(void *arg, const struct tnf_event *ev)
{
	struct cpus_wanted *w = arg;

	if (ev->cpu < 0)
		return false;
	if (w->last < 0 || ev->cpu < w->first)
		w->first = ev->cpu;
	if (ev->cpu > w->last)
		w->last = ev->cpu;
	return selectors_number(&w->list, (uint64_t)ev->cpu);
}

static void
cpu_see(void *arg, const struct tnf_event *ev)
{
	cpu_keep(arg, ev);
}

static int
cpu_start(void *arg, struct dump *d)
{
	struct cpus_wanted *w = arg;

	selectors_forget(&w->list);
	w->last = -1;
	return 0;
}

static void
cpu_end(void *arg, struct dump *d)
{
	const struct cpus_wanted *w = arg;
	char seen[64];

	snprintf(seen, sizeof seen, w->last < 0 ? "events do not tell theirs" :
	    "there are events of %" PRId32 " to %" PRId32, w->first, w->last);
	for (unsigned i = 0; i < w->list.n && !d->diff; i++)
		if (!w->list.s[i].hit)
			dump_note(d, "--cpu %s: no event that was read is of "
			    "that CPU: %s", w->list.s[i].text, seen);
}

static void
cpu_free(void *arg)
{
	struct cpus_wanted *w = arg;

	selectors_free(&w->list);
	free(w);
}

int
cpu_set(struct dump *d, const char *list)
{
	const struct filter f = { .option = "cpu", .keep = cpu_keep, .see = cpu_see,
		.start = cpu_start, .end = cpu_end, .free = cpu_free, .asks = KEEP_WHO };
	struct cpus_wanted *w = pipeline_filter_arg(d, &f, sizeof *w);

	return selectors_add(&w->list, list, false) ? 0 :
	    options_wrong("cpu", "list of numbers expected, as 0-3,8: \"%s\"",
	    list);
}

/* --probe and --key. */
struct list {
	const char	*option;
	struct probe_list probes;
};

static bool
list_keep(void *arg, const struct tnf_event *ev)
{
	struct list *l = arg;

	return probe_list_has(&l->probes, ev->probe);
}

/* A pattern that matches nothing is more often than not mistyped. */
static int
list_start(void *arg, struct dump *d)
{
	struct list *l = arg;
	const char *lost = probe_list_begin(&l->probes, d->stream);

	if (lost == NULL)
		return 0;
	dump_error(d, "--%s: nothing in the trace matches \"%s\": "
	    "--info lists the probes", l->option, lost);
	return -1;
}

static void
list_free(void *arg)
{
	struct list *l = arg;

	probe_list_free(&l->probes);
	free(l);
}

static int
filter_probe_set(struct dump *d, const char *option, bool by_key, const char *list)
{
	const struct filter f = { .option = option, .keep = list_keep, .start = list_start,
		.free = list_free, .asks = KEEP_WHAT };
	struct list *l = pipeline_filter_arg(d, &f, sizeof(*l));

	l->option = option;
	l->probes.by_key = by_key;
	return probe_list_add(&l->probes, list) ? 0 : options_wrong(option, "name expected");
}

int
probe_set(struct dump *d, const char *list)
{
	return filter_probe_set(d, "probe", false, list);
}

int
key_set(struct dump *d, const char *list)
{
	return filter_probe_set(d, "key", true, list);
}
