/*
 * attach.c - take a running process under control.
 */
#include <sys/prctl.h>

#include <poll.h>

#include "common/elf-file.h"
#include "libtnfctl/control.h"

#define EXEC_MS		1000	/* for an exec() to get through */
#define EXEC_NEAR	30	/* tries, a millisecond apart, for its beginning and its end */
#define LOOK_MS		20	/* between two looks at the time and at our signals */
#define AGAIN_NS	INT64_C(10000000000)	/* while one comes in between after the other */

/*
 * The first look at a process, by a child of ours that we can give up.
 *
 * A file system whose server does not answer holds back whoever opens one of its files, reads
 * it, or reads a page of it by /proc/PID/mem.  No signal ends such a wait, not even SIGKILL, and
 * no other call reads without it; so whoever has to answer in time must not wait there itself.
 * The child looks at all that the attach will look at.  We stay outside if the child does not
 * come back.
 */
typedef tnfctl_errcode_t scout_fn(struct proc *);

struct answer {
	tnfctl_errcode_t err;
	char	 detail[640];
};

static _Noreturn void
scout_main(struct proc *p, scout_fn *look, int fd)
{
	struct answer a = { .err = TNFCTL_ERR_NONE };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A program that reads our client's output must not wait for the end of this child. */
	if (dup2(fd, 0) == 0)
		close_range(1, ~0u, 0);
	a.err = look(p);
	snprintf(a.detail, sizeof(a.detail), "%s", tnfctl_error_detail());
	_exit(write(0, &a, sizeof(a)) != (ssize_t)sizeof(a));
}

/* False: it is late. */
static bool
await(const struct proc *p, int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	while (poll(&poll_fd, 1, LOOK_MS) <= 0)
		if (tnfctl_proc_is_late(p))
			return false;
	return true;
}

/* If our client has taken its end from wait(2), or ignores SIGCHLD, there is nothing to take. */
static void
reap(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The child stays where it waits, until the file system answers. */
static tnfctl_errcode_t
give_up(const struct proc *p, pid_t child)
{
	kill(child, SIGKILL);
	return tnfctl_proc_late_at(p, "neither its memory nor its files could be read",
	    "a file system that does not answer, or a busy machine");
}

static tnfctl_errcode_t
take_answer(const struct proc *p, int fd, pid_t child)
{
	struct answer a;
	ssize_t n;

	if (!await(p, fd))
		return give_up(p, child);
	n = read(fd, &a, sizeof(a));
	reap(child);
	if (n != (ssize_t)sizeof(a))
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: the child that looks "
		    "at it was killed: try again", (int)p->pid);
	return tnfctl_error_set(a.err, a.err != TNFCTL_ERR_NONE && a.detail[0] != '\0' ? "%s" :
	    NULL, a.detail);
}

/*
 * Returns the error of 'look' for the process, with its detail.  A child of ours calls 'look', with a copy of
 * *p.  After tnfctl_proc_hurry(); if the child takes longer than that allows, it is left
 * alone, and the answer is TNFCTL_ERR_INTERNAL.  Every signal is blocked.
 */
static tnfctl_errcode_t
scout(struct proc *p, scout_fn *look)
{
	tnfctl_errcode_t err;
	int pair[2];
	pid_t child;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return tnfctl_error_set_errno(errno, "process %d: pipe", (int)p->pid);
	if ((child = fork()) == 0)
		scout_main(p, look, pair[1]);
	close(pair[1]);
	err = child > 0 ? take_answer(p, pair[0], child) :
	    tnfctl_error_set_errno(errno, "process %d: fork", (int)p->pid);
	close(pair[0]);
	return err;
}

static int
yama_scope(void)
{
	char text[16];

	return tnf_proc_file(text, sizeof(text), "/proc/sys/kernel/yama/ptrace_scope") > 0 ?
	    atoi(text) : -1;
}

