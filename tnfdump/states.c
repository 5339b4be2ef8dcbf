/*
 * states.c - in which microstate each thread was, and for how long.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfdump/perprobe.h"
#include "tnfdump/pretty-names.h"
#include "tnfdump/states.h"

#define BUCKETS	(1u << 12)
#define USER	0u
#define SYSTEM	1u

enum what { W_UNKNOWN, W_NONE, W_STATE, W_EXIT, W_SYSTEM, W_USER };

/* What a probe says about states; found once for each probe. */
struct meaning {
	enum what what;
	int	  tid;		/* index of the member, -1: the writing thread */
	int	  state;
};

struct thread {
	struct thread	*next;
	uint64_t	 tid;
	int32_t		 pid;
	uint32_t	 lwpid;
	bool		 known;		/* state and since are set */
	unsigned	 state;
	int64_t		 since;
};

struct states {
	state_span_fn	*span;
	void		*arg;
	struct thread	*bucket[BUCKETS];
	size_t		 n_threads;
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
	struct states *s = xcalloc(1, sizeof(*s));

	s->span = span;
	s->arg = arg;
	return s;
}

static struct meaning
find_meaning(const struct tnf_probe *p)
{
	struct meaning m = { W_NONE, -1, -1 };

	if (strcmp(p->name, "thread_state") == 0) {
		m.tid = perprobe_member(p, "tid");
		m.state = perprobe_member(p, "state");
		if (m.state >= 0)
			m.what = W_STATE;
	} else if (strcmp(p->name, "thread_exit") == 0)
		m.what = W_EXIT;
	else if (strcmp(p->name, "syscall_start") == 0)
		m.what = W_SYSTEM;
	else if (strcmp(p->name, "syscall_end") == 0)
		m.what = W_USER;
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

static struct thread *
thread_of(struct states *s, uint64_t tid)
{
	struct thread **at = &s->bucket[(tid >> 6) % BUCKETS], *t;

	for (; (t = *at) != NULL; at = &t->next)
		if (t->tid == tid)
			return t;
	if (s->n_threads >= STATES_THREADS_MAX)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->tid = tid;
	*at = t;
	s->n_threads++;
	return t;
}

static void
leave(struct states *s, struct thread *t, int64_t now)
{
	struct state_span span = { t->tid, t->pid, t->lwpid, t->state,
	    t->since, now - t->since };

	if (t->known && now >= t->since)
		s->span(s->arg, &span);
	t->known = false;
}

static void
enter(struct states *s, struct thread *t, unsigned state, int64_t now)
{
	if (t->known && t->state == state)
		return;
	leave(s, t, now);
	t->known = true;
	t->state = state;
	t->since = now;
}

static void
state_event(struct states *s, const struct meaning *m, struct thread *self,
    const struct tnf_event *ev)
{
	struct tnf_value v;
	struct thread *t = self;

	if (m->tid >= 0) {
		if (!tnf_event_value(ev, (unsigned)m->tid, &v))
			return;
		t = thread_of(s, v.u.u);
	}
	if (t != NULL && tnf_event_value(ev, (unsigned)m->state, &v) &&
	    v.u.i >= 0 && v.u.i < STATES_COUNT)
		enter(s, t, (unsigned)v.u.i, ev->time);
}

void
states_feed(struct states *s, const struct tnf_event *ev)
{
	const struct meaning *m = meaning_of(s, ev->probe);
	struct thread *self;

	s->last = ev->time;
	if (!ev->kernel || (self = thread_of(s, ev->tid)) == NULL)
		return;
	if (self->lwpid != ev->lwpid) {		/* new, or the address was reused */
		if (self->lwpid != 0)
			leave(s, self, ev->time);
		self->pid = ev->pid;
		self->lwpid = ev->lwpid;
	}
	switch (m->what) {
	case W_STATE:
		state_event(s, m, self, ev);
		break;
	case W_SYSTEM:
		enter(s, self, SYSTEM, ev->time);
		break;
	case W_USER:
		enter(s, self, USER, ev->time);
		break;
	case W_EXIT:
		leave(s, self, ev->time);
		break;
	default:
		break;
	}
}

void
states_end(struct states *s)
{
	struct thread *t, *next;

	if (s == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (t = s->bucket[i]; t != NULL; t = next) {
			next = t->next;
			leave(s, t, s->last);
			free(t);
		}
	free(s->meaning.base);
	free(s);
}
