/*
 * direct.c - handles on other processes: what exec, pid and fork share.
 */
#include <sys/uio.h>

#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"

/* We give up the first look at a target after so many of its execs, and at the first
   exec after so many seconds. */
#define EXECS_MAX	50
#define EXECS_S		5
#define EXEC_US		5000	/* between two looks at a process that may be in an exec */
#define EXEC_TRIES	50	/* looks, if perhaps it is in none */
#define EXEC_TRIES_SURE	400	/* looks, if it surely is */

static bool
direct_read(tnfctl_handle_t *h, uintptr_t address, void *buf, size_t n)
{
	return tnfctl_proc_read(direct_proc(h), address, buf, n);
}

static bool
direct_write(tnfctl_handle_t *h, uintptr_t address, const void *buf, size_t n)
{
	return tnfctl_proc_write(direct_proc(h), address, buf, n);
}

static bool
direct_write_each(tnfctl_handle_t *h, const uintptr_t *at, size_t places, const void *buf, size_t size)
{
	struct iovec from[PROC_PIECES], to[PROC_PIECES];
	bool fine = true;
	size_t n;

	for (; fine && places > 0; places -= n, at += n) {
		n = places < PROC_PIECES ? places : PROC_PIECES;
		for (size_t i = 0; i < n; i++) {
			from[i] = (struct iovec){ (void *)(uintptr_t)buf, size };
			to[i] = (struct iovec){ (void *)at[i], size };
		}
		fine = tnfctl_proc_write_pieces(direct_proc(h), from, to, n);
	}
	return fine;
}

static void
direct_work(tnfctl_handle_t *h, enum target_work w)
{
	(w == WORK_BEGIN ? tnfctl_proc_work_begin : w == WORK_LOOK ? tnfctl_proc_work_look :
	    tnfctl_proc_work_end)(direct_proc(h));
}

static tnfctl_errcode_t
direct_objects(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	tnfctl_errcode_t err = tnfctl_linkmap_objects(h, &p->reader, &p->linker);

	if (err == TNFCTL_ERR_NONE)
		tnfctl_linkmap_look(&p->reader, &p->linker);
	return err;
}

/*
 * The latest processes that were left suspended without a place for a mark: a client that
 * follows an exec closes the handle in that state, and opens the next one.
 */
#define UNMARKED	64
static pthread_mutex_t unmarked_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t unmarked[UNMARKED];
static unsigned int unmarked_at;

bool
tnfctl_suspended_take(pid_t pid)
{
	bool found = false;

	pthread_mutex_lock(&unmarked_lock);
	for (size_t i = 0; i < UNMARKED && !found; i++)
		if ((found = unmarked[i] == pid))
			unmarked[i] = 0;
	pthread_mutex_unlock(&unmarked_lock);
	return found;
}

/* Prepares the process before its threads are let go. */
static void
direct_leave(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	struct proc *p = direct_proc(h);

	tnfctl_control_claim(h, op == TNFCTL_TARG_SUSPEND ? TNF_SUSPENDED : 0);
	if (op == TNFCTL_TARG_SUSPEND && (h->gone || h->control == 0)) {
		pthread_mutex_lock(&unmarked_lock);
		unmarked[unmarked_at++ % UNMARKED] = p->pid;
		pthread_mutex_unlock(&unmarked_lock);
	}
	/* By default a stop that others have made is left as it was found. */
	if (op == TNFCTL_TARG_RESUME ||
	    (op == TNFCTL_TARG_DEFAULT && p->suspended))
		tnfctl_proc_end_group_stop(p);
}

