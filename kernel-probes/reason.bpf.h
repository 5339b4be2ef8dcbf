/*
 * reason.bpf.h - the wait queue that a thread sleeps on, found on its stack.
 *
 * A thread that sleeps on a wait queue has its queue entry on its stack: a word
 * that is the task itself, followed by the function to wake it and the links of
 * a list (wait_queue_entry), or only by these links (swait_queue).  If the links
 * hold, the list leads to its head, which is the queue.  The layouts are
 * private to the kernel; where they do not match, the answer is 0.
 */
#ifndef KERNEL_PROBES_REASON_BPF_H
#define KERNEL_PROBES_REASON_BPF_H

#include "kernel-probes/stack.bpf.h"

#define QUEUE_WALK	16	/* entries between ours and the head */
#define STACKS_SHIFT	40	/* stacks lie together, far from other memory */

/*
 * A call that is over may have left a word on the stack, which leads to a stack that is gone.
 * A read there would cause a page fault of the kernel, which costs time and which traces
 * of such faults would show.  So we read only memory that is always mapped: the stack that
 * 'own' is on, the kernel's direct map, which is below all stacks, and the kernel's image.
 */
#define NOT_READ	(~0ull)		/* as a word: no address of anything */

/* Returns the word at the address 'at', or NOT_READ. */
static __always_inline u64 kernel_word(u64 at, u64 own)
{
	u64 v = NOT_READ;

	if ((at ^ own) < KERNEL_STACK_SIZE ||
	    (is_kernel_address(at) && at < own - (1ull << STACKS_SHIFT)) ||
	    (at >= state.text_start && at < state.image_end))
		bpf_probe_read_kernel(&v, sizeof v, (void *)at);
	return v;
}

/* True if these two words can be the links of a node: most words that an earlier call has left
   behind cannot. */
static __always_inline bool are_links(u64 next, u64 prev)
{
	return is_kernel_address(next) && is_kernel_address(prev) && ((next | prev) & 7) == 0;
}

/* Follows a list from an entry's node to the head of the queue, and returns the address of the
   queue's lock, which is before the head; 0: none of QUEUE_WALK nodes is the head.  The word
   before an entry's node is a function or a task, an address of the kernel.  A lock is no such
   address, or its low 32 bits are 0 or 1 and garbage is in the upper ones.  'way' is the offset
   of the link to follow: 0 leads to the next node, 8 to the node before. */
__noinline u64 queue_head(u64 node, u64 own, u32 way)
{
	u64 before;

	for (int i = 0; i < QUEUE_WALK; i++) {
		before = kernel_word(node - 8, own);
		if (!is_kernel_address(before) || (u32)before <= 1)
			return node - 8;
		if (before == NOT_READ)
			break;
		node = kernel_word(node + way, own);
	}
	return 0;
}

/*
 * poll(2) and select(2) keep their entries in a table on the stack (struct poll_wqueues).  If
 * word i is the task in this table, the first entry begins at i + 3: file, key, flags, then at
 * i + 6 the address of the table, the function, the links, and at i + 10 the queue.
 * Returns the queue of this first entry; 0: word i is of something else, or the thread polls
 * nothing and waits only for time.
 */
static __always_inline u64 polled_queue(const struct stack_words *w, u32 i, u64 at)
{
	if (w->word[i + 6] != at - 3 * 8 || !is_kernel_address(w->word[i + 10]))
		return 0;
	return w->word[i + 10];
}

/*
 * System V messages and semaphores have a list of waiters: each waiter is a node on its own
 * stack, two links with the task (at 'at') behind them.  A thread that is about to sleep has just
 * been added, so its node is the last one, and its next link leads to the head.  The head is not
 * on this stack, and the head's link back leads to our node.  Returns the head's address, or 0.
 */
static __always_inline u64 waiters_head(u64 next, u64 prev, u64 at)
{
	u64 link = at - 2 * 8;

	return are_links(next, prev) && (next ^ at) >= KERNEL_STACK_SIZE && kernel_word(next + 8, at) == link ? next : 0;
}

/* The queue of the entry that word i of the stack belongs to, or 0.
   (__noinline: see README.) */
__noinline u64 entry_queue(u32 i)
{
	struct stack_words *w;
	u64 func, next, prev, link, at, head;
	bool plain, ahead = false, behind = false;
	u32 zero = 0;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || i < SEARCH_MARGIN)
		return 0;
	barrier_var(i);		/* two comparisons, or 6.1 sees no bound */
	if (i >= SEARCH_WORDS - SEARCH_MARGIN)
		return 0;
	next = func = w->word[i + 1];
	prev = w->word[i + 2];
	at = *(volatile u64 *)&w->ctx + i * 8;
	link = at + 8;
	plain = func >= state.text_start && func < state.text_end;
	if (plain) {
		next = prev;
		prev = w->word[i + 3];
		link += 8;
	}
	/* One neighbour may be on the stack of another thread, which we do not read: one neighbour
	   that leads back to this entry is enough. */
	if (are_links(next, prev) && next != link) {
		ahead = kernel_word(next + 8, at) == link;
		behind = !ahead && kernel_word(prev, at) == link;
	}
	if (!ahead && !behind)
		return polled_queue(w, i, at) ?: waiters_head(w->word[i - 2], w->word[i - 1], at);
	/* If the task stands both before and behind the links, they are one of two: the node of a
	   System V waiter, or the entry of a simple queue; the other word is the garbage of an
	   earlier call.  Nothing tells the two apart: the words of the stack are the same, and in
	   both cases a lock is before the head.  We take the links for a System V node.  If they
	   were of a simple queue, we return the address of its list, 8 bytes behind its lock. */
	if (!plain && w->word[i + 3] == w->word[i] && (head = waiters_head(next, prev, at + 3 * 8)) != 0)
		return head;
	if (plain && func == state.wake_page)
		return w->word[i - 3];		/* the folio */
	if (plain && func == state.wake_bit)
		return w->word[i - 4];		/* the word of the bit */
	if (ahead && (head = queue_head(next, at, 0)) != 0)
		return head;
	return behind || kernel_word(prev, at) == link ? queue_head(prev, at, 8) : 0;
}

