/*
 * reason.c - the queue that a thread sleeps on is found by its entry on the stack, and a
 * word that an earlier call has left there is not taken for one.
 *
 * The search is the one that the kernel runs, over memory that is laid out as there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK		0xffffc90000400000ull
#define HEAP		0xffff888012340000ull
#define TEXT		0xffffffff81000000ull
#define KERNEL_STACK_SIZE	16384ull
#define barrier_var(v)	__asm__ volatile("" : "+r"(v))
#define is_kernel_address(v)	((v) >= 0xffff800000000000ull)

#include "tests/kernel/fake-bpf.h"

static u64 stack[KERNEL_STACK_SIZE / 8], heap[64];
static unsigned faults;		/* reads where nothing is */
#define TASK	(HEAP + 0x100)

/* Words are read from the two memories; elsewhere there is none. */
static long
bpf_probe_read_kernel(void *to, u32 n, const void *from)
{
	u64 at = (u64)(uintptr_t)from;

	memset(to, 0, n);
	if (at >= STACK && at + n <= STACK + sizeof stack)
		memcpy(to, (char *)stack + (at - STACK), n);
	else if (at >= HEAP && at + n <= HEAP + sizeof heap)
		memcpy(to, (char *)heap + (at - HEAP), n);
	else {
		faults++;
		return -1;
	}
	return 0;
}

static u64 bpf_get_current_task(void) { return TASK; }

#pragma GCC diagnostic ignored "-Wshadow"
#include "kernel-probes/reason.bpf.h"

static void interrupt(void) { }
static u32 fake_cpu(void) { return 0; }
static u64 fake_clock(void) { return 0; }

static void *
fake_lookup(const void *map, u32 key)
{
	static struct stack_words words;

	return map == &stack_words && key == 0 ? &words : NULL;
}

#define HOOK	100		/* word of the stack where the search begins */
#define AT(i)	(STACK + (i) * 8ull)
#define HEAD	(HEAP + 16 * 8)

/* A list with one node, at words i and i + 1 of the stack; 'before' precedes its head. */
static void
list_of(unsigned i, u64 before)
{
	heap[15] = before;
	heap[16] = heap[17] = AT(i);
	stack[i] = stack[i + 1] = HEAD;
}

/* System V: the links, and the task behind them; there the queue is the head itself. */
static u64
semaphore(unsigned i)
{
	list_of(i, 1700000000);
	stack[i + 2] = TASK;
	return HEAD;
}

/* The same with what precedes the head of one semaphore's own list: a lock. */
static u64
one_semaphore(unsigned i)
{
	list_of(i, 0);
	stack[i + 2] = TASK;
	return HEAD;
}

/* The task, and the links behind it; the queue begins with its lock. */
static u64
simple(unsigned i)
{
	stack[i] = TASK;
	list_of(i + 1, 0);
	return HEAD - 8;
}

/* Flags, the task, the function, the links. */
static u64
plain(unsigned i)
{
	stack[i + 1] = TASK;
	stack[i + 2] = TEXT + 0x1000;
	list_of(i + 3, 1);
	return HEAD - 8;
}

#define OTHER		(STACK - 0x100000)	/* a stack that is gone */

/* What an entry of an earlier call has left: its neighbours are gone. */
static u64
gone(unsigned i)
{
	plain(i);
	stack[i + 3] = OTHER + 0x3e08;
	stack[i + 4] = OTHER + 0x3f08;
	return 0;
}

static u64
simple_gone(unsigned i)
{
	stack[i] = TASK;
	stack[i + 1] = OTHER + 0x3e08;
	stack[i + 2] = OTHER + 0x3f08;
	return 0;
}

static u64
semaphore_gone(unsigned i)
{
	stack[i] = stack[i + 1] = OTHER + 0x3e08;
	stack[i + 2] = TASK;
	return 0;
}

/* The next one is on another stack, and the head before. */
static u64
second(unsigned i)
{
	plain(i);
	stack[i + 3] = OTHER + 0x3e08;
	return HEAD - 8;
}

static const struct reason_case {
	const char *name;
	u64	(*put)(unsigned);
	int	stray;		/* a word that is the task, so many words from there; 0: none */
} cases[] = {
	{ "semaphores", semaphore, 0 },
	{ "one semaphore", one_semaphore, 0 },
	{ "simple queue", simple, 0 },
	{ "queue", plain, 0 },
	{ "semaphores, a word below", semaphore, -1 },
	{ "one semaphore, a word below", one_semaphore, -1 },
	{ "semaphores, a word further below", semaphore, -2 },
	{ "semaphores, a word above", semaphore, 3 },
	{ "queue, a word below", plain, -1 },
	{ "queue, a word further below", plain, -3 },
	{ "simple queue, a word below", simple, -1 },
	{ "queue, neighbours gone", gone, 0 },
	{ "simple queue, neighbours gone", simple_gone, 0 },
	{ "semaphores, neighbours gone", semaphore_gone, 0 },
	{ "queue, the next one gone", second, 0 },
};

int
main(void)
{
	unsigned n = sizeof cases / sizeof cases[0], i, failed = 0;
	u64 want, got;

	state.text_start = TEXT;
	state.text_end = TEXT + 0x1000000;
	state.image_end = TEXT + 0x2000000;
	printf("1..%u\n", n);
	for (i = 0; i < n; i++) {
		memset(stack, 0, sizeof stack);
		memset(heap, 0, sizeof heap);
		want = cases[i].put(HOOK + 40);
		if (cases[i].stray != 0)
			stack[HOOK + 40 + cases[i].stray] = TASK;
		search_from((void *)(uintptr_t)AT(HOOK));
		faults = 0;
		got = wait_queue();
		printf("%sok %u - %s\n", got == want && faults == 0 ? "" : "not ", i + 1,
		    cases[i].name);
		if (got != want || faults != 0) {
			printf("# %#llx, should be %#llx; %u reads where nothing is\n",
			    (unsigned long long)got, (unsigned long long)want, faults);
			failed++;
		}
	}
	return failed != 0;
}
