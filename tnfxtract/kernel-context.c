/*
 * kernel-context.c - collects names from the running kernel for a copy of its buffer.
 *
 * A BPF program of the kernel part lists the living tasks, in some 1 us a task; /proc would
 * need three files for each process, and 20 us.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/map.h"
#include "kernel-probes/kernel_probes.h"
#include "libtnf/context-write.h"
#include "tnfxtract/snapshot.h"

static void
kernel_context_ended(void *arg, pid_t tid, pid_t pid, pid_t ppid, const char *comm)
{
	context_ended(arg, tid, pid, ppid, comm);
}

static void
kernel_context_renamed(void *arg, pid_t tid, int64_t time, const char *comm)
{
	context_renamed(arg, tid, time, comm);
}

static void
kernel_context_ran(void *arg, pid_t pid, int64_t time, const char *path)
{
	context_ran(arg, pid, time, path);
}

static void
kernel_context_value_names(void *arg, const char *probe, const char *member, const char *names)
{
	char word[300];

	snprintf(word, sizeof word, "values:%s:%s", probe, member);
	context_fact(arg, word, names);
}

static void
kernel_context_living(struct context_writer *w, const struct kp_task *living, size_t n)
{
	struct context_task *t = calloc(n + 1, sizeof *t);

	for (size_t i = 0; t != NULL && i < n; i++)
		t[i] = (struct context_task){ .tid = living[i].tid, .pid = living[i].pid,
		    .ppid = living[i].ppid, .flags = living[i].flags,
		    .groups = living[i].groups, .comm = living[i].comm };
	if (t != NULL)
		context_tasks_told(w, t, n);
	free(t);
}

/* True if events have addresses of programs.  Samples have, and those with the program's stack. */
static bool
has_user_stacks(struct kp *kp)
{
	struct kp_probe p;

	for (int id = 1; id <= kp_probe_count(kp); id++)
		if (kp_probe_get(kp, id, &p) == 0 && p.enabled &&
		    (strncmp(p.attrs, "name sample;", 12) == 0 ||
		    strstr(p.attrs, ";ustack ") != NULL))
			return true;
	return false;
}

struct mapped_call {
	struct context_writer *w;
	const struct kp_task *living;
	size_t n;
};

COMPARE_BY(by_tid, struct kp_task, tid)

static void
kernel_context_mapped(void *arg, const struct kp_mapped *m)
{
	const struct mapped_call *c = arg;
	const struct kp_task key = { .tid = m->pid };

	if (bsearch(&key, c->living, c->n, sizeof key, by_tid) == NULL)
		context_mapped(c->w, &(struct context_mapped){ .pid = m->pid, .start = m->start,
		    .end = m->end, .offset = m->offset, .main = m->main, .inode = m->inode,
		    .device = m->device, .path = m->path });
}

/* Tells which files lie at addresses of programs: of the processes that live, by /proc; of those
   that have ended, as the kernel part remembers them. */
static void
kernel_context_programs(struct kp *kp, struct context_writer *w, const struct kp_task *living,
    size_t n)
{
	struct mapped_call call = { w, living, n };

	if (!has_user_stacks(kp))
		return;
	kp_objects(kp, kernel_context_mapped, &call);
	for (size_t i = 0; i < n; i++)
		if (living[i].tid == living[i].pid)
			context_objects(w, living[i].pid);
}

static void
kernel_context_frozen(struct kp *kp, struct context_writer *w)
{
	char why[512], text[sizeof why + 24];
	int64_t time;

	if (!kp_frozen(kp, &time, why, sizeof why))
		return;
	snprintf(text, sizeof text, "%" PRId64 " %s", time, why);
	context_fact(w, "frozen", text);
}

void
kernel_context(struct kp *kp, struct context_writer *w)
{
	struct kp_task *living = NULL;
	size_t n = 0;

	context_devices(w);
	kernel_context_frozen(kp, w);
	if (kp_tasks(kp, &living, &n) == 0) {
		kernel_context_living(w, living, n);
		kernel_context_programs(kp, w, living, n);
	} else
		context_tasks(w, 0);
	kp_ended(kp, living, n, kernel_context_ended, w);
	kp_renamed(kp, kernel_context_renamed, w);
	kp_ran(kp, kernel_context_ran, w);
	kp_value_names(kp, kernel_context_value_names, w);
	free(living);
}
