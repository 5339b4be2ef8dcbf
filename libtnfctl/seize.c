/*
 * seize.c - takes a thread, and never waits for it longer than a moment at a time.
 *
 * While a thread of a process is in an exec(), PTRACE_SEIZE waits for it (the kernel's
 * cred_guard_mutex).  That thread waits until those whom its exec() has ended are reaped, and
 * of a traced thread only the tracer can do that: we, who wait.  So a timer sends this
 * thread a signal, which gets it out of the call, and then it reaps.  The kernel would begin
 * the call anew when the handler has returned; so the handler leaves by siglongjmp(3).
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "libtnfctl/proc-impl.h"

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

void
tnfctl_seize_begin(struct proc *p)
{
	int sig = moment_signal();
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };

	event.sigev_notify_thread_id = gettid();
	if (sig != 0 && timer_create(CLOCK_MONOTONIC, &event, &p->moment) == 0)
		p->moment_signal = sig;
}

/* One that came too late waits, blocked, and must not find our client. */
void
tnfctl_seize_end(struct proc *p)
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
	if ((error == EINTR || error == EPERM) && tnfctl_proc_is_ours(tid))
		return 0;
	if (error == EINTR) {
		tnfctl_proc_reap(p);
		return tnfctl_proc_is_late(p) ? ETIMEDOUT : EAGAIN;
	}
	if (error == EPERM && tnfctl_proc_is_dead(p, tid))
		return ESRCH;
	return error == EPERM && ++*refusals < SEIZE_TRIES ? EAGAIN : error;
}

int
tnfctl_seize(struct proc *p, pid_t tid)
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
