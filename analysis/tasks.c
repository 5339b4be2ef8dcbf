/*
 * tasks.c - the processes and threads seen so far.
 */
#include <stdlib.h>

#include "analysis/tasks.h"
#include "common/xalloc.h"

#define BUCKETS	(1u << 12)

struct task {
	struct task	*next;
	uint64_t	 key;
};

struct tasks {
	struct task	*bucket[BUCKETS];
	uint64_t	 last;		/* most events come from the thread before */
	bool		 any;
};

struct tasks *
tasks_new(void)
{
	return xcalloc(1, sizeof(struct tasks));
}

void
tasks_free(struct tasks *t)
{
	struct task *k, *next;

	if (t == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (k = t->bucket[i]; k != NULL; k = next) {
			next = k->next;
			free(k);
		}
	free(t);
}

/* true: was not there. */
static bool
tasks_insert(struct tasks *t, uint64_t key)
{
	struct task **at = &t->bucket[(key ^ key >> 32) % BUCKETS], *k;

	for (; (k = *at) != NULL; at = &k->next)
		if (k->key == key)
			return false;
	*at = xcalloc(1, sizeof(*k));
	(*at)->key = key;
	return true;
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
	/* Processes share the table; no thread has this number. */
	if (fresh != 0 && tasks_insert(t, (key & ~0xffffffffull) | 0xffffffffu))
		fresh |= TASK_NEW_PROCESS;
	return fresh;
}
