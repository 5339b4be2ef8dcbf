/*
 * tasks.c - the processes and threads seen so far, and sets of pairs of numbers.
 */
#include "analysis/tasks.h"
#include "common/map.h"
#include "common/xalloc.h"

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