static tnfctl_errcode_t
attach_busy(pid_t pid, long tracer)
{
	return tnfctl_error_set(TNFCTL_ERR_BUSY, "process %d: process %ld controls it "
	    "already: end that first", (int)pid, tracer);
}

/* Finds out why the kernel has refused to attach. */
static tnfctl_errcode_t
attach_refused(pid_t pid)
{
	long tracer = tnf_proc_status(pid, "TracerPid"), uid;
	int scope = yama_scope();

	if (tracer > 0)
		return attach_busy(pid, tracer);
	uid = tnf_proc_status(pid, "Uid");
	if (uid >= 0 && (uid_t)uid != geteuid())
		return tnfctl_error_set(TNFCTL_ERR_ACCES, "process %d: it belongs to user "
		    "%ld: CAP_SYS_PTRACE (root) is needed", (int)pid, uid);
	if (scope > 0)
		return tnfctl_error_set(TNFCTL_ERR_ACCES, "process %d: "
		    "kernel.yama.ptrace_scope is %d: %s", (int)pid, scope,
		    scope == 1 ? "only its parent may attach: start the "
		    "program under control, be root (CAP_SYS_PTRACE), or set "
		    "it to 0" : scope == 2 ? "only root (CAP_SYS_PTRACE) may "
		    "attach" : "nobody may attach until the next boot");
	return tnfctl_error_set(TNFCTL_ERR_ACCES, "process %d: the kernel refuses it: the "
	    "program is set-id, has rights that we lack, or a security module "
	    "forbids ptrace: CAP_SYS_PTRACE (root) may help", (int)pid);
}

/* Opens the program; in an exec() of another thread the leader is dead for a moment.  -1: errno
   says why. */
static int
open_program(pid_t pid)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + EXEC_MS * INT64_C(1000000);
	int fd, tries, error;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	for (tries = 0; (fd = tnfctl_file_open(name)) < 0; tries++) {
		error = errno;
		/* Before and after that moment the process may look like any other. */
		if (error != ENOENT || clock_ns(CLOCK_MONOTONIC) > until ||
		    tnfctl_proc_is_kernel(pid) ||
		    (tries >= EXEC_NEAR && tnfctl_proc_state(pid, pid) != 'Z')) {
			errno = error;
			break;
		}
		usleep(1000);
	}
	return fd;
}

/* A program that was built for another CPU runs inside a process of qemu-user.  If this
   is such a process, returns the emulator's base name ("qemu-aarch64"), which lies in
   'path'; else NULL. */
static const char *
emulator_of(pid_t pid, char *path, size_t size)
{
	const char *base;
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	n = readlink(name, path, size - 1);
	path[n > 0 ? n : 0] = '\0';
	base = strrchr(path, '/');
	return base != NULL && strncmp(base + 1, "qemu-", 5) == 0 &&
	    strncmp(base + 1, "qemu-system-", 12) != 0 ? base + 1 : NULL;
}

tnfctl_errcode_t
tnfctl_process_check_file(pid_t pid)
{
	char path[PATH_MAX];
	const char *emulator;
	enum elffile_kind kind;
	int fd, error;

	if ((fd = open_program(pid)) < 0) {
		error = errno;
		if (tnfctl_proc_is_kernel(pid))
			return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it is a "
			    "thread of the kernel", (int)pid);
		if (error == EACCES || error == EPERM)
			return attach_refused(pid);
		if (error != ENOENT)
			return tnfctl_error_set_errno(error, "process %d", (int)pid);
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended, "
		    "or its first thread has", (int)pid);
	}
	kind = tnf_elffile_kind_of(fd, TNF_PROCESS_SYMBOL);
	close(fd);
	emulator = emulator_of(pid, path, sizeof(path));
	if (emulator != NULL && kind != ELFFILE_STATIC_WITH)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: %s runs a program of "
		    "another machine there: trace it on that machine", (int)pid,
		    emulator);
	switch (kind) {
	case ELFFILE_DYNAMIC:
	case ELFFILE_STATIC_WITH:
		return TNFCTL_ERR_NONE;
	case ELFFILE_OTHER_CLASS:
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: the program has "
		    "%d bits or another byte order: this library controls %zu-bit "
		    "programs", (int)pid, sizeof(void *) == 8 ? 32 : 64,
		    sizeof(void *) * CHAR_BIT);
	case ELFFILE_STATIC:
		return tnfctl_error_set(TNFCTL_ERR_NOTDYNAMIC, "process %d: the program is "
		    "linked statically, and no libtnfprobe.a with symbols is in it: link it "
		    "with that, or trace its functions while it runs (prex -p, "
		    "enable function=NAME)", (int)pid);
	default:
		return tnfctl_error_set(TNFCTL_ERR_NOTDYNAMIC,
		    "process %d: the program is not an ELF file", (int)pid);
	}
}

