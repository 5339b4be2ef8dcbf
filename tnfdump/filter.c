/*
 * filter.c - filters by expression, CPU, probe and key, and the source of events for
 * expressions.
 *
 * An expression may ask for the span that the event ends (its duration), and for the spans that
 * the event is in.  A span belongs to the thread that began it.  A rule of --pair with members has
 * a request instead, which belongs to whoever wrote the last event with its values: all that this
 * thread does until the span ends is in the span, in the kernel's trace as well.
 */
#include "analysis/match.h"
#include "tnfdump/to/formats.h"

struct worker {
	unsigned host;
	uint32_t lwpid;		/* of the machine */
};

struct open_span {
	struct open_span *next;
	struct worker	 by;
	const struct pair_rule *rule;	/* with members; NULL: the thread's own */
	char		*values;	/* of its members, or NULL */
};

/* One within() of an expression. */
struct within {
	struct open_span *open;
	bool	 now;		/* the present event is in one of them */
};

struct spans {
	struct expr	*e;
	struct pairs	*pairs;
	struct within	*within;
	unsigned	 n;
	bool		 ends;		/* the event ends what took this long */
	int64_t		 took;
};

/* NULL: the expression asks about none. */
static struct spans *
spans_new(struct dump *d, struct expr *e)
{
	struct spans *s;
	unsigned n = 0;

	while (expr_within(e, n) != NULL)
		n++;
	if (n == 0 && !expr_asks_duration(e))
		return NULL;
	s = tnf_xcalloc(1, sizeof(*s));
	s->e = e;
	s->n = n;
	s->within = tnf_xcalloc(n + 1, sizeof(*s->within));
	return s;
}

static void
free_span(struct open_span **at)
{
	struct open_span *o = *at;

	*at = o->next;
	free(o->values);
	free(o);
}

static void
forget(struct spans *s)
{
	for (unsigned i = 0; i < s->n; i++)
		while (s->within[i].open != NULL)
			free_span(&s->within[i].open);
	pairs_free(s->pairs);
	s->pairs = NULL;
}

static void
spans_free(struct spans *s)
{
	if (s == NULL)
		return;
	forget(s);
	free(s->within);
	free(s);
}

/* Another stream begins. */
static void
spans_begin(struct spans *s, struct dump *d)
{
	if (s == NULL)
		return;
	forget(s);
	s->pairs = pairs_copy_rules(d->pairs);
	pairs_of(s->pairs, d->stream);
}

static struct worker
worker_of(struct dump *d, const struct tnf_event *ev)
{
	struct worker w = { tnf_file_host(ev->file), ev->lwpid };
	int32_t pid;

	origin_host(d, ev, &pid, &w.lwpid);
	return w;
}

/* The values of the rule's members, to be freed; NULL: the event has not all of them. */
static char *
values_of(const struct pair_rule *r, const struct tnf_event *ev)
{
	char buf[VAL_TEXT_SIZE];
	struct tnf_value v;
	const char *text;
	struct out o;
	char *values;

	tnf_out_memory(&o);
	for (unsigned k = 0; k < PAIR_KEYS_MAX && r->keys[k] != NULL; k++) {
		int m = perprobe_member(ev->probe, r->keys[k]);
		if (m < 0 || !tnf_event_value(ev, (unsigned)m, &v)) {
			tnf_out_close(&o);
			return NULL;
		}
		struct val val = val_of_member(&v, NULL);
		size_t len = val_text(&val, buf, &text);
		tnf_out_format(&o, "%zu:", len);
		tnf_out_bytes(&o, text, len);
	}
	values = tnf_xstrndup(o.base, (size_t)(o.p - o.base));
	tnf_out_close(&o);
	return values;
}

static bool
names_pair(const char *wanted, const char *name)
{
	size_t n = strlen(wanted);

	return strncmp(name, wanted, n) == 0 && (name[n] == '\0' ||
	    strcmp(name + n, "_start") == 0 || strcmp(name + n, "_begin") == 0);
}

static void
span_opens(struct spans *s, struct dump *d, unsigned i, const struct pair_slice *slice,
    const struct tnf_event *ev)
{
	struct open_span *o = tnf_xcalloc(1, sizeof(*o));

	o->by = worker_of(d, ev);
	if (slice->rule->text != NULL && slice->rule->keys[0] != NULL) {
		o->rule = slice->rule;
		o->values = values_of(o->rule, ev);
	}
	o->next = s->within[i].open;
	s->within[i].open = o;
	*slice->user = (void *)((uintptr_t)*slice->user | 1u << i % 32);
}

/* The span that the event ends is the newest of the same thread or values. */
static void
span_closes(struct within *w, const struct pair_slice *slice, struct worker by,
    const struct tnf_event *ev)
{
	char *values = slice->rule->text != NULL && slice->rule->keys[0] != NULL ?
	    values_of(slice->rule, ev) : NULL;

	for (struct open_span **at = &w->open; *at != NULL; at = &(*at)->next)
		if (values != NULL ? (*at)->values != NULL && strcmp((*at)->values, values) == 0 :
		    (*at)->rule == NULL && memcmp(&(*at)->by, &by, sizeof(by)) == 0) {
			free_span(at);
			break;
		}
	free(values);
}

/* True if the event is in an open span; an event with a request's values makes its writer the
   one that works for the request. */
static bool
is_within(struct within *w, struct worker by, const struct tnf_event *ev)
{
	bool in = false;

	for (struct open_span *o = w->open; o != NULL; o = o->next) {
		char *values = o->values != NULL ? values_of(o->rule, ev) : NULL;
		if (values != NULL && strcmp(values, o->values) == 0)
			o->by = by;
		free(values);
		in |= memcmp(&o->by, &by, sizeof(by)) == 0;
	}
	return in;
}

static void
spans_feed(struct spans *s, struct dump *d, const struct tnf_event *ev)
{
	struct worker by = s->n > 0 ? worker_of(d, ev) : (struct worker){ 0, 0 };
	struct pair_slice slice;
	enum pair_role role = pairs_feed(s->pairs, ev, KEEP_ALL, &slice);

	s->ends = role == PAIR_END && slice.rule != NULL;
	s->took = s->ends ? slice.duration : 0;
	for (unsigned i = 0; i < s->n; i++) {
		if (role == PAIR_START && names_pair(expr_within(s->e, i), slice.name) &&
		    expr_within_holds(s->e, i, ev))
			span_opens(s, d, i, &slice, ev);
		s->within[i].now = s->within[i].open != NULL && is_within(&s->within[i], by, ev);
		if (s->ends && ((uintptr_t)*slice.user >> i % 32 & 1) != 0 &&
		    names_pair(expr_within(s->e, i), slice.name))
			span_closes(&s->within[i], &slice, by, ev);
	}
}

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
	const struct spans *s = ((struct dump *)arg)->spans;

	if (s == NULL || !s->ends)
		return false;
	*ns = s->took;
	return true;
}

static bool
within_of(void *arg, struct expr *e, unsigned i, const struct tnf_event *ev)
{
	const struct spans *s = ((struct dump *)arg)->spans;

	return s != NULL && i < s->n && s->within[i].now;
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
