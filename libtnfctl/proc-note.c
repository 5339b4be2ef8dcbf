/*
 * proc-note.c - what a stop of a thread means, who is to be told, and which system call it must not
 * end; the instruction that we plant to have such stops.
 */
#include <linux/kcmp.h>

#include "libtnfctl/proc.h"

/*
 * Calls without a time limit do not notice a stop.
 *
 * After a stop most system calls go on by themselves, and those with a time
 * limit with what is left of it.  Some do not: they have returned EINTR, as if
 * a signal handler had run, or as after SIGSTOP and SIGCONT (signal(7) lists
 * them).  And signals that the target ignores wake a thread only because we are
 * there.  If no handler is about to run, the thread is set back onto the
 * call.
 *
 * If such a call has a time limit it keeps its EINTR: set back, it would wait
 * for its whole time again, and nobody can tell how much of that has passed.
 * Among these are all calls on sockets, which return EINTR only where
 * SO_RCVTIMEO or SO_SNDTIMEO is set.
 *
 * Bytes that were transferred are never lost, but are told early: write(2) to a
 * pipe, send(2) and recv(2) with MSG_WAITALL return short counts.
 */
#define URING_EXT_ARG	(1u << 3)

/* The place of the time limit: argument 2, 3 or 4 points to it (NULL: none), or ... */
enum limit {
	LIMIT_NONE,
	LIMIT_MS = 6,		/* milliseconds in argument 3; negative: none */
	LIMIT_URING,		/* behind argument 4, if the flags before it say so */
	LIMIT_SOCKET		/* in the file, if it is a socket */
};

static const struct {
	long	call;
	unsigned limit;
} calls[] = {
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, LIMIT_MS },
#endif
	{ SYS_epoll_pwait, LIMIT_MS },
	{ SYS_epoll_pwait2, 3 },
	{ SYS_rt_sigtimedwait, 2 },
	{ SYS_semop, LIMIT_NONE },
	{ SYS_semtimedop, 3 },
	{ SYS_io_getevents, 4 },
	{ SYS_io_pgetevents, 4 },
	{ SYS_io_uring_enter, LIMIT_URING },
	{ SYS_read, LIMIT_SOCKET },	/* or inotify */
	{ SYS_readv, LIMIT_SOCKET },
};

/* struct io_uring_getevents_arg of the kernel. */
struct uring_arg {
	uint64_t sigmask;
	uint32_t sigmask_size;
	uint32_t min_wait_us;
	uint64_t ts;
};

static bool
is_uring_limited(struct proc *p, const struct arch_interrupted *c)
{
	struct uring_arg arg;

	if ((c->arg[3] & URING_EXT_ARG) == 0)
		return false;
	return !tnfctl_proc_read(p, c->arg[4], &arg, sizeof(arg)) || arg.ts != 0 ||
	    arg.min_wait_us != 0;
}

static bool
is_socket(const struct proc *p, int fd)
{
	char path[64], target[16];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p->pid, fd);
	n = readlink(path, target, sizeof(target));
	return n < 7 || memcmp(target, "socket:", 7) == 0;
}

static bool
is_limited(struct proc *p, unsigned limit, const struct arch_interrupted *c)
{
	switch (limit) {
	case LIMIT_NONE:
		return false;
	case LIMIT_MS:
		return (int)c->arg[3] >= 0;
	case LIMIT_URING:
		return is_uring_limited(p, c);
	case LIMIT_SOCKET:
		return is_socket(p, (int)c->arg[0]);
	default:
		return c->arg[limit] != 0;
	}
}

/* A set of signals in the thread's status; none if it cannot be read. */
static unsigned long long
signals_of(const struct proc *p, const struct thread *t, const char *field)
{
	char text[64];

	return tnf_thread_status_text(p->pid, t->tid, field, text, sizeof(text)) ?
	    strtoull(text, NULL, 16) : 0;
}

/* True if a handler is about to run, of the signal at hand or of one that waits. */
static bool
handler_runs(const struct proc *p, const struct thread *t)
{
	unsigned long long pending;

	if (tnf_thread_status(p->pid, t->tid, "Tgid") < 0)
		return true;		/* not known: nothing is repeated */
	pending = signals_of(p, t, "SigPnd") | signals_of(p, t, "ShdPnd");
	pending &= ~signals_of(p, t, "SigBlk");
	if (t->signal != 0)
		pending |= 1ull << (t->signal - 1);
	return (pending & signals_of(p, t, "SigCgt")) != 0;
}

