/*
 * proc.c - hold a process still, look inside, let it go.
 *
 * ptrace(2) knows threads, not processes, and only the thread that took a
 * target's thread may give it orders.  A thread of the target is, for us,
 *
 * running	executes; all we can do is to ask it to stop
 * stopped	we asked, or something happened to it, and wait(2) has told us;
 *		then its registers and the memory can be read and written
 * absent	nothing will be told: it has exited but must stay for the sake of
 *		others, or it sleeps in the kernel where nothing wakes it and
 *		will stop before it comes back from there
 *
 * We take threads with PTRACE_SEIZE, which sends no signal: a system call that
 * is interrupted is restarted, and what the target knows of stopping is
 * nothing.  Threads that are born later come to us by themselves, stopped.
 *
 * A stop has a reason: we asked; a signal is about to be delivered, and is
 * passed on when the thread runs again; the process is in a job control stop,
 * and then stays in it (PTRACE_LISTEN); it forked, became another program, or
 * ended.  If we die the kernel lets everything go; nothing of ours is left in
 * the target, as we never write to its code.  A stop that has not been taken
 * from wait(2) keeps its signal: the kernel delivers it when the tracer dies.
 * So stops at signals are only looked at (WNOWAIT), and end when we pass the
 * signal on.  Exec handles are different, they
 * die with us, and so they may have breakpoint registers set, which would
 * otherwise outlive us and kill the target at the next hit.
 */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/proc-status.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/proc.h"

#define THREADS_MAX	(1u << 18)
#define ROUNDS_MAX	1000		/* in which new threads keep coming */
#define SEIZE_TRIES	3
#define PAUSE_NS	50000
#define ABSENT_PAUSES	400		/* 20 ms and more in the kernel: absent */
#define LEAVE_PAUSES	40000		/* 2 s for the absent to come back */

struct proc *
proc_new(pid_t pid, bool ours)
{
	struct proc *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->pid = pid;
	p->ours = ours;
	p->mem = -1;
	map_init(&p->place, sizeof(size_t));
	return p;
}

void
proc_free(struct proc *p)
{
	if (p == NULL)
		return;
	if (p->mem >= 0)
		close(p->mem);
	map_free(&p->place);
	free(p->threads);
	ended_free(&p->ended);
	free(p);
}

struct thread *
proc_thread(struct proc *p, pid_t tid)
{
	const size_t *place = map_get(&p->place, &tid, sizeof(tid));

	return place != NULL ? &p->threads[*place] : NULL;
}

static struct thread *
add_thread(struct proc *p, pid_t tid)
{
	struct thread *t = proc_thread(p, tid), *grown;
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
	if ((place = map_put(&p->place, &tid, sizeof(tid), NULL)) == NULL)
		return NULL;
	*place = p->n++;
	t = &p->threads[*place];
	*t = (struct thread){ .tid = tid };
	return t;
}

/* A child that is to run free: it stops at its birth, and must be let go. */
static void
add_foreign(struct proc *p, pid_t child)
{
	struct thread *t = add_thread(p, child);

	if (t != NULL)
		t->foreign = true;
}

static void
drop_thread(struct proc *p, struct thread *t)
{
	pid_t child = t->event == PROC_FORK ? t->child : 0;
	size_t *place;

	map_remove(&p->place, &t->tid, sizeof(t->tid));
	*t = p->threads[--p->n];
	/* The last one takes the place, unless it was the last itself. */
	place = map_get(&p->place, &t->tid, sizeof(t->tid));
	if (place != NULL)
		*place = (size_t)(t - p->threads);
	if (child != 0)
		add_foreign(p, child);
}

/* All that are the process's own. */
static void
drop_threads(struct proc *p)
{
	size_t i;

	for (i = p->n; i-- > 0; )
		if (!p->threads[i].foreign)
			drop_thread(p, &p->threads[i]);
}

