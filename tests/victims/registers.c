/*
 * registers.c - victim: spins with known values in its registers.
 *
 * Prints "unharmed" when standard input ends and all still hold them.
 */
#include <pthread.h>

#include <tnf/probe.h>

#include "victim.h"

/* Until *flag is set; 0: all registers as they were. */
static long
spin(volatile int *flag)
{
	long bad = 0;

#ifdef __x86_64__
	__asm__ volatile(
	    "mov $0x1111111111111111, %%rbx\n\t"
	    "mov $0x2222222222222222, %%r8\n\t"
	    "mov $0x3333333333333333, %%r9\n\t"
	    "mov $0x4444444444444444, %%r12\n\t"
	    "mov $0x5555555555555555, %%r15\n\t"
	    "movq %%rbx, %%xmm0\n\t"
	    "movq %%r9, %%xmm15\n\t"
	    "1: cmpl $0, (%[flag])\n\t"
	    "je 1b\n\t"
	    "movq %%xmm0, %%rax\n\t"
	    "cmp %%rax, %%rbx\n\t" "jne 2f\n\t"
	    "movq %%xmm15, %%rax\n\t"
	    "cmp %%rax, %%r9\n\t" "jne 2f\n\t"
	    "mov $0x1111111111111111, %%rax\n\t"
	    "cmp %%rax, %%rbx\n\t" "jne 2f\n\t"
	    "mov $0x2222222222222222, %%rax\n\t"
	    "cmp %%rax, %%r8\n\t" "jne 2f\n\t"
	    "mov $0x3333333333333333, %%rax\n\t"
	    "cmp %%rax, %%r9\n\t" "jne 2f\n\t"
	    "mov $0x4444444444444444, %%rax\n\t"
	    "cmp %%rax, %%r12\n\t" "jne 2f\n\t"
	    "mov $0x5555555555555555, %%rax\n\t"
	    "cmp %%rax, %%r15\n\t" "je 3f\n\t"
	    "2: movl $1, %[bad]\n\t"
	    "3:"
	    : [bad] "+m"(bad) : [flag] "r"(flag)
	    : "rax", "rbx", "r8", "r9", "r12", "r15", "xmm0", "xmm15", "cc",
	    "memory");
#elif defined(__aarch64__)
	__asm__ volatile(
	    "ldr x7, =0x1111111111111111\n\t"
	    "ldr x9, =0x2222222222222222\n\t"
	    "ldr x17, =0x3333333333333333\n\t"
	    "ldr x20, =0x4444444444444444\n\t"
	    "ldr x28, =0x5555555555555555\n\t"
	    "fmov d0, x7\n\t"
	    "fmov d31, x17\n\t"
	    "mov v8.d[1], x20\n\t"
	    "1: ldr w10, [%[flag]]\n\t"
	    "cbz w10, 1b\n\t"
	    "fmov x10, d0\n\t"
	    "cmp x10, x7\n\t" "b.ne 2f\n\t"
	    "fmov x10, d31\n\t"
	    "cmp x10, x17\n\t" "b.ne 2f\n\t"
	    "mov x10, v8.d[1]\n\t"
	    "cmp x10, x20\n\t" "b.ne 2f\n\t"
	    "ldr x10, =0x1111111111111111\n\t"
	    "cmp x10, x7\n\t" "b.ne 2f\n\t"
	    "ldr x10, =0x2222222222222222\n\t"
	    "cmp x10, x9\n\t" "b.ne 2f\n\t"
	    "ldr x10, =0x3333333333333333\n\t"
	    "cmp x10, x17\n\t" "b.ne 2f\n\t"
	    "ldr x10, =0x4444444444444444\n\t"
	    "cmp x10, x20\n\t" "b.ne 2f\n\t"
	    "ldr x10, =0x5555555555555555\n\t"
	    "cmp x10, x28\n\t" "b.eq 3f\n\t"
	    "2: mov %[bad], #1\n\t"
	    "3:"
	    : [bad] "+r"(bad) : [flag] "r"(flag)
	    : "x7", "x9", "x10", "x17", "x20", "x28", "v0", "v8", "v31", "cc", "memory");
#else
	while (!*flag)
		;
#endif
	return bad;
}

static volatile int done;

static void *
wait_for_end(void *arg)
{
	char c;

	while (read(0, &c, 1) > 0)
		;
	done = 1;
	return NULL;
}

int
main(void)
{
	pthread_t t;

	TNF_PROBE_0(registers, "spin", "");
	pthread_create(&t, NULL, wait_for_end, NULL);
	victim_ready();
	if (spin(&done) != 0)
		victim_harmed("a register");
	pthread_join(t, NULL);
	puts("unharmed");
	return 0;
}