static tnfctl_errcode_t
direct_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	struct proc *p = direct_proc(h);

	tnfctl_proc_stop(p);
	if (op == TNFCTL_TARG_DEFAULT && p->ours)
		op = TNFCTL_TARG_KILL;
	if (!h->leaving)
		direct_leave(h, op);
	if (p->gone) {
		tnfctl_proc_free_children(p);
	} else if (op == TNFCTL_TARG_KILL) {
		tnfctl_proc_kill(p);
	} else if (!tnfctl_proc_detach(p, op == TNFCTL_TARG_SUSPEND && !h->leaving)) {
		tnfctl_control_forget(h);
		h->leaving = true;
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "process %d: thread %d sleeps in "
		    "the kernel and cannot be let go yet: close it again later",
		    (int)p->pid, (int)p->threads[0].tid);
	}
	h->leaving = false;
	tnfctl_proc_free(p);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_direct_tell_stop(const struct proc *p)
{
	int signal = tnfctl_proc_group_stop(p);

	if (signal == 0 || p->suspended || p->stopper_unknown)
		return tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
	if (signal == SIGTTIN || signal == SIGTTOU)
		return tnfctl_error_set(TNFCTL_ERR_NONE, "process %d: the terminal has "
		    "stopped it (%s), as it is not in the foreground: start it "
		    "with another standard %s", (int)p->pid,
		    signal == SIGTTIN ? "SIGTTIN" : "SIGTTOU",
		    signal == SIGTTIN ? "input" : "output");
	return tnfctl_error_set(TNFCTL_ERR_NONE, "process %d: somebody has stopped it (%s): "
	    "it goes on after SIGCONT (kill -CONT %d)", (int)p->pid,
	    signal == SIGSTOP ? "SIGSTOP" : "SIGTSTP", (int)p->pid);
}

static tnfctl_errcode_t
direct_fate(tnfctl_handle_t *h, int *ret)
{
	const struct proc *p = direct_proc(h);

	if (!p->gone)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it has not ended",
		    (int)p->pid);
	if (!p->fate_known)
		return tnfctl_error_set(TNFCTL_ERR_NOTARGET, "process %d: somebody else has "
		    "waited for it", (int)p->pid);
	*ret = p->fate;
	return TNFCTL_ERR_NONE;
}

static size_t
direct_ended(tnfctl_handle_t *h, tnfctl_ended_t *ret, size_t room)
{
	return tnfctl_ended_fill(&direct_proc(h)->ended, ret, room);
}

tnfctl_errcode_t
tnfctl_direct_no_probes(pid_t pid)
{
	return tnfctl_error_set(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: it has no probes "
	    "and " TNFCTL_LIBTNFPROBE " is not loaded: build the program with "
	    "<tnf/probe.h>", (int)pid);
}

static const struct target_ops direct_ops = {
	.close = direct_close,
	.import_add = tnfctl_imports_add,
	.refresh = tnfctl_control_refresh,
	.attrs = tnfctl_control_attrs,
	.buffer_alloc = tnfctl_buffer_create,
	.mark = tnfctl_mark_file,
	.freeze = tnfctl_freeze_file,
	.probe_state = tnfctl_control_probe_state,
	.probe_set = tnfctl_control_probe_set,
	.probe_connect = tnfctl_control_connect,
	.probe_disconnect = tnfctl_control_disconnect,
	.cont = tnfctl_direct_continue,
	.fate = direct_fate,
	.ended = direct_ended,
	.take_file = tnfctl_direct_take_file,
	.read = direct_read,
	.write = direct_write,
	.write_each = direct_write_each,
	.work = direct_work,
	.catch_up = tnfctl_direct_catch_up,
	.objects = direct_objects,
};

void
tnfctl_direct_borrow(struct proc *p, tnfctl_handle_t *ret)
{
	*ret = (tnfctl_handle_t){ .ops = &direct_ops, .priv = p, .pid = p->pid, .replaced = -1 };
}

static tnfctl_errcode_t
look_once(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	tnfctl_errcode_t err = tnfctl_control_refresh(h);

	if (err == TNFCTL_ERR_NONE && h->control == 0)
		err = tnfctl_control_check_memory(h);
	if (err == TNFCTL_ERR_NONE && h->control == 0 && !p->ours) {
		err = tnfctl_inject_library(h);
		if (err == TNFCTL_ERR_NONE)
			err = tnfctl_control_refresh(h);
	}
	return err == TNFCTL_ERR_NONE ? tnfctl_control_check(h) : err;
}

/* Begins anew when the target has become another program: all that we know is outdated. */
static tnfctl_errcode_t
start_over(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	tnfctl_errcode_t err;

	p->event = PROC_NOTHING;
	p->linker = (struct linker){ 0 };
	tnfctl_handle_empty(h);
	if ((err = tnfctl_process_check_file(p->pid)) != TNFCTL_ERR_NONE ||
	    (err = tnfctl_proc_open_memory(p)) != TNFCTL_ERR_NONE)
		return err;
	return tnfctl_direct_settle(p, DIRECT_SETTLE_MS);
}

/* Waits if a process that cannot be read is perhaps in an exec(), whose end wait(2) will tell.  It may
   be if we do not hold one of its threads.  It surely is if the memory that we had opened is gone, or
   if its leader is dead: a dead leader has neither maps nor a root. */