void
tnfctl_restart_call(struct proc *p, struct thread *t)
{
	struct arch_interrupted c;
	size_t i;

	if (!tnfctl_arch_is_interrupted(t, &c))
		return;
	for (i = 0; calls[i].call != c.call; )
		if (++i == sizeof(calls) / sizeof(calls[0]))
			return;
	if (!is_limited(p, calls[i].limit, &c) && !handler_runs(p, t))
		tnfctl_arch_redo(t->tid, &c);
}

/*
 * Only the kernel knows the name of a thread, and forgets it when the thread is
 * gone.  But a traced thread remains a zombie until its tracer has waited for it:
 * until then we can read its name.
 */
#define ENDED_MAX	8192u	/* the latest */

/* The thread is a zombie whose status nobody has taken yet. */
static void
ended_note(struct ended *e, pid_t pid, pid_t tid)
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

/* status: as of wait(2); -1: somebody else was told. */
static void
end_process(struct proc *p, int status)
{
	p->event = status != -1 && WIFEXITED(status) ? PROC_EXITED :
	    PROC_KILLED;
	p->fate_known = status != -1;
	p->fate = status;
	p->gone = true;
	tnfctl_proc_threads_drop(p);
}

/* The exec has ended all threads but one, which is now the leader. */
static void
after_exec(struct proc *p, unsigned int options)
{
	int status;

	for (size_t i = 0; i < p->n; i++)
		if (p->threads[i].tid != p->pid && !p->threads[i].foreign)
			waitpid(p->threads[i].tid, &status, __WALL | WNOHANG);
	tnfctl_proc_threads_drop(p);
	p->plant = (struct plant){ .at = 0 };
	p->event = PROC_EXEC;
	*tnfctl_proc_thread_add(p, p->pid) = (struct thread){
		.tid = p->pid, .stopped = true, .options = options };
}

/* True if the breakpoint register fired. */
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
	return tnf_proc_status(tid, "Tgid") == (long)p->pid;
}

void
tnfctl_proc_free_child(struct proc *p, struct thread *mother)
{
	struct plant plant = mother->plant;	/* which the array's growth may move */

	mother->event = PROC_NOTHING;
	tnfctl_proc_thread_add_foreign(p, mother->child, &plant);
}

static void
note_child(struct proc *p, struct thread *t, pid_t child)
{
	t->event = PROC_FORK;
	t->child = child;
	t->plant = p->plant;
	p->plant.forked = true;
	if (!p->follow)
		tnfctl_proc_free_child(p, t);
}

/* clone(2) made a thread, or, without SIGCHLD, a process. */
static void
note_clone(struct proc *p, struct thread *t, pid_t tid)
{
	if (!is_thread_of(p, tid))
		note_child(p, t, tid);
	else if ((t = tnfctl_proc_thread_add(p, tid)) != NULL && t->options == 0)
		t->options = tnfctl_proc_options(p);
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
	tnfctl_arch_pass_break(t->tid);
}

/* True if the thread has stopped at the planted instruction; the thread is then where it would be
   without the instruction. */
static bool
plant_hit(struct proc *p, const struct thread *t, int signal)
{
	siginfo_t si;

	if (p->plant.at == 0 || signal != SIGTRAP ||
	    ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) != 0 || si.si_code != SI_KERNEL ||
	    !tnfctl_arch_pass_plant(t->tid, p->plant.at, p->plant.code))
		return false;
	return p->plant.hit = true;
}

static void
proc_note(struct proc *p, struct thread *t, int status)
{
	int event = (unsigned int)status >> 16, signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		if (t->tid == p->pid)
			end_process(p, status);
		else
			tnfctl_proc_thread_drop(p, t);
		return;
	}
	t->stopped = true;
	t->absent = t->asked = false;
	t->group = t->signal = 0;
	if (t->foreign) {
		tnfctl_plant_clean(p, t->tid, &t->plant);
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
		tnfctl_proc_thread_drop(p, t);
		return;
	}
	tnfctl_arch_stopped(p, t);
	if (event != 0)
		note_ptrace_event(p, t, event, signal);
	else if (hit_breakpoint(t, signal))
		note_break(t);
	else if (plant_hit(p, t, signal))
		t->event = PROC_LINKER;
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
tnfctl_proc_take(struct proc *p, pid_t tid)
{
	struct thread *t = tnfctl_proc_thread(p, tid);
	int status;
	pid_t got;

	if (t == NULL) {
		/* Born, and stopped, before its mother could tell. */
		if (tnfctl_proc_state(p->pid, tid) == 0 ||
		    !is_thread_of(p, tid) ||
		    (t = tnfctl_proc_thread_add(p, tid)) == NULL)
			return false;
		t->options = tnfctl_proc_options(p);
	}
	if (ended_child(p, tid))
		return true;
	got = wait_for_thread(p, tid, &status);
	if (got == tid)
		proc_note(p, t, status);
	else if (got < 0 && errno == ECHILD && tid != p->pid)
		tnfctl_proc_thread_drop(p, t);
	else if (got < 0 && errno == ECHILD)
		end_process(p, -1);
	return got == tid;
}