static unsigned int
wanted_options(const struct proc *p)
{
	return PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	    PTRACE_O_TRACESYSGOOD |
	    (p->ours ? PTRACE_O_EXITKILL : 0) |
	    (p->follow ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
}

/* Was it cloned by a thread that we trace?  Then PTRACE_O_TRACECLONE has
   attached it for us. */
static bool
is_ours_already(pid_t tid)
{
	return proc_status(tid, "TracerPid") == (long)gettid();
}

/* Is there nobody (any more) under this number who could be taken? */
static bool
is_dead(const struct proc *p, pid_t tid)
{
	char state = proc_state(p->pid, tid);

	return state == 'Z' || state == 'X' || state == 0;
}

/*
 * 0: taken, or not there any more; else an errno.  In an exec() the leader dies
 * and another thread gets its number: who is refused for the one may get the
 * other.
 */
static int
proc_seize(struct proc *p, pid_t tid)
{
	unsigned int options = wanted_options(p), tries;
	struct thread *t;
	int error = 0;

	for (tries = 0; tries < SEIZE_TRIES; tries++) {
		error = ptrace(PTRACE_SEIZE, tid, NULL, (uintptr_t)options) < 0 ?
		    errno : 0;
		if (error == ESRCH)
			return 0;
		if (error != EPERM)
			break;
		if (is_ours_already(tid)) {
			error = 0;
			break;
		}
		if (is_dead(p, tid))
			return 0;
	}
	if (error != 0)
		return error;
	if ((t = add_thread(p, tid)) == NULL)
		return ENOMEM;
	t->options = options;
	return 0;
}

/* One pass over /proc/PID/task. */
static int
seize_new(struct proc *p, bool *ret_found)
{
	struct dirent *e;
	char name[64];
	int error = 0;
	pid_t tid;
	DIR *dir;

	*ret_found = false;
	snprintf(name, sizeof(name), "/proc/%d/task", (int)p->pid);
	if ((dir = opendir(name)) == NULL)
		return errno == ENOENT ? ESRCH : errno;
	while (error == 0 && (e = readdir(dir)) != NULL) {
		tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0 || proc_thread(p, tid) != NULL)
			continue;
		error = proc_seize(p, tid);
		*ret_found |= error == 0 && proc_thread(p, tid) != NULL;
	}
	closedir(dir);
	return error;
}

/* status: as of wait(2); -1: somebody else was told. */
static void
end_process(struct proc *p, int status)
{
	p->event = status != -1 && WIFEXITED(status) ? PROC_EXITED :
	    PROC_KILLED;
	p->fate_known = status != -1;
	p->fate = status;
	p->gone = true;
	drop_threads(p);
}

/* The exec has ended all threads but one, which is now the leader. */
static void
after_exec(struct proc *p, unsigned int options)
{
	int status;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].tid != p->pid && !p->threads[i].foreign)
			waitpid(p->threads[i].tid, &status, __WALL | WNOHANG);
	drop_threads(p);
	p->event = PROC_EXEC;
	*add_thread(p, p->pid) = (struct thread){
		.tid = p->pid, .stopped = true, .options = options };
}

/* Did the breakpoint register fire? */
static bool
hit_breakpoint(struct thread *t, int signal)
{
	siginfo_t si;

	return t->armed && signal == SIGTRAP &&
	    ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0 &&
	    si.si_code == TRAP_HWBKPT;
}

static bool
is_thread_of(const struct proc *p, pid_t tid)
{
	return proc_status(tid, "Tgid") == (long)p->pid;
}

void
proc_free_child(struct proc *p, struct thread *mother)
{
	mother->event = PROC_NOTHING;
	add_foreign(p, mother->child);
}

static void
note_child(struct proc *p, struct thread *t, pid_t child)
{
	t->event = PROC_FORK;
	t->child = child;
	if (!p->follow)
		proc_free_child(p, t);
}

/* What clone(2) made is a thread, or, without SIGCHLD, a process. */
static void
note_clone(struct proc *p, struct thread *t, pid_t tid)
{
	if (!is_thread_of(p, tid))
		note_child(p, t, tid);
	else if ((t = add_thread(p, tid)) != NULL && t->options == 0)
		t->options = wanted_options(p);
}

static void
note_ptrace_event(struct proc *p, struct thread *t, int event, int signal)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &message);
	switch (event) {
	case PTRACE_EVENT_STOP:
		t->group = signal != SIGTRAP ? signal : 0;
		break;
	case PTRACE_EVENT_CLONE:
		note_clone(p, t, (pid_t)message);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		note_child(p, t, (pid_t)message);
		break;
	case PTRACE_EVENT_EXEC:
		after_exec(p, t->options);
		break;
	}
}

