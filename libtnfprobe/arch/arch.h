/*
 * arch.h - the facts that libtnfprobe must know of a kind of machine.
 *
 * CLOCKSOURCE is what the kernel calls the counter when it keeps time with it; without
 * it there is no counter that we know, and every hit asks the kernel.
 *
 * THREAD_ALIGN is what the C library aligns the variables of a thread to, at most, for
 * a library that a process loads late.
 *
 * thread_variables() is where the variables of the object with this number are in the calling
 * thread, by the C library's table; NULL: nowhere yet.  RELOCATION_TPOFF and RELOCATION_TLSDESC
 * are the kinds of relocation for variables of threads.
 *
 * alternate_stack() is sigaltstack(2), and returns 0 if it has answered.  Where there are fast
 * probes it does without the C library: its functions may have such probes, and a hit that finds
 * its thread busy calls this.
 */
#ifndef LIBTNFPROBE_ARCH_ARCH_H
#define LIBTNFPROBE_ARCH_ARCH_H

#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#define CLOCKSOURCE	"tsc"
#define THREAD_ALIGN	64
#define DTV_PLACE	1	/* words behind the thread pointer */
#define RELOCATION_TPOFF R_X86_64_TPOFF64
#define RELOCATION_TLSDESC R_X86_64_TLSDESC

static inline uint64_t
ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline char *
thread_pointer(void)
{
	char *p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
}

/* Returns what the kernel does: a negative errno for a failure. */
static inline long
kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
	    "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

static inline long
alternate_stack(stack_t *ret)
{
	return kernel_call(SYS_sigaltstack, 0, (long)(uintptr_t)ret, 0, 0, 0, 0);
}

#elif defined(__aarch64__)

#define CLOCKSOURCE	"arch_sys_counter"
#define THREAD_ALIGN	16
#define DTV_PLACE	0
#define RELOCATION_TPOFF R_AARCH64_TLS_TPREL
#define RELOCATION_TLSDESC R_AARCH64_TLSDESC

static inline uint64_t
ticks(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}

static inline char *
thread_pointer(void)
{
	return __builtin_thread_pointer();
}

#else

#define THREAD_ALIGN	16
#define RELOCATION_TPOFF UINT32_MAX
#define RELOCATION_TLSDESC UINT32_MAX

/* Every hit finds its anchor too old. */
static inline uint64_t
ticks(void)
{
	return 0;
}

/* NULL: not known. */
static inline char *
thread_pointer(void)
{
	return NULL;
}

#endif

#if defined(DTV_PLACE)
/* An entry of glibc's table.  The one before the first has the number of entries. */
struct dtv {
	union {
		size_t	 size;
		void	*block;		/* (void *)-1: none yet */
	} u;
	void	*unused;
};

static inline const char *
thread_variables(uint32_t module)
{
	const struct dtv *t = ((const struct dtv *const *)__builtin_thread_pointer())[DTV_PLACE];

	return t == NULL || module > t[-1].u.size || t[module].u.block == (void *)-1 ? NULL :
	    t[module].u.block;
}
#else
static inline const char *
thread_variables(uint32_t module)
{
	return NULL;
}
#endif

#if !defined(__x86_64__)
static inline long
alternate_stack(stack_t *ret)
{
	return sigaltstack(NULL, ret);
}
#endif

#endif /* LIBTNFPROBE_ARCH_ARCH_H */
