/*
 * sigbus.c - mapped files that somebody else may cut short.
 */
#include <sys/mman.h>

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/sigbus.h"

static volatile uintptr_t sigbus_at;
static uintptr_t page;

/* A page of zeros takes the place of the one that is not there.  What the file says
   later is not seen there any more: its reader gives it up. */
static void
sigbus_handle(int sig, siginfo_t *si, void *context)
{
	uintptr_t at = (uintptr_t)si->si_addr;

	if (si->si_code != BUS_ADRERR || mmap((void *)(at & ~(page - 1)), page,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL);
		return;
	}
	sigbus_at = at;
}

void
sigbus_catch(void)
{
	struct sigaction sa = { .sa_sigaction = sigbus_handle, .sa_flags = SA_SIGINFO };

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &sa, NULL);
}

bool
sigbus_happened(const void *base, size_t size)
{
	uintptr_t at = sigbus_at;

	if (at == 0 || at - (uintptr_t)base >= size)
		return false;
	sigbus_at = 0;
	return true;
}
