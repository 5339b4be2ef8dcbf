/*
 * trigger-source.c - the triggers in one source: what they need of its events.
 */
#include "analysis/pretty-names.h"
#include "tnfwatch/trigger-impl.h"

static const struct trigger_kind *
kind_of(const struct watch *w)
{
	return w->trigger->when.kind;
}

static const char *
event_comm(void *arg, const struct tnf_event *ev)
{
	const struct trigger_source *s = arg;

	return s->ops.comm != NULL ? s->ops.comm(s->client, ev) : NULL;
}

static void
pair_dropped(void *arg, void **user)
{
	span_start_drop(user);
}

static void
state_changed(void *arg, const struct state_span *span, bool left, void **user)
{
	struct trigger_source *s = arg;

	if (left)
		due_drop(user);
	EACH_WATCH(s, w)
		if (kind_of(w)->state != NULL)
			kind_of(w)->state(w, span, left, user);
}

/* The watch that counts for all sources of a section, if this is one of them. */
static struct watch *
watch_total(const struct trigger_source *s, const struct trigger *t)
{
	if (t->when.of != NULL && s->engine->total != NULL)
		EACH_WATCH(s->engine->total, w)
			if (w->trigger == t)
				return w;
	return NULL;
}

/* Compiles the condition, which was compiled before when it was read. */
static void
watch_condition(struct watch *w, struct trigger_source *s, const struct when *when)
{
	struct expr_error error;

	if (when->condition == NULL)
		return;
	w->condition = expr_new(when->condition, when->kind->pairs ? &s->both :
	    when->kind->members ? &s->events : &s->facts, &error);
	if (when->kind->expect != NULL && !s->kernel && expr_member(w->condition, 0) == NULL)
		w->about = expr_new(when->condition, &s->facts, &error);
}

static const char *
section_of(const struct trigger *t)
{
	return t->of != NULL ? t->of : t->when.of;
}

/* True if the trigger may be about processes of its section, of which the kernel records
   something. */
static bool
is_about_some(const struct trigger_source *s, const struct trigger *t)
{
	return s->ops.is_of != NULL && (t->when.kind->concerns != NULL || t->when.kind->states) &&
	    section_of(t) != NULL && strcmp(section_of(t), s->name) != 0;
}

static void
watch_open(struct watch *w, struct trigger_source *s, const struct trigger *t)
{
	w->source = s;
	w->trigger = t;
	w->section = is_about_some(s, t) ? section_of(t) : NULL;
	w->total = watch_total(s, t);
	watch_condition(w, s, &t->when);
	if (t->when.kind->pairs && s->pairs == NULL) {
		s->pairs = pairs_new();
		pairs_endless(s->pairs, s->kernel ? OPEN_MAX_KERNEL : OPEN_MAX,
		    pair_dropped, NULL);
	}
	if (t->when.kind->states && s->kernel && s->states == NULL)
		s->states = states_new_endless(state_changed, s, THREADS_MAX);
	if (t->when.kind->open != NULL)
		t->when.kind->open(w);
	w->of_pairs = t->when.kind->pairs && w->pairs == NULL;
}

/* True if the trigger is about this source.  The total has a watch of each that is counted
   there. */
static bool
is_about(const struct trigger_source *s, const struct trigger *t)
{
	bool total = s->engine->total == NULL && s->client == NULL && t->when.of != NULL;

	return !t->manual && (total || is_about_some(s, t) ||
	    ((t->of == NULL || strcmp(t->of, s->name) == 0) &&
	    (t->when.of == NULL || strcmp(t->when.of, s->name) == 0)));
}

struct trigger_source *
source_new(struct trigger_engine *e, void *client, const char *name, pid_t pid,
    bool kernel, const struct trigger_source_ops *ops)
{
	struct trigger_source *s = tnf_xcalloc(1, sizeof(*s));
	struct watch *w;

	s->engine = e;
	s->client = client;
	s->name = tnf_xstrdup(name != NULL ? name : "");
	s->pid = pid;
	s->kernel = kernel;
	if (ops != NULL)
		s->ops = *ops;
	s->events = (struct expr_source){ .member = tnf_event_value,
	    .item = tnf_value_item, .comm = event_comm, .arg = s };
	s->both = s->events;
	s->both.member = span_member;
	facts_source(&s->facts, s);
	s->deadline = NEVER;
	s->watches = w = tnf_xcalloc(e->n, sizeof(*w));
	for (const struct trigger *t = e->first; t != NULL; t = t->next)
		if (is_about(s, t))
			watch_open(w++, s, t);
	s->n_watches = (unsigned)(w - s->watches);
	return s;
}

