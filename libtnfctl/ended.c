/*
 * ended.c - names of threads that have ended while we held the process.
 *
 * Only the kernel knows the name of a thread, and forgets it when the thread is
 * gone.  But a traced thread remains a zombie until its tracer has waited for it:
 * until then we can read its name.
 */
#include <stdlib.h>

#include "common/proc-status.h"
#include "libtnfctl/ended.h"

#define ENDED_MAX	8192u	/* the latest */

void
tnfctl_ended_note(struct ended *e, pid_t pid, pid_t tid)
{
	tnfctl_ended_t t = { .tid = tid };
	ssize_t n = tnf_proc_file(t.name, sizeof(t.name), "/proc/%d/task/%d/comm", (int)pid,
	    (int)tid);
	long inner;

	if (n <= 0)
		return;
	t.name[t.name[n - 1] == '\n' ? n - 1 : n] = '\0';
	if ((inner = tnf_thread_status_last(pid, tid, "NSpid")) > 0)
		t.inner = (pid_t)inner;
	if (e->threads == NULL &&
	    (e->threads = calloc(ENDED_MAX, sizeof(*e->threads))) == NULL)
		return;
	e->threads[e->next] = t;
	e->next = (e->next + 1) % ENDED_MAX;
	if (e->n < ENDED_MAX)
		e->n++;
}

size_t
tnfctl_ended_fill(const struct ended *e, tnfctl_ended_t *ret, size_t room)
{
	size_t i, n = e->n < room ? e->n : room;

	for (i = 0; i < n; i++)
		ret[i] = e->threads[(e->next + ENDED_MAX - n + i) % ENDED_MAX];
	return e->n;
}

void
tnfctl_ended_free(struct ended *e)
{
	free(e->threads);
	*e = (struct ended){ .n = 0 };
}
