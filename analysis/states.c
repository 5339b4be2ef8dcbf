/*
 * states.c - the microstates of each thread, and their durations.
 */
#include "analysis/attrs.h"
#include "analysis/pretty-names.h"
#include "analysis/states.h"
#include "common/map.h"

#define USER	0u
#define SYSTEM	1u
#define TRAP	2u
#define CPUS_MAX	4096	/* on CPUs above, the running thread is not known */
#define HELD_MAX	65536	/* spans that wait for their threads' numbers; more are passed on without */

enum what { W_UNKNOWN, W_NONE, W_STATE, W_CREATE, W_EXIT, W_SYSTEM, W_USER, W_INTERRUPT, W_RESUME };

/* The meaning of a probe for states, found once for each probe. */
struct meaning {
	enum what what;
	int	  tid;		/* index of the member, -1: the writing thread */
	int	  state;
};

struct thread {
	struct thread	*next, *before;	/* in the list of struct states */
	uint32_t	 id;
	uint64_t	 tid;
	int32_t		 pid;
	uint32_t	 lwpid;
	bool		 known;		/* state and since are set */
	bool		 ended;		/* no time counts for it */
	bool		 chosen;	/* by states_choose() */
	unsigned	 state;
	int64_t		 since;
	unsigned	 interrupts;	/* that have begun, one in another, and not ended */
	unsigned	 interrupted;	/* its state before them; STATES_COUNT: not known */
	int32_t		 cpu;		/* where it was seen last */
	struct state_span *held;	/* until its numbers are known, or it is chosen */
	unsigned	 n_held;
	void		*user;
};

struct states {
	state_span_fn	*span;		/* or NULL */
	state_change_fn	*change;	/* or NULL */
	void		*arg;
	size_t		 max;		/* threads */
	struct map	 threads;	/* by tid: struct thread */
	struct thread	*first, *end;	/* in order of first sight; if there is 'change', threads
					   that have ended come before */
	struct thread	*newest;	/* wrote the last event */
	uint32_t	 own_ids, *ids;	/* the latest id; 'ids': the first machine's, which gives all */
	unsigned	 host;
	struct states	**others;	/* further machines, by number - 1; NULL: none yet */
	unsigned	 n_others;
	struct thread	*on_cpu[CPUS_MAX];	/* last thread seen on the CPU */
	unsigned	 n_held;	/* of all threads */
	bool		 sieve;		/* only chosen threads count */
	int64_t		 from, to;	/* states_window() */
	struct perprobe	 meaning;	/* struct meaning */
	int64_t		 last;
};

const char *
state_name(unsigned state)
{
	const char *name = pretty_kind_name(PRETTY_MICROSTATE, state);

	return name != NULL ? name : "?";
}

struct states *
states_new(state_span_fn *span, void *arg)
{
	struct states *s = tnf_xcalloc(1, sizeof(*s));

	s->span = span;
	s->arg = arg;
	s->ids = &s->own_ids;
	s->max = STATES_THREADS_MAX;
	s->from = INT64_MIN;
	s->to = INT64_MAX;
	tnf_map_init(&s->threads, sizeof(struct thread));
	return s;
}

struct states *
states_new_endless(state_change_fn *change, void *arg, size_t max)
{
	struct states *s = states_new(NULL, arg);

	s->change = change;
	s->max = max;
	return s;
}

int
states_interrupt(const char *name)
{
	static const char *const each[] = { "irq_vectors.", "irq.irq_handler_", "irq.softirq_" };
	size_t n = strlen(name);

	for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
		if (strncmp(name, each[i], strlen(each[i])) == 0)
			return n > 5 && strcmp(name + n - 5, "entry") == 0 ? 1 :
			    n > 4 && strcmp(name + n - 4, "exit") == 0 ? -1 : 0;
	return 0;
}

