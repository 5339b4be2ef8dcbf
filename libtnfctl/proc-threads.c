/*
 * proc-threads.c - the threads of a process that we hold, and how they are taken.
 */
#include <setjmp.h>

#include "libtnfctl/proc.h"

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
	p->runs = (uint64_t)clock_ns(CLOCK_MONOTONIC);
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
tnfctl_proc_thread_add_foreign(struct proc *p, pid_t child, const struct plant *plant)
{
	struct thread *t = tnfctl_proc_thread_add(p, child);

	if (t == NULL)
		return;
	t->foreign = true;
	t->plant = *plant;
}

void
tnfctl_proc_thread_drop(struct proc *p, struct thread *t)
{
	pid_t child = t->event == PROC_FORK ? t->child : 0;
	struct plant plant = t->plant;
	size_t *place;

	tnf_map_remove(&p->place, &t->tid, sizeof(t->tid));
	*t = p->threads[--p->n];
	/* The last one takes the place, unless it was the last itself. */
	place = tnf_map_get(&p->place, &t->tid, sizeof(t->tid));
	if (place != NULL)
		*place = (size_t)(t - p->threads);
	if (child != 0)
		tnfctl_proc_thread_add_foreign(p, child, &plant);
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
	    (p->follow || p->plant.there ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
}

bool
tnfctl_proc_is_dead(const struct proc *p, pid_t tid)
{
	char state = tnfctl_proc_state(p->pid, tid);

	return state == 'Z' || state == 'X' || state == 0;
}

/* True if this thread of ours traces it. */
static bool
is_ours(pid_t tid)
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
		if (is_ours(tid) && (t = tnfctl_proc_thread_add(p, tid)) != NULL)
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

/*
 * While a thread of a process is in an exec(), PTRACE_SEIZE waits for it (the kernel's
 * cred_guard_mutex).  That thread waits until those whom its exec() has ended are reaped, and
 * of a traced thread only the tracer can do that: we, who wait.  So a timer sends this
 * thread a signal, which gets it out of the call, and then it reaps.  The kernel would begin
 * the call anew when the handler has returned; so the handler leaves by siglongjmp(3).
 */
#define MOMENT_NS	20000000
#define SEIZE_TRIES	3

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

static __thread sigjmp_buf *volatile way_out;	/* NULL: not in the call */

static void
on_moment(int sig)
{
	sigjmp_buf *out = way_out;

	way_out = NULL;
	if (out != NULL)
		siglongjmp(*out, 1);
}

/* A signal that our client has no use for, with our handler; 0: there is none. */
static int
moment_signal(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction ours = { .sa_handler = on_moment }, now;
	int sig;

	pthread_mutex_lock(&lock);
	for (sig = SIGRTMAX; sig >= SIGRTMIN; sig--)
		if (sigaction(sig, NULL, &now) == 0 && (now.sa_handler == on_moment ||
		    (now.sa_handler == SIG_DFL && sigaction(sig, &ours, NULL) == 0)))
			break;
	pthread_mutex_unlock(&lock);
	return sig >= SIGRTMIN ? sig : 0;
}

/* After EINTR it may have been taken all the same. */
static int
seize_or_jump(const struct proc *p, pid_t tid, unsigned int options)
{
	const struct itimerspec soon = { .it_value.tv_nsec = MOMENT_NS }, never = { 0 };
	sigjmp_buf out;
	sigset_t set, mask;
	int error;

	sigemptyset(&set);
	sigaddset(&set, p->moment_signal);
	if (sigsetjmp(out, 1) != 0)
		return EINTR;
	way_out = &out;
	timer_settime(p->moment, 0, &soon, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, &mask);
	error = ptrace(PTRACE_SEIZE, tid, NULL, (uintptr_t)options) < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	way_out = NULL;
	timer_settime(p->moment, 0, &never, NULL);
	return error;
}

static int
seize_briefly(const struct proc *p, pid_t tid, unsigned int options)
{
	if (p->moment_signal != 0)
		return seize_or_jump(p, tid, options);
	return ptrace(PTRACE_SEIZE, tid, NULL, (uintptr_t)options) < 0 ? errno : 0;
}

static void
seize_begin(struct proc *p)
{
	int sig = moment_signal();
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };

	event.sigev_notify_thread_id = gettid();
	if (sig != 0 && timer_create(CLOCK_MONOTONIC, &event, &p->moment) == 0)
		p->moment_signal = sig;
}

/* A signal that came too late waits, blocked, and must not find our client. */
static void
seize_end(struct proc *p)
{
	const struct timespec now = { 0 };
	sigset_t set;

	if (p->moment_signal == 0)
		return;
	timer_delete(p->moment);
	sigemptyset(&set);
	sigaddset(&set, p->moment_signal);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	p->moment_signal = 0;
}

/* 0, or an errno; EAGAIN: it may be otherwise by now.  In an exec() the leader dies and
   another thread gets its number: who is refused for the one may get the other. */
static int
seize_once(struct proc *p, pid_t tid, unsigned int options, unsigned int *refusals)
{
	int error = seize_briefly(p, tid, options);

	/* It may have been cloned by a thread that we trace, and PTRACE_O_TRACECLONE has
	   attached it for us. */
	if ((error == EINTR || error == EPERM) && is_ours(tid))
		return 0;
	if (error == EINTR) {
		tnfctl_proc_reap(p);
		return tnfctl_proc_is_late(p) ? ETIMEDOUT : EAGAIN;
	}
	if (error == EPERM && tnfctl_proc_is_dead(p, tid))
		return ESRCH;
	return error == EPERM && ++*refusals < SEIZE_TRIES ? EAGAIN : error;
}

/* 0, also if it is dead; or an errno, ETIMEDOUT if it is late for the process. */
static int
seize(struct proc *p, pid_t tid)
{
	unsigned int options = tnfctl_proc_options(p), refusals = 0;
	struct thread *t;
	int error;

	do
		error = seize_once(p, tid, options, &refusals);
	while (error == EAGAIN && !p->gone);
	if (error == ESRCH || p->gone)
		return 0;
	if (error != 0)
		return error;
	if ((t = tnfctl_proc_thread_add(p, tid)) == NULL)
		return ENOMEM;
	t->options = options;
	return 0;
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
		error = seize(p, tid);
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
	seize_begin(p);
	error = take_threads(p);
	seize_end(p);
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