static void
note_break(struct thread *t)
{
	t->event = PROC_LINKER;
	arch_pass_break(t->tid);
}

static void
proc_note(struct proc *p, struct thread *t, int status)
{
	int event = (unsigned int)status >> 16, signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		if (t->tid == p->pid)
			end_process(p, status);
		else
			drop_thread(p, t);
		return;
	}
	t->stopped = true;
	t->absent = t->asked = false;
	t->group = t->signal = 0;
	if (t->foreign) {
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
		drop_thread(p, t);
		return;
	}
	if (event != 0)
		note_ptrace_event(p, t, event, signal);
	else if (hit_breakpoint(t, signal))
		note_break(t);
	else if (signal == (SIGTRAP | 0x80))
		t->event = PROC_SYSCALL;
	else
		t->signal = signal;
}

static bool
is_end(const siginfo_t *si)
{
	return si->si_code == CLD_EXITED || si->si_code == CLD_KILLED ||
	    si->si_code == CLD_DUMPED;
}

/* The client's own child has ended: that stays for the client to be told. */
static bool
ended_child(struct proc *p, pid_t tid)
{
	siginfo_t si = { .si_pid = 0 };

	if (!p->child || tid != p->pid ||
	    waitid(P_PID, (id_t)tid, &si, WEXITED | WNOWAIT | WNOHANG) < 0 ||
	    si.si_pid != tid || !is_end(&si))
		return false;
	ended_note(&p->ended, p->pid, tid);
	end_process(p, si.si_code == CLD_EXITED ? W_EXITCODE(si.si_status, 0) :
	    W_EXITCODE(0, si.si_status) |
	    (si.si_code == CLD_DUMPED ? WCOREFLAG : 0));
	return true;
}

/* As waitpid(2), but leaves a stop at a signal there. */
static pid_t
wait_for_thread(struct proc *p, pid_t tid, int *ret_status)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOWAIT |
	    WNOHANG | __WALL) < 0)
		return -1;
	if (si.si_pid == 0)
		return 0;
	/* An event is in the higher bits, a system call in bit 7. */
	if (si.si_code == CLD_TRAPPED && si.si_status > 0 &&
	    si.si_status < 0x80) {
		*ret_status = si.si_status << 8 | 0x7f;
		return tid;
	}
	if (is_end(&si) && is_thread_of(p, tid))
		ended_note(&p->ended, p->pid, tid);
	return waitpid(tid, ret_status, __WALL | WNOHANG);
}

bool
proc_take(struct proc *p, pid_t tid)
{
	struct thread *t = proc_thread(p, tid);
	int status;
	pid_t got;

	if (t == NULL) {
		/* Born, and stopped, before its mother could tell. */
		if (proc_state(p->pid, tid) == 0 ||
		    !is_thread_of(p, tid) ||
		    (t = add_thread(p, tid)) == NULL)
			return false;
		t->options = wanted_options(p);
	}
	if (ended_child(p, tid))
		return true;
	got = wait_for_thread(p, tid, &status);
	if (got == tid)
		proc_note(p, t, status);
	else if (got < 0 && errno == ECHILD && tid != p->pid)
		drop_thread(p, t);
	else if (got < 0 && errno == ECHILD)
		end_process(p, -1);
	return got == tid;
}

static bool
take_round(struct proc *p)
{
	bool any = false;
	size_t i;

	for (i = p->n; i-- > 0; )
		if (i < p->n && !p->threads[i].stopped)
			any |= proc_take(p, p->threads[i].tid);
	return any;
}

void
proc_take_all(struct proc *p)
{
	while (take_round(p))
		;
}

static void
set_options(struct proc *p, struct thread *t)
{
	unsigned int options = wanted_options(p);

	if (t->options != options && ptrace(PTRACE_SETOPTIONS, t->tid, NULL,
	    (uintptr_t)options) == 0)
		t->options = options;
}

/* Sets (address) or clears (0) the breakpoint register of a stopped thread. */
static bool
arm(struct thread *t, uintptr_t address)
{
	if (address == 0 && !t->armed)
		return true;
	if (!arch_break(t->tid, address))
		return false;
	t->armed = address != 0;
	return true;
}

