/*
 * process.c - decides whether this process may record, and into which file.
 *
 * A set-up is valid for one process.  A child notices that it is another process by the
 * guard page, which the kernel hands to it zeroed even if a bare clone() has made the
 * child; a child that shares the memory (vfork) shares all.
 */
#include <sched.h>

#include "libtnfprobe/internal.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

#define YIELDS	20
#define NAPS	50	/* some 8 ms with the kernel's slack */
#define SPINS	2000	/* instead of a nap, if a filter may refuse that */
#define RETRY_NS 10000000ll	/* until a refused file is tried again */

static struct guard first_guard;

struct process tnf_p = { .guard = &first_guard, .epoch = 1 };

static void process_open(const char *, uint64_t, int32_t);

struct tnf_process_control TNF_API _tnf_process_control = {
	.version = TNF_PROBE_ABI,
	.size = sizeof(struct tnf_process_control),
	.state = TNF_PROC_NO_BUFFER,
	.file_min = FILE_MIN,
	.ops = &_tnf_probe_ops,
	.open = process_open,
#if defined(__x86_64__)
	.fast_define = tnf_fast_define,
	.fast_entry = tnf_fast_entry,
	.fast_inner = tnf_fast_inner,
	.fast_return = tnf_fast_return,
#endif
};

/* Several threads look and set, and the controller does from outside. */
static uint32_t
process_state(void)
{
	return __atomic_load_n(&_tnf_process_control.state, __ATOMIC_ACQUIRE);
}

static void
set_state(uint32_t now)
{
	__atomic_store_n(&_tnf_process_control.state, now, __ATOMIC_RELEASE);
}

static bool
is_stopped(void)
{
	return __atomic_load_n(&_tnf_process_control.stopped, __ATOMIC_SEQ_CST);
}

static void
set_live(bool live)
{
	__atomic_store_n(&tnf_p.guard->live, live ? tnf_p.epoch : 0, __ATOMIC_SEQ_CST);
}

static void
new_epoch(void)
{
	uint32_t next = tnf_p.epoch + 1;

	__atomic_store_n(&tnf_p.epoch, next == 0 ? 1 : next, __ATOMIC_SEQ_CST);
}

void
tnf_process_broken(int error)
{
	__atomic_store_n(&_tnf_process_control.broken_errno, error, __ATOMIC_RELAXED);
	set_state(TNF_PROC_BROKEN);
	set_live(false);
}

/* Twenty bits of the pid name space's number; 0: not known. */
static uint32_t
pid_namespace(void)
{
	struct stat st;
	uint32_t n;

	if (stat("/proc/self/ns/pid", &st) == -1)
		return 0;
	n = (uint32_t)(st.st_ino ^ st.st_ino >> 20) & 0xfffff;
	return n == 0 ? 1 : n;
}

/* The guard of the process that sets up.  Without such a page (Linux before 4.14) only
   fork() is noticed. */
static struct guard *
own_guard(struct guard *now)
{
	struct guard *g;

	if (now != &first_guard)
		return now;
	g = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (g == MAP_FAILED)
		return now;
	if (madvise(g, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) == -1) {
		munmap(g, (size_t)sysconf(_SC_PAGESIZE));
		return now;
	}
	g->phase = PHASE_BUSY;
	__atomic_store_n(&tnf_p.guard, g, __ATOMIC_RELEASE);
	return g;
}

