/*
 * sigbus.c - the trace file is cut off while it is mapped.
 *
 * A store behind the new end of the file raises SIGBUS.  The program has done
 * nothing wrong and must live: memory takes the place of the file, tracing is
 * over, and the store is done again.  Every other SIGBUS goes where it went
 * before.  A program that sets its own handler later gets ours out of the way.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtnfprobe/internal.h"

static struct sigaction before;

/* Of an instruction of this thread; others come from kill(), or from memory
   that went bad somewhere. */
static bool
is_fault(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void
pass_on(int sig, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
	else if (before.sa_handler == SIG_DFL || is_fault(info)) {
		/* The fault comes again and finds nobody. */
		sigaction(SIGBUS, &before, NULL);
		if (!is_fault(info))
			syscall(SYS_rt_tgsigqueueinfo, getpid(),
			    syscall(SYS_gettid), sig, info);
	}
}

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	const struct file *now = tnf_file(), *f = now;
	uintptr_t at = (uintptr_t)info->si_addr;
	int saved = errno;

	while (f != NULL && at - (uintptr_t)f->base >= f->size)
		f = f->older;
	if (f != NULL && info->si_code > 0 && tnf_file_gone(f)) {
		if (f == now)
			tnf_process_broken(EFAULT);
	} else {
		pass_on(sig, info, context);
	}
	errno = saved;
}

void
tnf_sigbus_guard(void)
{
	struct sigaction ours = { .sa_sigaction = on_sigbus }, found;

	if (sigaction(SIGBUS, NULL, &found) == -1 ||
	    found.sa_sigaction == on_sigbus)
		return;
	before = found;
	ours.sa_mask = before.sa_mask;
	ours.sa_flags = (before.sa_flags & (SA_NODEFER | SA_RESTART)) |
	    SA_ONSTACK | SA_SIGINFO;
	sigaction(SIGBUS, &ours, NULL);
}
