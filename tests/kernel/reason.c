/*
 * reason.c - the queue that a thread sleeps on is found by its entry on the stack, and a
 * word that an earlier call has left there is not taken for one; wherever on the stack, and
 * whoever else waits.
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
	else if (at < TEXT || at + n > TEXT + 0x2000000) {
		faults++;
		return -1;
	}
	return 0;
}

static u64 bpf_get_current_task(void) { return TASK; }

#pragma GCC diagnostic ignored "-Wshadow"
#include "kernel-probes/reason.bpf.h"

struct kp_map_stack_words stack_words;
struct kp_map_known known_stacks;

static void interrupt(void) { }
static u32 fake_cpu(void) { return 0; }
static u64 fake_clock(void) { return 0; }

static bool no_words;

static void *
fake_lookup(const void *map, u32 key)
{
	static struct stack_words words;
	static struct known known[KNOWN_STACKS];

	if (map == &known_stacks)
		return &known[key];
	return map == &stack_words && key == 0 && !no_words ? &words : NULL;
}

#define CALL	7		/* number of the system call */
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

/* An entry that an earlier call has left: its neighbours are gone. */
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

static unsigned number, failed;

static void
expect(const char *name, u64 got, u64 want)
{
	bool good = got == want && faults == 0;

	printf("%sok %u - %s\n", good ? "" : "not ", ++number, name);
	if (!good) {
		printf("# %#llx, should be %#llx; %u reads where nothing is\n",
		    (unsigned long long)got, (unsigned long long)want, faults);
		failed++;
	}
}

static void
clear(void)
{
	memset(stack, 0, sizeof stack);
	memset(heap, 0, sizeof heap);
	state.text_start = TEXT;
	state.text_end = TEXT + 0x1000000;
	state.image_end = TEXT + 0x2000000;
	faults = 0;
	state.wake_page = TEXT + 0x2000;
	state.wake_bit = TEXT + 0x3000;
}

static u64
search(unsigned hook)
{
	search_from((void *)(uintptr_t)AT(hook));
	return wait_queue(CALL, false);
}

/* With the words around it all different, so that each is known by its value. */
static u64
entry_of(unsigned i, u64 func)
{
	for (unsigned k = i - 12; k < i + 12; k++)
		stack[k] = HEAP + 0x1000 + k;
	stack[i] = TASK;
	stack[i + 1] = func;
	heap[15] = 1;
	heap[16] = heap[17] = AT(i + 2);
	stack[i + 2] = stack[i + 3] = HEAD;
	return search(i - 40);
}

/* Its function says what else a queue entry is part of; one that is no function is a link. */
static void
functions(void)
{
	static const struct { u64 func; int word; const char *name; } rows[] = {
		{ TEXT + 0x2000, -3, "a page" }, { TEXT + 0x3000, -4, "a bit" }, { TEXT + 0x1000, 0, "a queue" },
		{ TEXT, 0, "the first function" }, { TEXT + 0xffffff, 0, "the last function" },
		{ TEXT - 1, 1, "below the functions" }, { TEXT + 0x1000000, 1, "behind the functions" },
		{ TEXT + 0x2000000 - 8, 1, "at the image's end" },
	};
	const unsigned i = HOOK + 40;

	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		clear();
		u64 got = entry_of(i, rows[r].func);
		expect(rows[r].name, got, rows[r].word == 1 ? 0 :
		    rows[r].word == 0 ? HEAD - 8 : stack[i + rows[r].word]);
	}
}

/* poll(2): the first entry's table points back, and what it waits for is behind it. */
static void
polls(void)
{
	const unsigned i = HOOK + 40;

	for (int broken = 0; broken < 3; broken++) {
		clear();
		for (unsigned k = i + 1; k < i + 12; k++)
			stack[k] = k;
		stack[i] = TASK;
		stack[i + 6] = AT(i) - 24 + (broken == 1 ? 8 : 0);
		stack[i + 10] = broken == 2 ? 5 : HEAP + 0x3000;
		expect("poll", search(HOOK), broken == 0 ? HEAP + 0x3000 : 0);
	}
}