void
source_forget(struct trigger_source *s)
{
	s->now = NULL;
	s->begun.probe = NULL;
	if (s->pairs != NULL)
		pairs_forget(s->pairs);
	if (s->states != NULL)
		states_forget(s->states);
	EACH_WATCH(s, w)
		if (kind_of(w)->forget != NULL)
			kind_of(w)->forget(w);
}

void
source_free(struct trigger_source *s)
{
	if (s == NULL)
		return;
	autofree struct probe_use *use = (struct probe_use *)(void *)s->uses.base;
	source_forget(s);
	pairs_free(s->pairs);
	states_end(s->states);
	EACH_WATCH(s, w) {
		pairs_free(w->pairs);
		due_free(&w->due);
		expr_free(w->condition);
		expr_free(w->about);
		percentile_free(w->percentile);
		free(w->times);
		free(w->late);
	}
	span_probes_free(s);
	for (size_t i = 0; i < s->uses.n; i++)
		free(use[i].watches);
	free(s->watches);
	free(s->name);
	free(s);
}

static bool
is_state_probe(const struct tnf_probe *p)
{
	static const char *const names[] = { "thread_state", "thread_create",
	    "thread_exit", "syscall_start", "syscall_end" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(p->name, names[i]) == 0)
			return true;
	return false;
}

/* Finds, at the first event of a probe, the watches that are to see its events. */
static void
find_use(struct trigger_source *s, struct probe_use *use, const struct tnf_probe *p)
{
	int64_t least;

	use->known = true;
	use->least = INT64_MAX;
	use->sysnum = strcmp(p->name, "syscall_start") == 0 ? perprobe_member(p, "sysnum") : -1;
	use->exits = s->kernel && strcmp(p->name, "thread_exit") == 0;
	/* Other probes would only tell a little sooner which thread has left the CPU. */
	use->states = s->states != NULL && is_state_probe(p);
	EACH_WATCH(s, w) {
		if (kind_of(w)->concerns == NULL || !kind_of(w)->concerns(w, p))
			continue;
		if (w->of_pairs) {
			use->pairs = true;
			use->role = pairs_role(s->pairs, p);
			if (kind_of(w)->only != PAIR_NONE && kind_of(w)->only != use->role)
				continue;
			least = kind_of(w)->limit ? due_when(&w->trigger->when, 0) : INT64_MIN;
			if (least < use->least)
				use->least = least;
		}
		use->watches = tnf_xreallocarray(use->watches, use->n + 1, sizeof(*use->watches));
		use->watches[use->n++] = w;
	}
	use->special = use->states || use->exits || use->sysnum >= 0 || (use->n == 0 && !use->pairs);
}

/* True if it is a call that ends the thread.  Such a call does not return, and must not stay
   open. */
static bool
is_last_call(const struct probe_use *use, const struct tnf_event *ev)
{
	struct tnf_value v;
	const char *name;

	if (!tnf_event_value(ev, (unsigned)use->sysnum, &v))
		return false;
	name = pretty_syscall(v.u.i);
	return name != NULL && (strcmp(name, "exit") == 0 || strcmp(name, "exit_group") == 0);
}

/* Forgets the open spans and the state of a thread that has ended. */
static void
forget_thread(struct trigger_source *s, const struct tnf_event *ev)
{
	if (s->pairs != NULL)
		pairs_forget_thread(s->pairs, ev);
	EACH_WATCH(s, w)
		if (w->pairs != NULL)
			pairs_forget_thread(w->pairs, ev);
}

static inline struct probe_use *
use_of(struct trigger_source *s, const struct tnf_probe *p)
{
	struct probe_use *use = perprobe(&s->uses, p, sizeof(*use));

	if (!use->known)
		find_use(s, use, p);
	return use;
}

bool
trigger_wants(struct trigger_source *s, const struct tnf_probe *p)
{
	const struct probe_use *use;

	if (p->id >= PROBES_MAX)
		return false;
	use = use_of(s, p);
	return use->n > 0 || use->pairs || use->states || use->exits;
}

/* Shows the event to its watches; pairs: to those that ask the source's pairs, others: to all others. */
static void
source_show(struct trigger_source *s, const struct probe_use *use, const struct feed *feed, bool pairs,
    bool others)
{
	bool past = s->past;
	struct watch *w;

	for (unsigned i = 0; i < use->n; i++) {
		w = use->watches[i];
		if ((w->of_pairs ? pairs : others) && (!past || kind_of(w)->past))
			kind_of(w)->event(w, feed);
	}
}