/* Returns the end of the stack that 'at' is on, without the stack's last word.  Stacks begin at
   multiples of their size. */
static __always_inline u64 stack_end(u64 at)
{
	return (at | (KERNEL_STACK_SIZE - 1)) - 7;
}

/* Searches up to SEARCH_STEP words of the copy of the stack, which has 'words' of them, for the
   task's entry; notes its place in w->found and returns its queue, or 0. */
__noinline u64 search_words(u64 task, u32 from, u32 words)
{
	struct stack_words *w;
	u32 zero = 0, at;
	u64 r;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || from > SEARCH_WORDS - SEARCH_MARGIN - SEARCH_STEP)
		return 0;
	for (u32 i = 0; i < SEARCH_STEP; i++) {
		at = from + i;
		barrier_var(at);	/* 6.1 loses the bound of 'from' on the stack */
		if (at >= SEARCH_WORDS || at + SEARCH_MARGIN > words)
			break;
		if (w->word[at] == task && (r = entry_queue(at)) != 0) {
			w->found = at;
			return r;
		}
	}
	return 0;
}

static __always_inline u64 search_from_below(u64 task, u32 words)
{
	u64 r;

	for (u32 i = SEARCH_MARGIN; i < SEARCH_WORDS - SEARCH_MARGIN && i < words; i += SEARCH_STEP)
		if ((r = search_words(task, i, words)) != 0)
			return r;
	return 0;
}

/* Looks at one word: where the last search found the entry, in this known stack or, if nobody
   asks for stacks ('no_stack'), in this system call.  Returns the entry's queue; 0: the entry is
   not there now.  (__noinline, also the next: see README.) */
__noinline u64 search_again(u64 task, u32 call, u32 no_stack)
{
	struct stack_words *w;
	u32 zero = 0, slot = known_slot(call, 0), at, begin;
	struct known *k;
	u64 r;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (w == NULL || k == NULL || state.text_start == 0)
		return 0;
	if (no_stack && k->call == call)
		w->entry = k->entry;
	at = w->entry;
	if (at < SEARCH_MARGIN || at + SEARCH_MARGIN > stack_size(w))
		return 0;
	begin = at - SEARCH_MARGIN;
	barrier_var(begin);	/* a comparison of this only: 5.15 and 6.1 see its bound */
	if (begin >= SEARCH_WORDS - 2 * SEARCH_MARGIN)
		return 0;
	if (w->have < at + SEARCH_MARGIN && bpf_probe_read_kernel(&w->word[begin],
	    2 * SEARCH_MARGIN * sizeof w->word[0],
	    (void *)(*(volatile u64 *)&w->ctx + begin * sizeof w->word[0])) != 0)
		return 0;
	if (w->word[begin + SEARCH_MARGIN] != task || (r = entry_queue(at)) == 0)
		return 0;
	w->found = at;
	return r;
}

/* Remembers for a system call where the search has found the entry, for search_again(). */
__noinline int search_note(u32 call)
{
	struct stack_words *w;
	u32 zero = 0, slot = known_slot(call, 0);
	struct known *k;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (w == NULL || k == NULL || (k->size != 0 && k->call != call))
		return 0;
	k->call = call;
	k->entry = w->found;
	return 0;
}

/* Searches the stack for the task's queue.  In a known stack the words up to the entry's former
   place are in w->word already: we search these first, and read the stack anew only if the entry
   is not among them.  Returns the queue, or 0. */
__noinline u64 search_stack(u64 task)
{
	struct stack_words *w;
	u32 zero = 0, bytes;
	u64 base, end, r;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || state.text_start == 0)
		return 0;
	if (w->entry != 0 && (r = search_from_below(task, w->have)) != 0)
		return r;
	base = *(volatile u64 *)&w->ctx;
	end = stack_end(base);
	bytes = end - base < SEARCH_BYTES ? (end - base) & ~7ull : SEARCH_BYTES;
	if (bytes > SEARCH_BYTES || bytes < 64 ||
	    bpf_probe_read_kernel(w->word, bytes, (void *)base) != 0)
		return 0;
	w->have = bytes / 8;
	return search_from_below(task, w->have);
}

/*
 * Lets the search begin at the hook's arguments, which are on the thread's stack; a program's
 * own variables need not be there (since 6.13).  The address goes through memory because the
 * verifier refuses arithmetic with a pointer to a context.
 */
static __always_inline void search_from(void *ctx)
{
	struct stack_words *w;
	u32 zero = 0;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL)
		return;
	*(volatile u64 *)&w->ctx = (u64)ctx;
	w->have = w->entry = w->found = 0;
}

/* Returns the queue on which the current thread sleeps, or 0.  'no_stack': no probe asks for its
   stack. */
static __always_inline u64 wait_queue(u32 call, bool no_stack)
{
	u64 task = bpf_get_current_task(), r = search_again(task, call, no_stack);

	if (r == 0 && (r = search_stack(task)) != 0 && no_stack)
		search_note(call);
	return r;
}

#endif /* KERNEL_PROBES_REASON_BPF_H */