static void
await_exec(struct proc *p)
{
	for (int n = 0; !p->gone && p->n > 0 && p->event == PROC_NOTHING &&
	    ((n < EXEC_TRIES && !tnfctl_proc_stands(p)) ||
	    (n < EXEC_TRIES_SURE && (tnfctl_proc_memory_is_gone(p) ||
	    tnfctl_proc_is_dead(p, p->pid)))) &&
	    !tnfctl_proc_is_late(p); n++)
		tnfctl_proc_run_for(p, EXEC_US);
}

/* Takes the first look.  A target that is not ours runs while a library is loaded,
   and may become another program during that time. */
static tnfctl_errcode_t
look_at(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	int64_t end = clock_ns(CLOCK_MONOTONIC) + EXECS_S * INT64_C(1000000000);

	for (int n = 0; n < EXECS_MAX && (n == 0 || clock_ns(CLOCK_MONOTONIC) < end); n++) {
		if (p->event == PROC_EXEC)
			err = start_over(h);
		if (err == TNFCTL_ERR_NONE && p->event == PROC_NOTHING)
			err = look_once(h);
		if (err != TNFCTL_ERR_NONE)
			await_exec(p);
		/* If a thread that we could not take has called exec(), none of the threads
		   that we have taken is left: see attach.c. */
		if (p->gone || p->n == 0)
			return tnfctl_error_set(TNFCTL_ERR_NOPROCESS,
			    "process %d: it has ended", (int)h->pid);
		if (p->event != PROC_EXEC)
			return err;
		if (tnfctl_proc_is_late(p))
			return tnfctl_proc_late(p);
		err = TNFCTL_ERR_NONE;
	}
	return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: it becomes another "
	    "program (exec) again and again: try when it has come to rest",
	    (int)h->pid);
}

static tnfctl_errcode_t
direct_clock(tnfctl_handle_t *h)
{
	char clock[TNFCTL_CLOCK_NAME];

	if (direct_proc(h)->ours || !tnfctl_filter_forbids_clock(direct_proc(h), clock))
		return TNFCTL_ERR_NONE;
	return tnfctl_error_set(TNFCTL_ERR_NOTLOADABLE, "process %d: a thread of it has a seccomp "
	    "filter, and to read this machine's clock (%s) is a system call, for which the filter "
	    "might kill it at each event: a clock such as tsc needs no call: see "
	    "/sys/devices/system/clocksource/clocksource0/available_clocksource", (int)h->pid, clock);
}

/* If a thread has a seccomp filter, tells libtnfprobe to make no call at its hits. */
static void
direct_quiet(tnfctl_handle_t *h)
{
	const tnf_uint32_t yes = 1;

	if (h->control_open != 0 && !direct_proc(h)->ours &&
	    tnfctl_filter_forbids(direct_proc(h)) != NULL)
		h->ops->write(h, CONTROL(h, quiet), &yes, sizeof(yes));
}

tnfctl_errcode_t
tnfctl_direct_open(struct proc *p, tnfctl_handle_t **ret)
{
	tnfctl_handle_t *h = tnfctl_handle_new(&direct_ops, p->pid);
	tnfctl_errcode_t err = h ? TNFCTL_ERR_NONE : tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);

	if (err == TNFCTL_ERR_NONE) {
		h->priv = p;
		err = look_at(h);
	}
	if (err == TNFCTL_ERR_NONE)
		err = direct_clock(h);
	if (err == TNFCTL_ERR_NONE) {
		tnfctl_proc_unhurry(p);
		/* The stop itself may still be to come. */
		p->suspended |= tnfctl_control_suspended(h);
		tnfctl_control_claim(h, getpid());
		direct_quiet(h);
		tnfctl_fast_settle(h);
		*ret = h;
		return tnfctl_direct_tell_stop(p);
	}
	tnfctl_handle_free(h);
	if (!p->ours) {
		tnfctl_proc_leave(p);
		return err;
	}
	tnfctl_proc_kill(p);
	tnfctl_proc_free(p);
	return err;
}

tnfctl_errcode_t
tnfctl_direct_open_again(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err;

	tnfctl_handle_empty(h);
	if ((err = look_at(h)) == TNFCTL_ERR_NONE)
		tnfctl_control_claim(h, getpid());
	return err;
}