/* Finds errors (BADARG, NOPROCESS, BUSY) before anything is done. */
static tnfctl_errcode_t
process_check(pid_t pid)
{
	long tgid, tracer;

	if (pid <= 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%d: not a process", (int)pid);
	if (pid == getpid())
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it is this one: "
		    "use tnfctl_internal_open()", (int)pid);
	if ((tgid = tnf_proc_status(pid, "Tgid")) < 0)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: there is none",
		    (int)pid);
	if (tgid != (long)pid)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it is a thread of "
		    "process %ld", (int)pid, tgid);
	/* We ask in this order, because during an exec() there are two threads. */
	if (tnf_proc_status(pid, "Threads") <= 1 && tnfctl_proc_state(pid, pid) == 'Z')
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
		    (int)pid);
	tracer = tnf_proc_status(pid, "TracerPid");
	return tracer > 0 ? attach_busy(pid, tracer) : TNFCTL_ERR_NONE;
}

/* Lets a program that has only just started get through its linker first. */
static tnfctl_errcode_t
attach_settle(struct proc *p)
{
	tnfctl_errcode_t err;

	/* A target that has just exec'd has no libtnfprobe yet, so TNF_SUSPENDED cannot be
	   stored in it.  We know that it is suspended only if this process has left it so
	   (tnfctl_suspended_take()); otherwise we cannot tell who stopped it. */
	if (!tnfctl_linkmap_look(&p->reader, &p->linker)) {
		p->suspended = tnfctl_suspended_take(p->pid);
		p->stopper_unknown = !p->suspended;
	}
	err = tnfctl_direct_settle(p, DIRECT_SETTLE_MS);
	if (p->gone || p->n == 0)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: it has ended",
		    (int)p->pid);
	/* After an exec, tnfctl_direct_open() looks at the new program. */
	return p->event == PROC_EXEC ? TNFCTL_ERR_NONE : err;
}

/* True if the process may have probes, as far as its list tells.  Before the linker begins to load,
   the list looks complete, but has the program and the linker at most. */
static bool
may_have_probes(const tnfctl_handle_t *h)
{
	bool has_main = false;
	size_t files = 0;

	for (const struct object *o = h->objects; o != NULL; o = o->next) {
		if (o->nsections > 0 || o->known[KNOWN_CONTROL] != 0)
			return true;
		has_main |= o->main;
		files += o->file != NULL || o->fd >= 0;
	}
	return !has_main || files < 3;
}

/*
 * We refuse a process without probes without a stop, which some of its calls
 * would notice.  If its linker is at work, or we have no right to look, or the leader has died
 * in another thread's exec() and has neither maps nor files, we leave the answer to the
 * attach.
 */
static tnfctl_errcode_t
attach_glance(struct proc *p)
{
	struct objects_change change;
	struct linker before = { 0 }, after = { 0 };
	tnfctl_handle_t h;
	bool none;

	tnfctl_direct_borrow(p, &h);
	if (tnfctl_proc_open_memory(p) != TNFCTL_ERR_NONE ||
	    !tnfctl_linkmap_look(&p->reader, &before) || !before.consistent)
		return TNFCTL_ERR_NONE;
	none = tnfctl_objects_refresh(&h, &change) == TNFCTL_ERR_NONE &&
	    !may_have_probes(&h) && tnfctl_linkmap_look(&p->reader, &after) &&
	    after.consistent && after.print == before.print &&
	    !tnfctl_proc_is_dead(p, p->pid);
	tnfctl_objects_free(&h);
	return none ? tnfctl_direct_no_probes(p->pid) : TNFCTL_ERR_NONE;
}