/* So many others wait on the same queue: all of them are looked at, up to a limit. */
static void
others(void)
{
	for (unsigned n = 1; n <= 16; n += n == 1 ? 14 : 1) {
		clear();
		simple(HOOK + 40);
		stack[HOOK + 41] = AT(200);
		heap[16] = 0;			/* it leads not back to us */
		heap[17] = AT(HOOK + 41);
		for (unsigned k = 0; k < n; k++) {
			stack[200 + 4 * k - 1] = TEXT + 0x5000;
			stack[200 + 4 * k] = k + 1 < n ? AT(204 + 4 * k) : HEAD;
		}
		stack[201] = AT(HOOK + 41);
		u64 got = search(HOOK);
		expect("entries before the head", got, n < 16 ? HEAD - 8 : 0);
		/* The next one cannot be seen, and the way back is as long. */
		clear();
		simple(HOOK + 40);
		stack[HOOK + 42] = AT(300);
		stack[HOOK + 41] = HEAP + 0x100000;
		for (unsigned k = 0; k < n; k++) {
			stack[300 + 4 * k - 1] = TEXT + 0x5000;
			stack[301 + 4 * k] = k + 1 < n ? AT(304 + 4 * k) : HEAD;
		}
		stack[300] = AT(HOOK + 41);
		got = search(HOOK);
		faults = 0;
		expect("entries behind the head", got, n < 16 ? HEAD - 8 : 0);
	}
}

/* The head has a lock in the place of a function, and behind that anything. */
static void
locks(void)
{
	static const struct { u64 before; bool head; } rows[] = {
		{ 0, true }, { 1, true }, { 2, true }, { 0xffff888000000000, true }, { 0xffff888000000001, true },
		{ 0xffff888000000002, false }, { TEXT, false },
	};

	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		clear();
		simple(HOOK + 40);
		heap[15] = rows[r].before;
		heap[16] = HEAP + 32 * 8;	/* goes on to where no function is */
		expect("lock", search(HOOK), rows[r].head ? HEAD - 8 : HEAP + 31 * 8);
	}
}

/* Links that do not hold. */
static void
broken(void)
{
	static u64 (*const put[])(unsigned) = { simple, plain, semaphore };
	static const unsigned links[] = { 41, 43, 40 };

	for (size_t i = 0; i < 3; i++) {
		unsigned at = HOOK + links[i];
		clear();
		put[i](HOOK + 40);
		heap[17] = 0;
		expect("no link back", search(HOOK), i == 2 ? 0 : HEAD - 8);
		heap[16] = 0;
		expect("no link at all", search(HOOK), 0);
		clear();
		put[i](HOOK + 40);
		stack[at] = stack[at + 1] = AT(at);
		expect("a link to itself", search(HOOK), 0);
		clear();
		put[i](HOOK + 40);
		stack[at] = 0x7fff00001000;
		expect("a link to a program", search(HOOK), 0);
	}
}

/* The way back of a semaphore's node is an address as well. */
static void
one_way(void)
{
	clear();
	semaphore(HOOK + 40);
	stack[HOOK + 41] = 5;
	expect("no way back", search(HOOK), 0);
}

/* Links are aligned, also where something stands that looks like one. */
static void
aligned(void)
{
	for (u64 odd = 1; odd < 8; odd++) {
		u64 link = AT(HOOK + 41);
		clear();
		simple(HOOK + 40);
		heap[16] = 0;
		stack[HOOK + 41] = HEAP + 0x40 + odd;
		memcpy((char *)heap + 0x48 + odd, &link, sizeof link);
		expect("not aligned", search(HOOK), 0);
	}
}

/* A question out of bounds, or without the map, finds nothing. */
static void
bounds(void)
{
	clear();
	simple(HOOK + 40);
	expect("found", search(HOOK), HEAD - 8);
	expect("a word too low", entry_queue(SEARCH_MARGIN - 1), 0);
	expect("a word too high", entry_queue(SEARCH_WORDS - SEARCH_MARGIN), 0);
	expect("words too high", search_words(TASK, SEARCH_WORDS - SEARCH_MARGIN - SEARCH_STEP + 1, SEARCH_WORDS), 0);
	expect("the words", search_words(TASK, 40, 40 + SEARCH_MARGIN), HEAD - 8);
	expect("too few words", search_words(TASK, 40, 39 + SEARCH_MARGIN), 0);
	no_words = true;
	search_from((void *)(uintptr_t)AT(0));
	expect("no map", entry_queue(40) | search_words(TASK, 40, SEARCH_WORDS) | search_stack(TASK) | search_again(TASK, CALL, true), 0);
	no_words = false;
}

