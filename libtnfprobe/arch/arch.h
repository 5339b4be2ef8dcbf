/*
 * arch.h - the facts that libtnfprobe must know of a kind of machine.
 *
 * CLOCKSOURCE is what the kernel calls the counter when it keeps time with it; without
 * it there is no counter that we know, and every hit asks the kernel.
 *
 * THREAD_ALIGN is what the C library aligns the variables of a thread to, at most, for
 * a library that a process loads late.
 */
#ifndef LIBTNFPROBE_ARCH_ARCH_H
#define LIBTNFPROBE_ARCH_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>
#define CLOCKSOURCE	"tsc"
#define THREAD_ALIGN	64

static inline uint64_t
ticks(void)
{
	return __rdtsc();
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

#endif /* LIBTNFPROBE_ARCH_ARCH_H */
