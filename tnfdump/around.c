/*
 * around.c - the operation and the system call in which the thread of each event is.
 */
#include "analysis/pretty-names.h"
#include "common/map.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"

#define DEPTH_MAX	32u	/* operations in each other; more are not told apart */

static const struct around nothing;

/* The actions of a thread. */
struct doing {
	const char *operations[DEPTH_MAX];
	unsigned    depth;
	const char *syscall;
};

struct around_run {
	tnf_stream_t	*stream;
	struct pairs	*pairs;
	struct map	 threads;	/* struct doing, by machine and thread */
	struct map	 numbers;	/* texts of system calls without a name; a set */
	struct map	 seen;		/* struct around; a set */
	const struct around *now;
};

void
around_want(struct dump *d)
{
	if (d->around != NULL)
		return;
	d->around = tnf_xcalloc(1, sizeof(*d->around));
	tnf_map_init(&d->around->threads, sizeof(struct doing));
	d->around->now = &nothing;
}

static void
around_begin(struct around_run *r, struct dump *d)
{
	tnf_map_free(&r->threads);
	pairs_free(r->pairs);
	r->stream = d->stream;
	r->pairs = pairs_copy_rules(d->pairs);
	pairs_of(r->pairs, d->stream);
	if (d->follow == NULL)
		pairs_complete(r->pairs);
}

/* The name of the system call that the event begins, or its number; NULL: it tells none. */
static const char *
call_of(struct around_run *r, const struct tnf_event *ev)
{
	struct tnf_value v;
	const char *name;
	char text[24];

	if (!member_value(ev, "sysnum", &v) || v.kind == TNF_K_STRING)
		return NULL;
	name = pretty_event_name(ev, v.type, "sysnum", v.u.i);
	if (name != NULL)
		return name;
	int n = snprintf(text, sizeof(text), "%" PRId64, v.u.i);
	return tnf_map_key(&r->numbers, tnf_xmap_put(&r->numbers, text, (size_t)n + 1, NULL));
}

static void
around_leave(struct doing *t, const char *name)
{
	unsigned i = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;

	/* Operations that began within the one that ends, and have no end, are over, too. */
	while (i > 0 && t->operations[i - 1] != name)
		i--;
	if (i > 0)
		t->depth = i - 1;
}

static void
around_note(struct around_run *r, const struct doing *t)
{
	unsigned depth = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
	struct around now = { depth > 0 ? t->operations[depth - 1] : NULL, t->syscall };

	r->now = tnf_map_key(&r->seen, tnf_xmap_put(&r->seen, &now, sizeof(now), NULL));
}

void
around_feed(struct dump *d, const struct tnf_event *ev)
{
	struct around_run *r = d->around;
	struct { uint32_t host, lwpid; } key;
	struct pair_slice slice;
	int32_t pid;

	if (r->stream != d->stream)
		around_begin(r, d);
	key.host = tnf_file_host(ev->file);
	origin_host(d, ev, &pid, &key.lwpid);
	struct doing *t = tnf_xmap_put(&r->threads, &key, sizeof(key), NULL);
	enum pair_role role = pairs_feed(r->pairs, ev, KEEP_ALL, &slice);
	bool nests = role != PAIR_NONE && slice.rule != NULL && !slice.rule->async;
	bool call = nests && ev->kernel && strcmp(slice.name, "syscall") == 0;

	if (call && role == PAIR_START)
		t->syscall = call_of(r, ev);
	if (nests && !ev->kernel && role == PAIR_END)
		around_leave(t, slice.name);
	around_note(r, t);
	if (call && role == PAIR_END)
		t->syscall = NULL;
	if (nests && !ev->kernel && role == PAIR_START && t->depth++ < DEPTH_MAX)
		t->operations[t->depth - 1] = slice.name;
}

const struct around *
around_now(const struct dump *d)
{
	/* With --reverse, events are put out after all have been shown. */
	return d->around == NULL || d->reverse != NULL ? &nothing : d->around->now;
}

void
around_recall(struct dump *d, const struct around *what)
{
	if (d->around != NULL)
		d->around->now = what;
}

void
around_free(struct dump *d)
{
	if (d->around == NULL)
		return;
	pairs_free(d->around->pairs);
	tnf_map_free(&d->around->threads);
	tnf_map_free(&d->around->numbers);
	tnf_map_free(&d->around->seen);
	free(d->around);
	d->around = NULL;
}

/*
 * The span of OpenTelemetry in which each thread is.
 */
struct current {
	struct map threads;	/* struct current_span by struct thread_key */
	char	trace[33], span[33];
};

struct thread_key {
	uint32_t host, lwpid;	/* of the machine */
	int64_t	 pid;
};

bool
current_is_told(const struct tnf_event *ev)
{
	return ev->probe->n_members == 3 && !ev->kernel && strcmp(ev->probe->name, "otel_context") == 0;
}

static struct current *
current_room(struct dump *d)
{
	if (d->current == NULL) {
		d->current = tnf_xcalloc(1, sizeof(*d->current));
		tnf_map_init(&d->current->threads, sizeof(struct current_span));
	}
	return d->current;
}

static struct thread_key
key_of(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key = { tnf_file_host(ev->file), 0, 0 };
	int32_t pid;

	origin_host(d, ev, &pid, &key.lwpid);
	key.pid = pid;
	return key;
}

void
current_feed(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key;
	struct current_span *now;
	struct tnf_value v[3];

	for (unsigned i = 0; i < 3; i++)
		if (!tnf_event_value(ev, i, &v[i]) || v[i].kind != TNF_K_UINT64)
			return;
	key = key_of(d, ev);
	now = tnf_xmap_put(&current_room(d)->threads, &key, sizeof(key), NULL);
	*now = (struct current_span){ { v[0].u.u, v[1].u.u }, v[2].u.u };
}

const struct current_span *
current_of(struct dump *d, const struct tnf_event *ev)
{
	const struct current_span *now;
	struct thread_key key;

	/* With --reverse, events are put out after all have been shown. */
	if (d->current == NULL || d->reverse != NULL)
		return NULL;
	key = key_of(d, ev);
	now = tnf_map_get(&d->current->threads, &key, sizeof(key));
	return now != NULL && now->span != 0 ? now : NULL;
}

/* Copies the text of the event's own member; false: it has none. */
static bool
own_text(const struct tnf_event *ev, const char *member, char text[33])
{
	struct tnf_value v;

	if (!member_value(ev, member, &v) || v.kind != TNF_K_STRING || v.u.s.len > 32)
		return false;
	snprintf(text, 33, "%.*s", (int)v.u.s.len, v.u.s.chars);
	return true;
}

const char *
current_trace(struct dump *d, const struct tnf_event *ev)
{
	char *text = current_room(d)->trace;
	const struct current_span *now;

	if (own_text(ev, "trace", text))
		return text;
	if ((now = current_of(d, ev)) == NULL)
		return NULL;
	snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, now->trace[0], now->trace[1]);
	return text;
}

const char *
current_id(struct dump *d, const struct tnf_event *ev)
{
	char *text = current_room(d)->span;
	const struct current_span *now;

	if (own_text(ev, "span", text))
		return text;
	if ((now = current_of(d, ev)) == NULL)
		return NULL;
	snprintf(text, 33, "%016" PRIx64, now->span);
	return text;
}

void
current_free(struct dump *d)
{
	if (d->current != NULL)
		tnf_map_free(&d->current->threads);
	free(d->current);
	d->current = NULL;
}