static struct meaning
find_meaning(const struct tnf_probe *p)
{
	struct meaning m = { W_NONE, -1, -1 };
	int begins = states_interrupt(p->name);

	if (strcmp(p->name, "thread_state") == 0) {
		m.tid = perprobe_member(p, "tid");
		m.state = perprobe_member(p, "state");
		if (m.state >= 0)
			m.what = W_STATE;
	} else if (strcmp(p->name, "thread_create") == 0) {
		m.tid = perprobe_member(p, "tid");
		if (m.tid >= 0)
			m.what = W_CREATE;
	} else if (strcmp(p->name, "thread_exit") == 0)
		m.what = W_EXIT;
	else if (strcmp(p->name, "syscall_start") == 0)
		m.what = W_SYSTEM;
	else if (strcmp(p->name, "syscall_end") == 0)
		m.what = W_USER;
	else
		m.what = begins > 0 ? W_INTERRUPT : begins < 0 ? W_RESUME : W_NONE;
	return m;
}

static const struct meaning *
meaning_of(struct states *s, const struct tnf_probe *p)
{
	struct meaning *m = perprobe(&s->meaning, p, sizeof(*m));

	if (m->what == W_UNKNOWN)
		*m = find_meaning(p);
	return m;
}

static void
states_append(struct states *s, struct thread *t)
{
	t->next = NULL;
	t->before = s->end;
	*(s->end != NULL ? &s->end->next : &s->first) = t;
	s->end = t;
}

static void
states_unlink(struct states *s, struct thread *t)
{
	*(t->before != NULL ? &t->before->next : &s->first) = t->next;
	*(t->next != NULL ? &t->next->before : &s->end) = t->before;
}

static void states_leave(struct states *, struct thread *, int64_t now);

/* Forgets a thread; only for endless streams, which hold no spans. */
static void
forget_thread(struct states *s, struct thread *t)
{
	states_leave(s, t, s->last);
	states_unlink(s, t);
	for (size_t i = 0; i < CPUS_MAX; i++)
		if (s->on_cpu[i] == t)
			s->on_cpu[i] = NULL;
	if (s->newest == t)
		s->newest = NULL;
	tnf_map_remove(&s->threads, &t->tid, sizeof(t->tid));
}

static struct thread *
thread_of(struct states *s, uint64_t tid)
{
	struct thread *t;
	bool fresh;

	if (s->threads.n >= s->max) {
		if ((t = tnf_map_get(&s->threads, &tid, sizeof(tid))) != NULL ||
		    s->change == NULL)
			return t;
		/* Spares the writer of the event, since an event may be about two threads. */
		forget_thread(s, s->first == s->newest && s->first->next != NULL ?
		    s->first->next : s->first);
	}
	t = tnf_xmap_put(&s->threads, &tid, sizeof(tid), &fresh);
	if (fresh) {
		t->id = ++*s->ids;
		t->tid = tid;
		states_append(s, t);
	}
	return t;
}

/* Finds the writer; most events come from the same thread as the one before. */
static struct thread *
states_writer(struct states *s, uint64_t tid)
{
	if (s->newest == NULL || s->newest->tid != tid)
		s->newest = thread_of(s, tid);
	return s->newest;
}

/* Passes the part of the span that is in the window. */
static void
states_put(const struct states *s, const struct state_span *span)
{
	struct state_span part = *span;
	int64_t end = span->start + span->duration;

	if (end > s->to)
		end = s->to;
	if (part.start < s->from)
		part.start = s->from;
	part.duration = end - part.start;
	if (part.duration > 0 || (part.duration == 0 && span->duration == 0))
		s->span(s->arg, &part);
}

/* Passes the held spans of a thread whose numbers are known now, or will never be. */
static void
release_held(struct states *s, struct thread *t)
{
	for (unsigned i = 0; i < t->n_held; i++) {
		t->held[i].pid = t->pid;
		t->held[i].lwpid = t->lwpid;
		if (!s->sieve || t->chosen)
			states_put(s, &t->held[i]);
	}
	s->n_held -= t->n_held;
	t->n_held = 0;
	free(t->held);
	t->held = NULL;
}

