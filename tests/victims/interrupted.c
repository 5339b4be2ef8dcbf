/*
 * interrupted.c - victim: a place where a call must change nothing.
 *
 * interrupted HOW: its only thread computes,
 * "cancelled": and has been cancelled, but reaches no cancellation point
 * "rseq": nearly always in a restartable sequence, until a library comes
 * SIGTERM ends it; it prints "unharmed".
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <tnf/probe.h>

#include "victim.h"

/* The C library registers the area since 2.35. */
#if (defined(__x86_64__) || defined(__aarch64__)) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_SEQUENCES
#endif

#define INSIDE	300000ul	/* rounds of a loop, ... */
#define OUTSIDE	30000ul		/* ... and between two sequences */

static volatile sig_atomic_t over;

static void
on_term(int sig)
{
	over = sig;
}

static void
harmed(void *arg)
{
	victim_harmed("it has acted upon a cancellation");
}

static void
compute(unsigned long rounds)
{
	volatile unsigned long n;

	for (n = 0; n < rounds; n++)
		;
}

static void
cancelled(void)
{
	pthread_cleanup_push(harmed, NULL);
	victim_ready();
	pthread_cancel(pthread_self());
	while (!over) {
		TNF_PROBE_0(computing, "interrupted", "");
		compute(OUTSIDE);
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
}

#ifdef HAVE_SEQUENCES

/* Reads *word until it is not 0, in one restartable sequence.  True: it was 0
   at first, and something else later. */
static bool
changes_inside(const uintptr_t *word)
{
	struct rseq *area = (struct rseq *)(void *)
	    ((char *)__builtin_thread_pointer() + __rseq_offset);
	unsigned long rounds = INSIDE;
	bool changed = false;

#ifdef __x86_64__
	__asm__ volatile(
	    ".pushsection .data.rel.local, \"aw\"\n"
	    "	.balign 32\n"
	    "3:	.long 0, 0\n"
	    "	.quad 1f, 2f - 1f, 4f\n"
	    ".popsection\n"
	    "	leaq 3b(%%rip), %%rax\n"
	    "	movq %%rax, %[cs]\n"
	    "1:	cmpq $0, (%[word])\n"
	    "	jne 2f\n"
	    "5:	cmpq $0, (%[word])\n"
	    "	jne 6f\n"
	    "	decq %[rounds]\n"
	    "	jne 5b\n"
	    "	jmp 2f\n"
	    "6:	movb $1, %[changed]\n"
	    "2:	jmp 7f\n"
	    "	.long 0x53053053\n"	/* RSEQ_SIG */
	    "4:\n"
	    "7:\n"
	    : [cs] "=m" (area->rseq_cs), [changed] "+m" (changed),
	      [rounds] "+r" (rounds)
	    : [word] "r" (word) : "rax", "memory", "cc");
#else
	__asm__ volatile(
	    ".pushsection .data.rel.local, \"aw\"\n"
	    "	.balign 32\n"
	    "3:	.long 0, 0\n"
	    "	.quad 1f, 2f - 1f, 4f\n"
	    ".popsection\n"
	    "	adrp x9, 3b\n"
	    "	add x9, x9, :lo12:3b\n"
	    "	str x9, %[cs]\n"
	    "1:	ldr x9, [%[word]]\n"
	    "	cbnz x9, 2f\n"
	    "5:	ldr x9, [%[word]]\n"
	    "	cbnz x9, 6f\n"
	    "	subs %[rounds], %[rounds], #1\n"
	    "	b.ne 5b\n"
	    "	b 2f\n"
	    "6:	mov %w[changed], #1\n"
	    "2:	b 7f\n"
	    "	.inst 0xd428bc00\n"	/* RSEQ_SIG */
	    "4:\n"
	    "7:\n"
	    : [cs] "=m" (area->rseq_cs), [changed] "+r" (changed),
	      [rounds] "+r" (rounds)
	    : [word] "r" (word) : "x9", "memory", "cc");
#endif
	return changed;
}

static void
sequence(void)
{
	struct link_map *last = _r_debug.r_map;

	while (last->l_next != NULL)
		last = last->l_next;
	victim_ready();
	while (!over) {
		if (changes_inside((const uintptr_t *)(const void *)
		    &last->l_next))
			victim_harmed("a restartable sequence went on");
		compute(OUTSIDE);
		TNF_PROBE_0(computing, "interrupted", "");
	}
}

#else
static void sequence(void) { victim_ready(); while (!over) compute(OUTSIDE); }
#endif

int
main(int argc, char **argv)
{
	signal(SIGTERM, on_term);
	if (argc > 1 && strcmp(argv[1], "rseq") == 0)
		sequence();
	else
		cancelled();
	puts("unharmed");
	return 0;
}
