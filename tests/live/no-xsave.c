/*
 * no-xsave.c - preloaded: the kernel has no registers of XSAVE to show, as on a machine
 * without it (QEMU's processor by default).
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

__attribute__((visibility("default"))) long
ptrace(enum __ptrace_request request, ...)
{
	long (*real)(enum __ptrace_request, pid_t, void *, void *);
	void *address, *data;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	address = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) &&
	    (uintptr_t)address == NT_X86_XSTATE) {
		errno = ENODEV;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
	return real(request, pid, address, data);
}
