/*
 * arch.h - the facts that libtnfprobe must know of a kind of machine.
 *
 * CLOCKSOURCE is what the kernel calls the counter when it keeps time with it; without
 * it there is no counter that we know, and every hit asks the kernel.
 *
 * THREAD_ALIGN is what the C library aligns the variables of a thread to, at most, for
 * a library that a process loads late.
 *
 * alternate_stack() is sigaltstack(2), and returns 0 if it has answered.  Where there are fast
 * probes it does without the C library: its functions may have such probes, and a hit that finds
 * its thread busy calls this.
 */
#ifndef LIBTNFPROBE_ARCH_ARCH_H
#define LIBTNFPROBE_ARCH_ARCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#define CLOCKSOURCE	"tsc"
#define THREAD_ALIGN	64

static inline uint64_t
ticks(void)
{
	return __builtin_ia32_rdtsc();
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

static inline uint64_t
ticks(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}

#else

#define THREAD_ALIGN	16

/* Every hit finds its anchor too old. */
static inline uint64_t
ticks(void)
{
	return 0;
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