/* Fails if the state has become broken: a handler has forked in between, and we are the child. */
static bool
now_running(uint32_t was)
{
	return __atomic_compare_exchange_n(&_tnf_process_control.state, &was,
	    TNF_PROC_RUNNING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/*
 * The number of a thread, without a system call: what names its clock is
 * made of it (clock_getcpuclockid(3), and the kernel's posix-timers).  It is
 * the C library's idea, which a bare clone() leaves as it was in the parent.
 */
uint32_t
tnf_tid_of(pthread_t thread)
{
	clockid_t id;

	return pthread_getcpuclockid(thread, &id) != 0 ? 0 : ~((uint32_t)id >> 3) & 0x1fffffff;
}

uint32_t
tnf_own_tid(void)
{
	return tnf_tid_of(pthread_self());
}

/* A child whose pid is higher than its parent's is in the parent's pid name space.  A
   lower one means that the machine's numbers have begun again, or that the child is in a
   new name space, where getppid() is 0.  If the parent's pid is 1 the numbers tell nothing.
   In these cases we call getppid(), unless a seccomp filter might refuse it (quiet).  Then,
   with a lower pid, pidns becomes 0, unknown, so that no process takes the child's blocks
   back.  We do not read /proc for it: that may be out of reach (chroot). */
static void
child_of_fork(int32_t pid)
{
	bool lower = pid <= tnf_p.pid;

	if (is_quiet())
		tnf_p.pidns = lower ? 0 : tnf_p.pidns;
	else if ((lower || tnf_p.pid == 1) && getppid() == 0)
		tnf_p.pidns = pid_namespace();
	tnf_p.pid = pid;
}

static int32_t forker;		/* the process that called fork() last */

static void
who_are_we(void)
{
	tnf_p.pid = getpid();
	tnf_p.pidns = pid_namespace();
	tnf_p.ask_tid = tnf_own_tid() != (uint32_t)syscall(SYS_gettid);
}

/* Others can write to the state, too.  A program that has overwritten it, so that it says
   running without a file, is left alone. */
static bool
has_file(void)
{
	return tnf_p.file != NULL || tnf_p.later != NULL;
}

/* The first hit of a child.  No system call: a filter might refuse it.  False: only
   the kernel knows the child's number, and we must not ask it. */
static bool
set_up_child(void)
{
	uint32_t tid = tnf_own_tid();
	/* The process in between may have hit no probe. */
	int32_t from = __atomic_load_n(&forker, __ATOMIC_RELAXED);
	int32_t parent = tnf_p.guard->pid != 0 && from != 0 ? from : tnf_p.pid;

	tnf_tag_reset();
	if (tnf_p.later != NULL) {
		tnf_p.file = tnf_p.later;
		tnf_p.later = NULL;
	}
	if (tnf_p.guard->pid != 0)
		child_of_fork(tnf_p.guard->pid);
	else if (!tnf_p.ask_tid && tnf_t.tid != 0 && tnf_t.tid != tid)
		child_of_fork((int32_t)tid);
	else if (!is_quiet())
		who_are_we();
	else
		return false;
	tnf_clock_unlock();
	__atomic_fetch_add(&tnf_ext(tnf_file())->attached, 1, __ATOMIC_RELAXED);
	new_epoch();
	tnf_names_process(parent, true);
	return true;
}

/* The first file of this process; 0 or an errno. */
static int
set_up(const char *path, uint64_t size, int fd)
{
	int error;

	tnf_tag_reset();
	who_are_we();
	tnf_clock_init();
	tnf_thread_key();
	error = tnf_file_open(path, size, fd);
	if (error == 0) {
		new_epoch();
		tnf_names_process(is_quiet() ? 0 : getppid(), false);
	}
	return error;
}

/* A hit is no cancellation point, nor are the functions that the controller calls. */
static int
no_cancellation(void)
{
	int was = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	return was;
}

static int64_t refused;		/* when the file's permissions refused it */

/* Opens the file that a controller which cannot call us has asked for.  false: not now. */
static bool
set_up_at_hit(void)
{
	const struct tnf_process_control *c = &_tnf_process_control;
	int error, cancel;

	if (refused != 0 && tnf_clock_now() < refused + RETRY_NS)
		return false;
	cancel = no_cancellation();
	error = set_up(c->file_name, c->file_size, -1);
	pthread_setcancelstate(cancel, NULL);
	/* We may get the file when the process has its own rights again. */
	if (error == EACCES)
		refused = tnf_clock_now();
	if (error == EBUSY || error == EAGAIN || error == EACCES)
		return false;
	if (error != 0)
		tnf_process_broken(error);
	else
		now_running(TNF_PROC_READY);
	return true;
}

static uint32_t hopeless;

/*
 * Called in a loop, with n = 0, 1, ..., by a thread that waits until another one has
 * finished work that only one may do.  Yields or sleeps once and returns true.  Returns
 * false when the caller should give up: the other thread makes no progress, since a
 * debugger may have stopped it.  From then on each waiter gives up after 4 turns,
 * until tnf_wait_over() says that a wait has succeeded.
 */
bool
tnf_wait(unsigned n)
{
	static const struct timespec nap = { 0, 100000 };
	int cancel;

	if (n >= (__atomic_load_n(&hopeless, __ATOMIC_RELAXED) ? 4 : YIELDS + NAPS)) {
		__atomic_store_n(&hopeless, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (is_quiet()) {
		for (unsigned i = 0; i < SPINS; i++)
			__asm__ volatile("" ::: "memory");
	} else if (n < YIELDS) {
		sched_yield();
	} else {
		cancel = no_cancellation();
		nanosleep(&nap, NULL);
		pthread_setcancelstate(cancel, NULL);
	}
	return true;
}

void
tnf_wait_over(void)
{
	if (__atomic_load_n(&hopeless, __ATOMIC_RELAXED))
		__atomic_store_n(&hopeless, 0, __ATOMIC_RELAXED);
}

/* Becomes the thread that sets up.  false: that has been done, or another thread is
   at it and does not get ahead. */
static bool
process_claim(struct guard *g)
{
	uint32_t phase;

	for (unsigned i = 0;; i++) {
		phase = PHASE_NEW;
		if (__atomic_compare_exchange_n(&g->phase, &phase, PHASE_BUSY,
		    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (phase == PHASE_READY || g != __atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE))
			return false;
		if (!tnf_wait(i))
			return false;
	}
}

/* Lets 'live' follow 'stopped', whoever changes that at the same time.  Before
   all is set up nothing is live, and whoever sets up comes here afterwards. */
static void
live_follow(void)
{
	uint32_t epoch;
	bool stopped;

	if (__atomic_load_n(&tnf_p.guard->phase, __ATOMIC_SEQ_CST) !=
	    PHASE_READY || process_state() != TNF_PROC_RUNNING)
		return;
	do {
		stopped = is_stopped();
		epoch = __atomic_load_n(&tnf_p.epoch, __ATOMIC_SEQ_CST);
		set_live(!stopped);
	} while (stopped != is_stopped() || epoch !=
	    __atomic_load_n(&tnf_p.epoch, __ATOMIC_SEQ_CST));
}

/*
 * Called by a hit that has found the guard not live; true: the hit may record now.  The first hit
 * opens the file here if no controller has had it opened (set_up_at_hit()).  It must
 * have no cancellation point, change no errno and allocate nothing, for the hit may be in
 * a signal handler; it does not wait long for another thread; and the first hit of a
 * child makes no system call that a seccomp filter could refuse (set_up_child()).
 */
bool
tnf_process_ready(void)
{
	struct guard *g = __atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE);
	uint32_t now = process_state();
	bool done;

	if (is_stopped() || (now != TNF_PROC_READY && now != TNF_PROC_RUNNING) ||
	    (now == TNF_PROC_RUNNING && !has_file()))
		return false;
	if (!process_claim(g)) {
		/* Another thread sets up: it has replaced the guard, and goes on there. */
		g = __atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE);
		if (!is_live() && process_claim(g))
			__atomic_store_n(&g->phase, PHASE_NEW, __ATOMIC_RELEASE);
		if (!is_live() && !is_stopped())
			tnf_lost(TNF_LOST_BUSY);
		return is_live();
	}
	g = own_guard(g);
	work_begins();
	done = now == TNF_PROC_RUNNING ? set_up_child() : set_up_at_hit();
	__atomic_store_n(&g->phase, done ? PHASE_READY : PHASE_NEW, __ATOMIC_SEQ_CST);
	if (done)
		live_follow();
	else
		tnf_lost(TNF_LOST_BUSY);
	work_ends();
	return is_live();
}

/* Leaves the file that we have just opened, because a controller has stopped us and named another
   one, which the next hit opens.  Ours has no events.  A pointer into its mapping that somebody
   still has leads to memory then, and no longer to the file (tnf_file_gone()). */
static void
leave_first(void)
{
	struct file *f = tnf_file();

	__atomic_fetch_add(&tnf_ext(f)->ended, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&tnf_p.file, NULL, __ATOMIC_RELEASE);
	tnf_file_gone(f);
}

/*
 * Gives the process its first file, or another one if the first could not be written.
 * Only one thread does so: EBUSY if another is at it.  give_way: EBUSY also if a controller has
 * given the process a file before this thread begins.
 */
static int
open_first(struct guard *g, const char *path, uint64_t size, int fd, bool give_way)
{
	uint32_t was = process_state(), phase = PHASE_READY;
	int error;

	if (was == TNF_PROC_BROKEN && tnf_file() != NULL)
		return _tnf_process_control.broken_errno;
	/* It is PHASE_READY also if a controller has just had a file opened. */
	if ((give_way || !__atomic_compare_exchange_n(&g->phase, &phase, PHASE_BUSY, false,
	    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) && !process_claim(g))
		return EBUSY;
	g = own_guard(g);
	work_begins();
	if (!give_way)
		set_state(TNF_PROC_NO_BUFFER);
	error = process_state() == TNF_PROC_NO_BUFFER ? set_up(path, size, fd) : EBUSY;
	if (error == 0 && !now_running(TNF_PROC_NO_BUFFER)) {
		error = process_state() == TNF_PROC_READY ? EBUSY : ECHILD;
		if (error == EBUSY)
			leave_first();
	}
	if (error != 0 && process_state() == TNF_PROC_NO_BUFFER)
		set_state(was);
	__atomic_store_n(&g->phase, error == 0 ? PHASE_READY : PHASE_NEW, __ATOMIC_SEQ_CST);
	work_ends();
	return error;
}

static int
open_next(struct guard *g, const char *path, uint64_t size, int fd)
{
	bool known;
	int error;

	if (!has_file())
		return EINVAL;
	/* A child that has not hit a probe yet. */
	if (process_claim(g)) {
		work_begins();
		known = set_up_child();
		__atomic_store_n(&g->phase, known ? PHASE_READY : PHASE_NEW, __ATOMIC_SEQ_CST);
		work_ends();
		if (!known)
			return ECHILD;
	} else if (__atomic_load_n(&g->phase, __ATOMIC_ACQUIRE) != PHASE_READY) {
		return EBUSY;
	}
	error = tnf_file_switch(path, size, fd);
	/* The file first: a thread that sees the epoch finds the file that belongs to it. */
	if (error == 0)
		new_epoch();
	return error;
}

int
tnf_process_give(const char *path, uint64_t size, int fd, bool give_way)
{
	struct tnf_process_control *c = &_tnf_process_control;
	size_t len = strlen(path) + 1;
	int error = ENAMETOOLONG, saved = errno, cancel = no_cancellation();

	if (len <= sizeof(c->file_name))
		error = !give_way && process_state() == TNF_PROC_RUNNING ?
		    open_next(tnf_p.guard, path, size, fd) :
		    open_first(tnf_p.guard, path, size, fd, give_way);
	if (error == 0) {
		memcpy(c->file_name, path, len);
		c->file_size = size;
		live_follow();
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return error;
}

/* Called by the controller (target.h), in a thread of its choice. */
static void
process_open(const char *path, uint64_t size, int32_t fd)
{
	int error;

	tnf_span_look();
	error = tnf_process_give(path, size, fd, false);
	__atomic_store_n(&_tnf_process_control.open_result, error, __ATOMIC_RELEASE);
}

void TNF_API
tnf_process_disable(void)
{
	__atomic_store_n(&_tnf_process_control.stopped, true, __ATOMIC_SEQ_CST);
	live_follow();
}

void TNF_API
tnf_process_freeze(const char *why)
{
	int saved = errno;

	tnf_process_disable();
	tnf_names_freeze(why);
	errno = saved;
}

void TNF_API
tnf_process_enable(void)
{
	__atomic_store_n(&_tnf_process_control.stopped, false, __ATOMIC_SEQ_CST);
	live_follow();
}

/* Parent and child are to share one file, so it must be open before. */
static void
before_fork(void)
{
	const struct guard *g;
	int32_t pid;
	int saved = errno;

	if (process_state() == TNF_PROC_READY)
		tnf_process_ready();
	/* By this the child sees that it has another number. */
	if (!tnf_p.ask_tid)
		tnf_t.tid = tnf_own_tid();
	/* Several threads may fork at once, and each of them notes the same. */
	g = __atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE);
	pid = g->pid;
	if (pid == 0 && __atomic_load_n(&g->phase, __ATOMIC_ACQUIRE) == PHASE_READY)
		pid = tnf_p.pid;
	__atomic_store_n(&forker, pid, __ATOMIC_RELAXED);
	errno = saved;
}

/*
 * fork() was called within a hit: by an argument, a connected function, or a
 * handler that has interrupted it at any instruction.  The hit is the parent's,
 * who commits it.  In the child it goes on to its end, too, so that what it
 * writes must be nobody's: memory of the child's own takes the place of the
 * file.  At its next hit the child gets the file back, at another address.  If
 * the fork came within a definition, it does not: it would take the half of one for
 * a whole one.
 */
static void
leave_hit(const struct thread *t)
{
	struct file *later = NULL;
	int error = ECHILD;

	if (tnf_p.later != NULL || process_state() == TNF_PROC_BROKEN ||
	    (tnf_p.file == NULL && t->at_work == 0))
		return;		/* there is nothing to be kept away from */
	if (t->at_work == 0)
		error = tnf_file_again(tnf_p.file, &later);
	/* It may have begun before the process got its latest file. */
	for (const struct file *f = tnf_p.file; f != NULL; f = f->older)
		if (!tnf_file_gone(f))
			error = errno;
	if (error != 0)
		tnf_process_broken(error);
	else
		tnf_p.later = later;
}

static void
in_child(void)
{
	uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa();
	struct thread *t = &tnf_t;
	int saved = errno;

	tnf_span_forked();
	/* Another such function may have hit a probe before. */
	if (tnf_p.guard->phase == PHASE_READY && !tnf_p.ask_tid &&
	    tnf_p.pid == (int32_t)tnf_own_tid())
		return;
	memset(tnf_p.guard, 0, sizeof(*tnf_p.guard));
	tnf_runtime_unlock();
	if (!tnf_p.ask_tid)
		tnf_p.guard->pid = (int32_t)tnf_own_tid();
	if (t->busy != 0 ? !tnf_hit_left(t, NULL, frame) : t->at_work != 0) {
		leave_hit(t);
		errno = saved;
		return;
	}
	/* The blocks are the parent's. */
	t->busy = BUSY_OTHERWISE;
	signal_fence();
	tnf_block_drop_all(t, false);
	tnf_roll_back(t);
	t->setup = NULL;
	signal_fence();
	t->busy = 0;
}

/* In a program that is linked statically, before its own constructors. */
static void __attribute__((constructor(101)))
process_load(void)
{
	pthread_atfork(before_fork, NULL, in_child);
	tnf_names_load();
	tnf_span_look();
	/* Nothing can refuse it yet: no identity or filter has changed. */
	if (process_state() == TNF_PROC_READY)
		tnf_process_ready();
	/* A controller that has started the process has precedence. */
	else if (process_state() == TNF_PROC_NO_BUFFER)
		tnf_auto_start();
}

static void __attribute__((destructor))
at_exit(void)
{
	/* Not in a child that has not hit a probe itself. */
	if (tnf_file() == NULL || tnf_p.guard->phase != PHASE_READY)
		return;
	tnf_thread_exit();
	__atomic_fetch_add(&tnf_ext(tnf_file())->ended, 1, __ATOMIC_RELAXED);
}