bool
proc_arm(struct proc *p, struct thread *t)
{
	if (p->ours && p->linker.brk != 0 && !t->armed && !p->no_registers)
		p->no_registers = !arm(t, p->linker.brk);
	return t->armed;
}

void
proc_resume(struct proc *p, struct thread *t)
{
	set_options(p, t);
	proc_arm(p, t);
	if (t->group && !t->leave_group) {
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	} else {
		if (!t->syscalls)
			restart_call(p, t);
		ptrace(t->syscalls ? PTRACE_SYSCALL : PTRACE_CONT, t->tid,
		    NULL, (uintptr_t)t->signal);
	}
	arch_forget(t);
	t->stopped = t->asked = false;
	t->signal = 0;
	t->event = PROC_NOTHING;
}

void
proc_run(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].stopped && p->threads[i].event != PROC_FORK)
			proc_resume(p, &p->threads[i]);
}

void
proc_resume_idle(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].stopped &&
		    p->threads[i].event == PROC_NOTHING)
			proc_resume(p, &p->threads[i]);
}

struct thread *
proc_pending(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].event != PROC_NOTHING)
			return &p->threads[i];
	return NULL;
}

struct thread *
proc_urgent(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].event != PROC_NOTHING &&
		    p->threads[i].event != PROC_FORK)
			return &p->threads[i];
	return NULL;
}

static void
pause_briefly(void)
{
	struct timespec ts = { .tv_nsec = PAUSE_NS };

	nanosleep(&ts, NULL);
}

/* In the kernel, where it will stop when it wakes. */
static bool
is_deep(const struct proc *p, const struct thread *t)
{
	char state = proc_state(p->pid, t->tid);

	return state != 'Z' && state != 'X' && state != 0;
}

/* Will this thread never tell us that it stopped, or not soon? */
static bool
is_absent(const struct proc *p, const struct thread *t)
{
	char state = proc_state(p->pid, t->tid);

	return state == 'Z' || state == 'X' || state == 'D';
}

static bool
all_stopped(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!p->threads[i].stopped && !p->threads[i].absent)
			return false;
	return true;
}

static void
ask_all(struct proc *p)
{
	struct thread *t;

	for (t = p->threads; t < p->threads + p->n; t++)
		if (!t->stopped && !t->asked) {
			arch_look(p, t);
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
			t->asked = true;
		}
}

/*
 * A thread that we have not taken yet may exec() and get the number of the leader,
 * whom we had.  wait(2) says so to everybody but the process's parent, for whom the
 * number is still that of a child.  Then the thread of this number is nobody's,
 * and proc_attach() finds it anew.
 */
static bool
is_lost(const struct proc *p, const struct thread *t)
{
	return !t->foreign && thread_status(p->pid, t->tid, "TracerPid") == 0;
}

static void
find_absent(struct proc *p)
{
	struct thread *t;
	size_t i;

	for (i = p->n; i-- > 0; ) {
		t = &p->threads[i];
		if (t->stopped)
			continue;
		if (is_lost(p, t))
			drop_thread(p, t);
		else if (is_absent(p, t))
			t->absent = true;
	}
}

void
proc_stop(struct proc *p)
{
	unsigned int pauses = 0;

	while (!p->gone) {
		ask_all(p);
		if (take_round(p)) {
			pauses = 0;
			continue;
		}
		if (all_stopped(p))
			return;
		pause_briefly();
		if (++pauses % ABSENT_PAUSES == 0)
			find_absent(p);
	}
}

void
proc_run_for(struct proc *p, long us)
{
	long pauses = us * 1000 / PAUSE_NS;

	proc_run(p);
	while (pauses-- > 0 && !p->gone && p->event == PROC_NOTHING &&
	    proc_urgent(p) == NULL) {
		pause_briefly();
		/* Signals on their way have stopped it, nothing else. */
		proc_take_all(p);
		proc_resume_idle(p);
	}
	proc_stop(p);
}

