/*
 * names.c - names that streams and contexts know, and guesses at those that they do not.
 */
#include "analysis/attrs.h"
#include "analysis/names.h"
#include "common/text.h"

bool
stream_has_member(tnf_stream_t *s, const char *name)
{
	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		if (perprobe_member(tnf_stream_probe(s, i), name) >= 0)
			return true;
	return false;
}

bool
stream_has_probe(tnf_stream_t *s, const char *name)
{
	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		if (strcmp(tnf_stream_probe(s, i)->name, name) == 0)
			return true;
	return false;
}

bool
stream_probe_has(tnf_stream_t *s, const char *probe, const char *member)
{
	bool there = false;

	for (unsigned i = 0; i < tnf_stream_probes(s); i++) {
		const struct tnf_probe *p = tnf_stream_probe(s, i);
		if (strcmp(p->name, probe) != 0)
			continue;
		if (perprobe_member(p, member) >= 0)
			return true;
		there = true;
	}
	return !there;
}

/* Names to guess among, borrowed. */
struct name_list {
	const char **v;
	size_t	 n;
};

static void
name_list_add(struct name_list *l, const char *name)
{
	l->v = tnf_xgrow(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = name;
	l->v[l->n] = NULL;
}

/* The name in the list that is most like 'name'; frees the list. */
static const char *
name_list_guess(struct name_list *l, const char *name)
{
	const char *like = l->n > 0 ? tnf_word_guess(l->v, name) : NULL;

	free(l->v);
	return like;
}

const char *
stream_guess_member(tnf_stream_t *s, const char *name)
{
	struct name_list l = { 0 };

	for (unsigned i = 0; i < tnf_stream_probes(s); i++) {
		const struct tnf_probe *p = tnf_stream_probe(s, i);
		for (unsigned k = 0; k < p->n_members; k++)
			name_list_add(&l, p->members[k].name);
	}
	return name_list_guess(&l, name);
}

const char *
stream_guess_probe(tnf_stream_t *s, const char *name)
{
	struct name_list l = { 0 };

	for (unsigned i = 0; i < tnf_stream_probes(s); i++)
		name_list_add(&l, tnf_stream_probe(s, i)->name);
	return name_list_guess(&l, name);
}

bool
task_names_thread(const tnf_context_t *const *c, size_t n, const struct selector *s)
{
	size_t n_tasks;

	for (size_t i = 0; i < n; i++) {
		const struct tnf_context_task *t = tnf_context_tasks(c[i], &n_tasks);
		for (size_t k = 0; t != NULL && k < n_tasks; k++)
			if (t[k].tid != t[k].pid && (s->numbers.n == 0 ?
			    match_glob(s->text, t[k].comm) :
			    ranges_has(&s->numbers, (uint64_t)t[k].tid)))
				return true;
	}
	return false;
}

const char *
task_names_guess(const tnf_context_t *const *c, size_t n, const char *name, bool threads)
{
	struct name_list l = { 0 };
	size_t n_tasks;

	for (size_t i = 0; i < n; i++) {
		const struct tnf_context_task *t = tnf_context_tasks(c[i], &n_tasks);
		for (size_t k = 0; t != NULL && k < n_tasks; k++)
			if (threads || t[k].tid == t[k].pid)
				name_list_add(&l, t[k].comm);
	}
	return name_list_guess(&l, name);
}

/*
 * The processes and threads seen so far, and sets of pairs of numbers.
 */
struct tasks {
	struct map	 seen;		/* no values */
	uint64_t	 last;		/* last thread: mostly the next event's, too */
	bool		 any;
};

struct tasks *
tasks_new(void)
{
	struct tasks *t = tnf_xcalloc(1, sizeof(*t));

	tnf_map_init(&t->seen, 0);
	return t;
}

void
tasks_free(struct tasks *t)
{
	if (t == NULL)
		return;
	tnf_map_free(&t->seen);
	free(t);
}

/* Returns true if the key was not there. */
static bool
tasks_insert(struct tasks *t, uint64_t key)
{
	bool fresh;

	tnf_xmap_put(&t->seen, &key, sizeof(key), &fresh);
	return fresh;
}

unsigned
tasks_seen(struct tasks *t, const struct tnf_event *ev)
{
	uint64_t key = (uint64_t)(uint32_t)ev->pid << 32 | ev->lwpid;
	unsigned fresh = 0;

	if (t->any && t->last == key)
		return 0;
	t->any = true;
	t->last = key;
	if (tasks_insert(t, key))
		fresh |= TASK_NEW_THREAD;
	/* Processes are in the same table, with a thread number that no thread has. */
	if (fresh != 0 && tasks_insert(t, (key & ~0xffffffffull) | 0xffffffffu))
		fresh |= TASK_NEW_PROCESS;
	return fresh;
}

void
idset_add(struct idset *s, uint64_t a, uint64_t b)
{
	if (s->map.n > 0 && s->last[0] == a && s->last[1] == b)
		return;
	s->last[0] = a;
	s->last[1] = b;
	tnf_xmap_put(&s->map, s->last, sizeof(s->last), NULL);
}

size_t
idset_count(const struct idset *s)
{
	return s->map.n;
}

void
idset_free(struct idset *s)
{
	tnf_map_free(&s->map);
}