/* All that can be found out before the process is stopped. */
static tnfctl_errcode_t
look_first(struct proc *p)
{
	tnfctl_errcode_t err = tnfctl_process_check_file(p->pid);

	return err == TNFCTL_ERR_NONE && !p->load ? attach_glance(p) : err;
}

static tnfctl_errcode_t
look(pid_t pid, bool load, int64_t until, const sigset_t *mask, struct proc **ret)
{
	struct proc *p = tnfctl_proc_new(pid, false);
	tnfctl_errcode_t err;

	if (p == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	tnfctl_proc_hurry(p, (int)((until - clock_ns(CLOCK_MONOTONIC)) / 1000000), mask);
	p->load = load;
	if ((err = scout(p, look_first)) == TNFCTL_ERR_NONE)
		*ret = p;
	else
		tnfctl_proc_free(p);
	return err;
}

/* Takes over p. */
static tnfctl_errcode_t
attach_once(struct proc *p, tnfctl_handle_t **ret)
{
	pid_t pid = p->pid;
	tnfctl_errcode_t err;

	if ((err = tnfctl_proc_attach(p)) == TNFCTL_ERR_NONE &&
	    (err = attach_settle(p)) == TNFCTL_ERR_NONE)
		return tnfctl_direct_open(p, ret);
	tnfctl_proc_leave(p);
	return err == TNFCTL_ERR_ACCES ? attach_refused(pid) : err;
}

/* True if the process has ended.  When a thread calls exec(), the leader's pid goes over to that thread,
   and for an instant no leader has it. */
static bool
has_ended(pid_t pid, struct pollfd *end)
{
	if (end->fd < 0)
		end->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return end->fd < 0 ? errno != EINVAL && errno != ENOENT : poll(end, 1, 0) != 0;
}

/*
 * We cannot take a thread in the middle of an exec().  When that thread has become the leader,
 * the leader that we had is gone, and the process looks as if it had ended.  If it has not,
 * we begin anew, with another program.
 */
static tnfctl_errcode_t
attach_again(pid_t pid, bool load, const sigset_t *mask, tnfctl_handle_t **ret)
{
	struct pollfd end = { .fd = -1, .events = POLLIN };
	int64_t start = clock_ns(CLOCK_MONOTONIC), until = start + TNFCTL_ATTACH_MS * INT64_C(1000000);
	struct proc *p = NULL;
	tnfctl_errcode_t err = look(pid, load, until, mask, &p);

	if (err != TNFCTL_ERR_NONE)
		return err;
	err = attach_once(p, ret);
	while (err == TNFCTL_ERR_NOPROCESS && clock_ns(CLOCK_MONOTONIC) < start + AGAIN_NS &&
	    !has_ended(pid, &end))
		if ((err = look(pid, load, until, mask, &p)) == TNFCTL_ERR_NONE)
			err = attach_once(p, ret);
	if (end.fd >= 0)
		close(end.fd);
	return err;
}

static tnfctl_errcode_t
attach(pid_t pid, bool load, tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err = process_check(pid);
	sigset_t all, mask;

	if (err != TNFCTL_ERR_NONE)
		return err;
	/* A Ctrl-C while a library is being loaded takes effect afterwards. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	tnfctl_proc_leave_again();
	err = attach_again(pid, load, &mask, ret);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return err;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_open(pid_t pid, tnfctl_handle_t **ret)
{
	return attach(pid, false, ret);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_load(pid_t pid, tnfctl_handle_t **ret)
{
	return attach(pid, true, ret);
}