static void
states_leave(struct states *s, struct thread *t, int64_t now)
{
	struct state_span span = { t->id, t->tid, t->pid, t->lwpid, t->state,
	    t->since, now - t->since, s->host };

	if (t->known && s->change != NULL) {
		s->change(s->arg, &span, true, &t->user);
		t->user = NULL;
	}
	if (t->known && now >= t->since && s->span != NULL) {
		if ((s->sieve && !t->chosen) || (t->lwpid == 0 && s->n_held < HELD_MAX)) {
			t->held = tnf_xgrow(t->held, t->n_held, sizeof(*t->held));
			t->held[t->n_held++] = span;
			s->n_held++;
		} else
			states_put(s, &span);
	}
	t->known = false;
}

static void
states_span_of(const struct thread *t, struct state_span *ret)
{
	*ret = (struct state_span){ t->id, t->tid, t->pid, t->lwpid, t->state,
	    t->since, 0, 0 };
}

static void
states_enter(struct states *s, struct thread *t, unsigned state, int64_t now)
{
	struct state_span span;

	if (t->ended || (t->known && t->state == state))
		return;
	states_leave(s, t, now);
	t->known = true;
	t->state = state;
	t->since = now;
	if (s->change != NULL) {
		states_span_of(t, &span);
		s->change(s->arg, &span, false, &t->user);
	}
}

/* Another thread begins, at the address (tid) where 't' had one before. */
static void
begin_thread(struct states *s, struct thread *t, int64_t now)
{
	states_leave(s, t, now);
	release_held(s, t);
	if (t->ended && s->change != NULL) {
		states_unlink(s, t);
		states_append(s, t);
	}
	t->id = ++*s->ids;
	t->pid = 0;
	t->lwpid = 0;
	t->ended = false;
	t->chosen = false;
	t->interrupts = 0;
}

static void
end_thread(struct states *s, struct thread *t, int64_t now)
{
	states_leave(s, t, now);
	t->ended = true;
	if (s->change == NULL)
		return;
	/* Ended threads move to the front of the list: the first are forgotten first. */
	states_unlink(s, t);
	t->before = NULL;
	t->next = s->first;
	*(s->first != NULL ? &s->first->before : &s->end) = t;
	s->first = t;
}

static bool
is_running(unsigned state)
{
	/* Not the states of faults, in which a thread may be asleep. */
	return state == USER || state == SYSTEM || state == TRAP || state == STATES_INTERRUPT;
}

/* Notes that the thread has the CPU; the thread that ran there before does not run any more. */
static void
has_cpu(struct states *s, struct thread *t, const struct tnf_event *ev)
{
	if (ev->cpu < 0 || ev->cpu >= CPUS_MAX)
		return;
	struct thread **on = &s->on_cpu[ev->cpu];
	struct thread *before = *on;
	if (before != NULL && before != t && before->cpu == ev->cpu &&
	    before->known && is_running(before->state))
		states_leave(s, before, ev->time);
	*on = t;
	t->cpu = ev->cpu;
}

/* The thread that the event is about: the writer, or the one that its member names. */
static struct thread *
subject_of(struct states *s, const struct meaning *m, struct thread *self,
    const struct tnf_event *ev)
{
	struct tnf_value v;

	if (m->tid < 0)
		return self;
	return tnf_event_value(ev, (unsigned)m->tid, &v) ?
	    thread_of(s, v.u.u) : NULL;
}

static void
state_event(struct states *s, const struct meaning *m, struct thread *t,
    const struct tnf_event *ev)
{
	struct tnf_value v;

	if (!tnf_event_value(ev, (unsigned)m->state, &v) || v.u.i < 0 ||
	    v.u.i >= STATES_COUNT)
		return;
	if (is_running((unsigned)v.u.i))
		has_cpu(s, t, ev);
	t->interrupts = 0;
	states_enter(s, t, (unsigned)v.u.i, ev->time);
}

/* An idle thread has nothing that could be taken from it. */
static void
interrupt_begins(struct states *s, struct thread *t, int64_t now)
{
	if (t->lwpid == 0 || t->interrupts++ > 0)
		return;
	t->interrupted = t->known ? t->state : STATES_COUNT;
	states_enter(s, t, STATES_INTERRUPT, now);
}

static void
interrupt_ends(struct states *s, struct thread *t, int64_t now)
{
	if (t->interrupts == 0 || --t->interrupts > 0)
		return;
	if (t->interrupted < STATES_COUNT)
		states_enter(s, t, t->interrupted, now);
	else
		states_leave(s, t, now);
}