tnfctl_errcode_t
proc_attach(struct proc *p)
{
	int error, rounds = 0;
	bool found;

	p->child = !p->ours && proc_status(p->pid, "PPid") == (long)getpid();

	/* Take first, stop then: it stands still for as short as can be. */
	do {
		if ((error = seize_new(p, &found)) != 0)
			break;
		if (!found || rounds > 0)
			proc_stop(p);
	} while ((found || (p->n == 0 && !is_dead(p, p->pid))) &&
	    rounds++ < ROUNDS_MAX && !p->gone);
	if (error == 0 && p->n > 0 && !p->gone)
		return proc_open_memory(p);
	if (error != 0)
		return fail_errno(error, "process %d", (int)p->pid);
	return fail(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
	    (int)p->pid);
}

tnfctl_errcode_t
proc_adopt(struct proc *p)
{
	struct thread *t = add_thread(p, p->pid);

	if (t == NULL)
		return fail(TNFCTL_ERR_ALLOCFAIL, NULL);
	t->options = wanted_options(p);
	t->asked = true;
	proc_stop(p);
	if (p->gone)
		return fail(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
		    (int)p->pid);
	return proc_open_memory(p);
}

/* Absent threads must stop before we can let them go. */
static void
await_absent(struct proc *p)
{
	unsigned int pauses;
	bool any = true;
	size_t i;

	for (pauses = 0; any && pauses < LEAVE_PAUSES && !p->gone; pauses++) {
		for (any = false, i = p->n; i-- > 0; )
			if (i < p->n && !p->threads[i].stopped) {
				any |= proc_state(p->pid,
				    p->threads[i].tid) != 'Z';
				proc_take(p, p->threads[i].tid);
			}
		if (any)
			pause_briefly();
	}
}

int
proc_group_stop(const struct proc *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].group != 0)
			return p->threads[i].group;
	return 0;
}

void
proc_end_group_stop(struct proc *p)
{
	if (p->suspended || p->unmarked || proc_group_stop(p) != 0)
		kill(p->pid, SIGCONT);
	p->suspended = p->unmarked = false;
}

/* False: another thread, which we have let go already, has ended this one by an
   exec() or exit(), and its end is to be taken from wait(2). */
static bool
let_go(struct proc *p, struct thread *t)
{
	arm(t, 0);
	restart_call(p, t);
	return ptrace(PTRACE_DETACH, t->tid, NULL,
	    (uintptr_t)(t->group ? 0 : t->signal)) == 0;
}

static void
let_thread_go(struct proc *p, struct thread *t)
{
	if (let_go(p, t))
		drop_thread(p, t);
	else
		t->stopped = false;
}

/* The leader goes first: if another thread calls exec() at once it gets the
   leader's number, under which nobody must see a tracer any more. */
static void
let_stopped_go(struct proc *p)
{
	struct thread *leader = proc_thread(p, p->pid);
	size_t i;

	if (leader != NULL && leader->stopped)
		let_thread_go(p, leader);
	for (i = p->n; i-- > 0; )
		if (i < p->n && p->threads[i].stopped)
			let_thread_go(p, &p->threads[i]);
}

void
proc_free_children(struct proc *p)
{
	size_t i, left;

	for (i = 0; i < p->n; i++)
		if (p->threads[i].event == PROC_FORK)
			proc_free_child(p, &p->threads[i]);
	/* They stop as soon as they have a processor. */
	do {
		for (left = 0, i = p->n; i-- > 0; )
			if (i < p->n && p->threads[i].foreign) {
				left++;
				proc_take(p, p->threads[i].tid);
			}
		if (left > 0)
			pause_briefly();
	} while (left > 0);
}

bool
proc_detach(struct proc *p, bool suspend)
{
	size_t i;

	proc_free_children(p);
	if (suspend)
		kill(p->pid, SIGSTOP);
	let_stopped_go(p);
	await_absent(p);
	let_stopped_go(p);
	for (i = p->n; i-- > 0; )
		if (!is_deep(p, &p->threads[i]))
			drop_thread(p, &p->threads[i]);
	return p->n == 0 || p->gone;
}

void
proc_kill(struct proc *p)
{
	unsigned int pauses = 0;
	size_t i;

	if (p->gone)
		return;
	proc_free_children(p);
	kill(p->pid, SIGKILL);
	for (i = 0; i < p->n; i++)
		p->threads[i].stopped = p->threads[i].absent = false;
	while (!p->gone && p->n > 0 && pauses++ < LEAVE_PAUSES)
		if (!take_round(p))
			pause_briefly();
}
