/*
 * thread.c - a thread's first hit and its end; and what stops it from recording: the program's
 * calls, and prctl(), which libtnfprobe wraps.
 */
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdarg.h>

#include "libtnfprobe/internal.h"

#define KEYS_WITHOUT_MALLOC	32	/* glibc keeps so many in the thread */

static pthread_key_t key;
static bool have_key;

static void
give_back(struct thread *t)
{
	t->busy = BUSY_OTHERWISE;
	signal_fence();
	/* A child that has not hit a probe itself holds what is its parent's. */
	tnf_block_drop_all(t, t->pid == tnf_p.pid && tnf_p.guard->phase == PHASE_READY);
	signal_fence();
	t->busy = 0;
}

/* The process ends in order.  Destructors of keys do not run in the thread that
   ends it. */
void
tnf_thread_exit(void)
{
	if (tnf_t.busy == 0)
		give_back(&tnf_t);
}

/* The thread ends.  Its blocks go back, what it still hits is not recorded. */
static void
thread_end(void *arg)
{
	struct thread *t = arg;

	t->gone = 1;
	signal_fence();
	give_back(t);
}

/* If setting the key would allocate memory, which a signal handler must not,
   we do without: the blocks of dead threads are found when they are needed. */
void
tnf_thread_key(void)
{
	if (!have_key && pthread_key_create(&key, thread_end) == 0)
		have_key = true;
}

/* The GNU C library since 2.35 registers an area for each thread, so that the kernel writes
   there, among other things, on which CPU the thread runs (struct rseq in <linux/rseq.h>). */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
#define RSEQ_CPU_ID	4	/* offset of the member cpu_id */

static void
find_cpu(struct thread *t)
{
	char *here = thread_pointer();

	t->cpu = -1;
	t->cpu_at = &t->cpu;
	if (here != NULL && &__rseq_offset != NULL && &__rseq_size != NULL && __rseq_size != 0)
		t->cpu_at = (const int32_t *)(void *)(here + __rseq_offset + RSEQ_CPU_ID);
}

/* True if this thread may record.  Sets it up at its first hit in a process. */
bool
tnf_thread_ready(struct thread *t)
{
	uint32_t epoch;

	if (t->gone)
		return false;
	epoch = __atomic_load_n(&tnf_p.epoch, __ATOMIC_ACQUIRE);
	if (t->epoch != epoch) {
		/* The thread holds blocks of its parent, or of an older file. */
		tnf_block_drop_all(t, t->pid == tnf_p.pid);
		t->epoch = epoch;
		t->pid = tnf_p.pid;
		t->tid = tnf_p.ask_tid && !is_quiet() ? (uint32_t)syscall(SYS_gettid) :
		    tnf_own_tid();
		find_cpu(t);
		t->retry = 0;
		t->crowd = 0;
		if (have_key && key < KEYS_WITHOUT_MALLOC)
			pthread_setspecific(key, t);
		t->context = tnf_span_variable();
		t->span = SPAN_UNKNOWN;
		tnf_names_thread(t);
	}
	if (t->disabled)
		tnf_block_drop_all(t, true);
	return !t->disabled;
}

void TNF_API
tnf_thread_disable(void)
{
	struct thread *t = &tnf_t;

	t->disabled = 1;
	signal_fence();
	/* Within a hit, or in a handler that interrupted one, it is its commit
	   that gives the blocks back; or, if that is past it, the next hit. */
	if (t->busy != 0) {
		t->odd = 1;
		t->tsc_limit = 0;
	} else {
		give_back(t);
	}
}

void TNF_API
tnf_thread_enable(void)
{
	tnf_t.disabled = 0;
}

/*
 * Strict seccomp takes the time stamp counter and nearly all system calls
 * away, PR_SET_TSC the counter: the next hit would kill the thread.  So it
 * stops tracing first.  A filter may come, too, and it may kill.
 */
int TNF_API prctl(int, ...);

int
prctl(int option, ...)
{
	unsigned long a[4];
	bool stop, was;
	va_list ap;
	long r;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_NAME)
		return tnf_names_set((const char *)a[0]);
	was = tnf_t.disabled;
	stop = (option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT) ||
	    (option == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV);
	if (stop)
		tnf_thread_disable();
	r = syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
	if (r == 0 && (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS))
		tnf_p.quiet = true;
	if (stop && r == -1)
		tnf_t.disabled = was;
	return (int)r;
}