static void
states_identify(struct states *s, struct thread *t, const struct tnf_event *ev)
{
	if (t->lwpid == ev->lwpid)
		return;
	if (t->lwpid != 0)		/* the address was used again */
		begin_thread(s, t, ev->time);
	t->pid = ev->pid;
	t->lwpid = ev->lwpid;
	if (!s->sieve)
		release_held(s, t);
}

void
states_sieve(struct states *s)
{
	s->sieve = true;
}

void
states_window(struct states *s, int64_t from, int64_t to)
{
	s->from = from;
	s->to = to;
	for (unsigned i = 0; i < s->n_others; i++)
		if (s->others[i] != NULL)
			states_window(s->others[i], from, to);
}

/* Each machine has its own states, as it has its own processors and addresses. */
static struct states *
states_of_host(struct states *s, unsigned host)
{
	unsigned n = s->n_others;

	if (host > n) {
		s->others = tnf_xreallocarray(s->others, host, sizeof(*s->others));
		memset(s->others + n, 0, (host - n) * sizeof(*s->others));
		s->n_others = host;
	}
	if (s->others[host - 1] == NULL) {
		s->others[host - 1] = states_new(s->span, s->arg);
		s->others[host - 1]->ids = s->ids;
		s->others[host - 1]->host = host;
		s->others[host - 1]->sieve = s->sieve;
		states_window(s->others[host - 1], s->from, s->to);
	}
	return s->others[host - 1];
}

uint32_t
states_feed(struct states *s, const struct tnf_event *ev)
{
	struct thread *self, *t;
	unsigned host = tnf_file_host(ev->file);

	if (host != s->host)
		return states_feed(states_of_host(s, host), ev);
	const struct meaning *m = meaning_of(s, ev->probe);

	s->last = ev->time;
	if (!ev->kernel || (self = states_writer(s, ev->tid)) == NULL)
		return 0;
	states_identify(s, self, ev);
	has_cpu(s, self, ev);
	if ((t = subject_of(s, m, self, ev)) == NULL)
		return self->id;
	switch (m->what) {
	case W_STATE:
		state_event(s, m, t, ev);
		break;
	case W_CREATE:
		begin_thread(s, t, ev->time);
		break;
	case W_SYSTEM:
	case W_USER:
		self->interrupts = 0;	/* the end of one may have been lost */
		states_enter(s, self, m->what == W_SYSTEM ? SYSTEM : USER, ev->time);
		break;
	case W_INTERRUPT:
		interrupt_begins(s, self, ev->time);
		break;
	case W_RESUME:
		interrupt_ends(s, self, ev->time);
		break;
	case W_EXIT:
		end_thread(s, self, ev->time);
		break;
	default:
		break;
	}
	return self->id;
}

void
states_choose(struct states *s, const struct tnf_event *ev)
{
	unsigned host = tnf_file_host(ev->file);
	struct thread *t;

	if (host != s->host)
		s = states_of_host(s, host);
	if (!s->sieve || !ev->kernel || (t = states_writer(s, ev->tid)) == NULL || t->chosen)
		return;
	t->chosen = true;
	release_held(s, t);
}

void
states_forget(struct states *s)
{
	for (struct thread *t = s->first; t != NULL; t = t->next)
		states_leave(s, t, s->last);
}

bool
states_now(const struct states *s, uint64_t tid, struct state_span *ret)
{
	const struct thread *t = tnf_map_get(&s->threads, &tid, sizeof(tid));

	if (t == NULL || !t->known)
		return false;
	states_span_of(t, ret);
	return true;
}

void
states_end(struct states *s)
{
	if (s == NULL)
		return;
	for (struct thread *t = s->first; t != NULL; t = t->next) {
		states_leave(s, t, s->last);
		release_held(s, t);
	}
	for (unsigned i = 0; i < s->n_others; i++)
		states_end(s->others[i]);
	free(s->others);
	tnf_map_free(&s->threads);
	free(s->meaning.base);
	free(s);
}