bool
tnfctl_proc_take_round(struct proc *p)
{
	bool any = false;

	for (size_t i = p->n; i-- > 0; )
		if (i < p->n && !p->threads[i].stopped)
			any |= tnfctl_proc_take(p, p->threads[i].tid);
	return any;
}

void
tnfctl_proc_take_all(struct proc *p)
{
	while (tnfctl_proc_take_round(p))
		;
}

struct thread *
tnfctl_proc_pending(struct proc *p, bool forks)
{
	for (struct thread *t = p->threads; t < p->threads + p->n; t++)
		if (t->event != PROC_NOTHING && (forks || t->event != PROC_FORK))
			return t;
	return NULL;
}

/*
 * An instruction that stops the target where its linker tells debuggers of a change, and one that
 * stops it once where the program itself begins, after all initialisers of its libraries.
 *
 * A breakpoint register would do the same, but the first one that is set within a second
 * has the kernel wait for an RCU grace period, some 15 ms, and each thread needs its own.  An
 * instruction costs nothing, and all threads have it.  But a child process gets a
 * copy of it, which kills the child at its first dlopen().  So the target stops at each fork while
 * the instruction is there: it is taken out of the child before the child runs.  At the first fork it
 * is taken out of the target, too, when no other thread runs, and breakpoint registers take
 * its place: else each fork would cost two stops.
 *
 * The kernel kills a target of ours when we die, so that no instruction outlives us.
 */

static bool
put_plant(struct proc *p, uintptr_t at, const uint8_t code[PLANT_CODE])
{
	struct plant *plant = &p->plant;

	if (!tnfctl_proc_write(p, at, &tnfctl_arch_trap, 1))
		return false;
	memcpy(plant->code, code, PLANT_CODE);
	plant->at = at;
	return plant->there = true;
}

bool
tnfctl_plant_set(struct proc *p)
{
	struct plant *plant = &p->plant;
	uint8_t code[sizeof(plant->code)];

	if (plant->there || plant->forked || p->linker.brk == 0)
		return plant->there;
	return tnfctl_proc_read(p, p->linker.brk, code, sizeof(code)) && tnfctl_arch_can_plant(code) &&
	    put_plant(p, p->linker.brk, code);
}

void
tnfctl_plant_clear(struct proc *p)
{
	if (p->plant.there)
		tnfctl_proc_write(p, p->plant.at, p->plant.code, 1);
	p->plant.there = false;
}

bool
tnfctl_plant_set_start(struct proc *p, uintptr_t entry)
{
	uint8_t code[PLANT_CODE];

	tnfctl_plant_clear(p);
	p->plant.hit = false;
	/* If somebody else has such an instruction there, the kernel passes it without telling us. */
	return tnfctl_proc_read(p, entry, code, sizeof(code)) && code[0] != tnfctl_arch_trap &&
	    (p->plant.start = put_plant(p, entry, code));
}

void
tnfctl_plant_clear_start(struct proc *p)
{
	tnfctl_plant_clear(p);
	p->plant = (struct plant){ .forked = p->plant.forked };
	for (struct thread *t = p->threads; t < p->threads + p->n; t++)
		if (t->event == PROC_LINKER)
			t->event = PROC_NOTHING;
}

/* False also if the kernel does not say; then the instruction must not stay in either. */
static bool
shares_memory(struct proc *mother, pid_t child)
{
	long r = syscall(SYS_kcmp, mother->pid, child, KCMP_VM, 0, 0);

	if (r < 0) {
		tnfctl_plant_clear(mother);
		mother->no_registers = true;	/* from now on the linker's list is looked at */
	}
	return r == 0;
}

void
tnfctl_plant_clean(struct proc *mother, pid_t child, const struct plant *plant)
{
	long word;

	if (!plant->there || (mother->plant.there && shares_memory(mother, child)))
		return;
	word = ptrace(PTRACE_PEEKTEXT, child, plant->at, NULL);
	if ((uint8_t)word == tnfctl_arch_trap)
		ptrace(PTRACE_POKETEXT, child, plant->at,
		    (uintptr_t)((word & ~0xffl) | plant->code[0]));
}