/* Which words are looked at: of the stack's end, and of how many. */
static void
places(void)
{
	const unsigned end = sizeof stack / 8;

	for (unsigned p = 10; p < SEARCH_WORDS; p++) {
		clear();
		simple(HOOK + p);
		expect("place", search(HOOK), p >= SEARCH_MARGIN && p < SEARCH_WORDS - SEARCH_MARGIN ? HEAD - 8 : 0);
	}
	for (unsigned p = 30; p < 60; p++) {
		clear();
		simple(end - 64 + p);
		expect("place at the end", search(end - 64), p + 12 <= 63 ? HEAD - 8 : 0);
	}
	clear();
	simple(end - 3);
	expect("no stack", search(end - 4), 0);
	clear();
	simple(HOOK + 40);
	state.text_start = 0;
	expect("no functions are known", search(HOOK), 0);
}

/* In a known stack the words up to the entry are read; elsewhere it is found all the same. */
static void
known_places(void)
{
	u32 zero = 0;
	struct stack_words *w = bpf_map_lookup_elem(&stack_words, &zero);

	for (unsigned p = 30; p <= 50; p += 10) {
		clear();
		simple(HOOK + p);
		search_from((void *)(uintptr_t)AT(HOOK));
		expect("words are read", stack_read(w, 40 + SEARCH_MARGIN) && w->have == 40 + SEARCH_MARGIN, true);
		expect("no less", stack_read(w, 10) && w->have == 40 + SEARCH_MARGIN, true);
		w->entry = 40;
		expect("a known stack", wait_queue(CALL, false), HEAD - 8);
		expect("its place", w->found, p);
		expect("how much was read", w->have, p <= 40 ? 40 + SEARCH_MARGIN : SEARCH_WORDS);
	}
	search_from((void *)(uintptr_t)AT(HOOK));
	expect("all words", stack_read(w, SEARCH_WORDS), true);
	search_from((void *)(uintptr_t)AT(HOOK));
	expect("too many words", stack_read(w, SEARCH_WORDS + 1) || w->have != 0, false);
	search_from((void *)(uintptr_t)(HEAP - 8));
	bool got = stack_read(w, 20) || w->have != 0 || wait_queue(CALL, false) != 0;
	faults = 0;
	expect("no memory", got, false);
}

/* Without stacks the entry's place is remembered for the call: only the words around are read. */
static void
calls(void)
{
	static const struct {
		const char *name;
		unsigned at, call;
		u64 want;
		u32 have;
	} steps[] = {
		{ "first", 50, CALL, HEAD - 8, SEARCH_WORDS },
		{ "again", 50, CALL, HEAD - 8, 0 },
		{ "elsewhere", 60, CALL, HEAD - 8, SEARCH_WORDS },
		{ "there again", 60, CALL, HEAD - 8, 0 },
		{ "another call of this slot", 60, CALL + KNOWN_STACKS / KNOWN_WAYS, HEAD - 8, SEARCH_WORDS },
		{ "it takes the slot's place", 60, CALL, HEAD - 8, SEARCH_WORDS },
		{ "gone", 0, CALL, 0, SEARCH_WORDS },
	};
	u32 zero = 0;
	struct stack_words *w = bpf_map_lookup_elem(&stack_words, &zero);

	for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		clear();
		if (steps[i].at != 0)
			simple(HOOK + steps[i].at);
		else
			simple_gone(HOOK + 60);
		search_from((void *)(uintptr_t)AT(HOOK));
		expect(steps[i].name, wait_queue(steps[i].call, true), steps[i].want);
		expect("words read", w->have, steps[i].have);
	}
	/* The words around would go beyond the stack's end. */
	clear();
	search_from((void *)(uintptr_t)AT(sizeof stack / 8 - 70));
	expect("near the end", wait_queue(CALL, true), 0);
}

int
main(void)
{
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		clear();
		u64 want = cases[i].put(HOOK + 40);
		if (cases[i].stray != 0)
			stack[HOOK + 40 + cases[i].stray] = TASK;
		expect(cases[i].name, search(HOOK), want);
	}
	functions();
	polls();
	others();
	locks();
	broken();
	one_way();
	aligned();
	bounds();
	places();
	known_places();
	calls();
	printf("1..%u\n", number);
	return failed != 0;
}