/* Tells the pairs of the start that they were not told so far. */
static void
begun_feed(struct trigger_source *s)
{
	struct feed feed = { .ev = &s->begun };

	feed.role = pairs_feed(s->pairs, &s->begun, KEEP_ALL, &feed.slice);
	source_show(s, use_of(s, s->begun.probe), &feed, true, false);
	s->begun.probe = NULL;
}

/*
 * Most spans end with the next event that the pairs are told, and long before any trigger has to do
 * with them.  So of the latest start the pairs are not told at once, and never if its end follows.
 * True: the event changes nothing for triggers that ask the pairs.
 * Not for the kernel: the pairs have to see all of its events, to find gaps.
 */
static inline bool
source_passes(struct trigger_source *s, struct probe_use *use, const struct tnf_event *ev)
{
	const struct tnf_event *begun = &s->begun;

	if (s->kernel || s->past)
		return false;
	if (use->role == PAIR_START) {
		if (s->begun.probe != NULL)
			begun_feed(s);
		s->begun = *ev;
		if (time_add(ev->time, use->least) < s->deadline)
			s->deadline = time_add(ev->time, use->least);
		return true;
	}
	if (begun->probe == NULL || begun->lwpid != ev->lwpid || begun->pid != ev->pid ||
	    begun->file != ev->file || ev->time >= time_add(begun->time, use->least))
		return false;
	if (use->start != begun->probe && !pairs_match(s->pairs, begun->probe, ev->probe))
		return false;
	use->start = begun->probe;
	s->begun.probe = NULL;
	return true;
}

/* Does what only some probes need; false: no watch is to see the event. */
__attribute__((noinline)) static bool
source_special(struct trigger_source *s, const struct probe_use *use, const struct tnf_event *ev)
{
	if (use->states && !s->past) {
		s->now = ev;
		states_feed(s->states, ev);
		s->now = NULL;
	}
	if (use->exits)
		forget_thread(s, ev);
	return (use->n > 0 || use->pairs) && (use->sysnum < 0 || !is_last_call(use, ev));
}

void
source_event(struct trigger_source *s, const struct tnf_event *ev)
{
	struct probe_use *use;
	bool passes = false;
	struct feed feed;

	if (ev->probe->id >= PROBES_MAX)
		return;
	use = use_of(s, ev->probe);
	if (use->special && !source_special(s, use, ev))
		return;
	feed.ev = ev;
	feed.role = PAIR_NONE;
	if (use->pairs && !(passes = source_passes(s, use, ev))) {
		if (s->begun.probe != NULL)
			begun_feed(s);
		feed.role = pairs_feed(s->pairs, ev, KEEP_ALL, &feed.slice);
	}
	source_show(s, use, &feed, !passes, true);
	if (feed.role == PAIR_END && feed.slice.user != NULL)
		span_start_drop(feed.slice.user);
}

/* A span of the source's own pairs. */
static void
span_begun(void *arg, const struct pair_slice *slice)
{
	struct trigger_source *s = arg;
	const struct probe_use *use = use_of(s, slice->start->probe);

	span_start_of(slice);
	for (unsigned i = 0; i < use->n; i++)
		if (kind_of(use->watches[i])->begun != NULL && use->watches[i]->pairs == NULL)
			kind_of(use->watches[i])->begun(use->watches[i], slice);
}

static void
own_span_begun(void *arg, const struct pair_slice *slice)
{
	struct watch *w = arg;

	span_start_of(slice);
	if (kind_of(w)->begun != NULL)
		kind_of(w)->begun(w, slice);
}

void
source_settle(struct trigger_source *s)
{
	if (s->begun.probe != NULL)
		begun_feed(s);
	if (s->pairs != NULL)
		pairs_each_new(s->pairs, span_begun, s);
	EACH_WATCH(s, w)
		if (w->pairs != NULL)
			pairs_each_new(w->pairs, own_span_begun, w);
}

void
source_run(struct trigger_source *s, int64_t now)
{
	int64_t next;

	if (now < s->deadline)
		return;
	source_settle(s);
	s->deadline = NEVER;
	EACH_WATCH(s, w)
		if (kind_of(w)->run != NULL) {
			next = kind_of(w)->run(w, now);
			watch_until(w, next);
		}
}
