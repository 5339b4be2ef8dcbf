/*
 * proc-threads.c - the threads of a process that we hold, and how they are taken.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/proc-status.h"
#include "libtnfctl/proc-impl.h"

#define THREADS_MAX	(1u << 18)
#define ROUNDS_MAX	1000		/* in which new threads keep coming */

static bool
proc_threads_read(void *arg, uintptr_t address, void *buf, size_t n)
{
	return tnfctl_proc_read(arg, address, buf, n);
}

struct proc *
tnfctl_proc_new(pid_t pid, bool ours)
{
	struct proc *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->pid = pid;
	p->ours = ours;
	p->mem = -1;
	p->reader = (struct reader){ pid, proc_threads_read, p };
	tnf_map_init(&p->place, sizeof(size_t));
	return p;
}

void
tnfctl_proc_free(struct proc *p)
{
	if (p == NULL)
		return;
	if (p->mem >= 0)
		close(p->mem);
	tnf_map_free(&p->place);
	free(p->threads);
	tnfctl_ended_free(&p->ended);
	free(p);
}

struct thread *
tnfctl_proc_thread(struct proc *p, pid_t tid)
{
	const size_t *place = tnf_map_get(&p->place, &tid, sizeof(tid));

	return place != NULL ? &p->threads[*place] : NULL;
}

struct thread *
tnfctl_proc_thread_add(struct proc *p, pid_t tid)
{
	struct thread *t = tnfctl_proc_thread(p, tid), *grown;
	size_t room, *place;

	if (t != NULL)
		return t;
	if (p->n == p->room) {
		room = p->room ? p->room * 2 : 16;
		if (room > THREADS_MAX || (grown = realloc(p->threads,
		    room * sizeof(*grown))) == NULL)
			return NULL;
		p->threads = grown;
		p->room = room;
	}
	if ((place = tnf_map_put(&p->place, &tid, sizeof(tid), NULL)) == NULL)
		return NULL;
	*place = p->n++;
	t = &p->threads[*place];
	*t = (struct thread){ .tid = tid };
	return t;
}

void
tnfctl_proc_thread_add_foreign(struct proc *p, pid_t child)
{
	struct thread *t = tnfctl_proc_thread_add(p, child);

	if (t != NULL)
		t->foreign = true;
}

void
tnfctl_proc_thread_drop(struct proc *p, struct thread *t)
{
	pid_t child = t->event == PROC_FORK ? t->child : 0;
	size_t *place;

	tnf_map_remove(&p->place, &t->tid, sizeof(t->tid));
	*t = p->threads[--p->n];
	/* The last one takes the place, unless it was the last itself. */
	place = tnf_map_get(&p->place, &t->tid, sizeof(t->tid));
	if (place != NULL)
		*place = (size_t)(t - p->threads);
	if (child != 0)
		tnfctl_proc_thread_add_foreign(p, child);
}

void
tnfctl_proc_threads_drop(struct proc *p)
{
	for (size_t i = p->n; i-- > 0; )
		if (!p->threads[i].foreign)
			tnfctl_proc_thread_drop(p, &p->threads[i]);
}

unsigned int
tnfctl_proc_options(const struct proc *p)
{
	return PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	    PTRACE_O_TRACESYSGOOD |
	    (p->ours ? PTRACE_O_EXITKILL : 0) |
	    (p->follow ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
}

bool
tnfctl_proc_is_dead(const struct proc *p, pid_t tid)
{
	char state = tnfctl_proc_state(p->pid, tid);

	return state == 'Z' || state == 'X' || state == 0;
}

bool
tnfctl_proc_is_ours(pid_t tid)
{
	return tnf_proc_status(tid, "TracerPid") == (long)gettid();
}

static DIR *
open_tasks(const struct proc *p)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/task", (int)p->pid);
	return opendir(name);
}

/* The next thread that is not in the list; 0: no more. */
static pid_t
next_unknown(struct proc *p, DIR *dir)
{
	struct dirent *e;
	pid_t tid;

	while ((e = readdir(dir)) != NULL)
		if ((tid = (pid_t)strtol(e->d_name, NULL, 10)) > 0 &&
		    tnfctl_proc_thread(p, tid) == NULL)
			return tid;
	return 0;
}

/* The kernel has attached them for us at their birth. */
static void
find_born(struct proc *p)
{
	DIR *dir = open_tasks(p);
	struct thread *t;
	pid_t tid;

	if (dir == NULL)
		return;
	while ((tid = next_unknown(p, dir)) != 0)
		if (tnfctl_proc_is_ours(tid) && (t = tnfctl_proc_thread_add(p, tid)) != NULL)
			t->options = tnfctl_proc_options(p);
	closedir(dir);
}

void
tnfctl_proc_reap(struct proc *p)
{
	find_born(p);
	for (size_t i = p->n; i-- > 0; )
		if (i < p->n && !p->threads[i].foreign &&
		    tnfctl_proc_is_dead(p, p->threads[i].tid)) {
			p->threads[i].stopped = false;
			tnfctl_proc_take(p, p->threads[i].tid);
		}
}

/* One pass over /proc/PID/task. */
static int
seize_new(struct proc *p, bool *ret_found)
{
	int error = 0;
	pid_t tid;
	DIR *dir;

	*ret_found = false;
	if ((dir = open_tasks(p)) == NULL)
		return errno == ENOENT ? ESRCH : errno;
	while (error == 0 && (tid = next_unknown(p, dir)) != 0) {
		error = tnfctl_seize(p, tid);
		*ret_found |= error == 0 && tnfctl_proc_thread(p, tid) != NULL;
	}
	closedir(dir);
	return error;
}

static int
take_threads(struct proc *p)
{
	int error, rounds = 0;
	bool found;

	/* Take first, stop then: it stands still for as short as can be. */
	do {
		if ((error = seize_new(p, &found)) != 0)
			break;
		if (!found || rounds > 0)
			tnfctl_proc_stop(p);
		if (tnfctl_proc_is_late(p))
			error = ETIMEDOUT;
	} while (error == 0 && (found || (p->n == 0 && !tnfctl_proc_is_dead(p, p->pid))) &&
	    rounds++ < ROUNDS_MAX && !p->gone);
	return error;
}

tnfctl_errcode_t
tnfctl_proc_attach(struct proc *p)
{
	int error;

	p->child = !p->ours && tnf_proc_status(p->pid, "PPid") == (long)getpid();
	tnfctl_seize_begin(p);
	error = take_threads(p);
	tnfctl_seize_end(p);
	if (error == ETIMEDOUT)
		return tnfctl_proc_late(p);
	if (error == 0 && p->n > 0 && !p->gone)
		return tnfctl_proc_open_memory(p);
	if (error != 0)
		return tnfctl_error_set_errno(error, "process %d", (int)p->pid);
	return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
	    (int)p->pid);
}

tnfctl_errcode_t
tnfctl_proc_adopt(struct proc *p)
{
	struct thread *t = tnfctl_proc_thread_add(p, p->pid);

	if (t == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	t->options = tnfctl_proc_options(p);
	t->asked = true;
	tnfctl_proc_stop(p);
	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
		    (int)p->pid);
	return tnfctl_proc_open_memory(p);
}
