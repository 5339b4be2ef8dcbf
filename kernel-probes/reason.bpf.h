/*
 * reason.bpf.h - the wait queue that a thread sleeps on, found on its stack.
 *
 * A thread that sleeps on a wait queue has its queue entry on its stack: a word
 * that is the task itself, followed by the function to wake it and the links of
 * a list (wait_queue_entry), or by the links alone (swait_queue).  If the links
 * hold, the list leads to its head, which is the queue.  The layouts are
 * private to the kernel; where they do not match, the answer is 0.
 */
#ifndef KERNEL_PROBES_REASON_BPF_H
#define KERNEL_PROBES_REASON_BPF_H

#include "kernel-probes/stack.bpf.h"

#define QUEUE_WALK	16	/* entries between ours and the head */
#define STACKS_SHIFT	40	/* stacks lie together, far from other memory */

/*
 * A word of the stack may be left of a call that is over, and lead to a stack that is gone.
 * A read there would cause a page fault of the kernel, which costs time and which traces
 * of such faults would show.  So we read only memory that is always mapped: the stack that
 * 'own' is on, the kernel's direct map, which is below all stacks, and the kernel's image.
 */
#define NOT_READ	(~0ull)		/* as a word: no address of anything */

/* The word there, or NOT_READ. */
static __always_inline u64 kernel_word(u64 at, u64 own)
{
	u64 v = NOT_READ;

	if ((at ^ own) < KERNEL_STACK_SIZE ||
	    (is_kernel_address(at) && at < own - (1ull << STACKS_SHIFT)) ||
	    (at >= state.text_start && at < state.image_end))
		bpf_probe_read_kernel(&v, sizeof v, (void *)at);
	return v;
}

/* Can these two be the links of a node?  Most words that an earlier call has left cannot. */
static __always_inline bool are_links(u64 next, u64 prev)
{
	return is_kernel_address(next) && is_kernel_address(prev) && ((next | prev) & 7) == 0;
}

/* Follows a list from an entry's node to the queue's head, the node that no entry surrounds.
   In place of an entry's function or task the head has a lock, maybe with garbage behind it.
   'way' is the offset of the link to follow: 0 leads to the next node, 8 to the one before. */
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
 * poll(2) and select(2) have a table of entries, which point to the table; the
 * task is in the table's head (struct poll_wqueues), and behind it the first
 * entry: file, key, flags, table, function, links, and the queue.  That queue
 * counts; a thread that polls nothing waits for time alone.
 */
static __always_inline u64 polled_queue(const struct stack_words *w, u32 i, u64 at)
{
	if (w->word[i + 6] != at - 3 * 8 || !is_kernel_address(w->word[i + 10]))
		return 0;
	return w->word[i + 10];
}

/*
 * System V messages and semaphores have a list of waiters: each is a node with the task
 * behind it.  The nodes are on the waiters' stacks; the head is not.  The latest waiter is
 * beside the head.
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
	/* One of its neighbours may be on the stack of another thread. */
	if (are_links(next, prev) && next != link) {
		ahead = kernel_word(next + 8, at) == link;
		behind = !ahead && kernel_word(prev, at) == link;
	}
	if (!ahead && !behind)
		return polled_queue(w, i, at) ?: waiters_head(w->word[i - 2], w->word[i - 1], at);
	/* If the task is behind the links as well, they are a System V node, and the word
	   below them is left of another call.  Or they are an entry of a simple queue, and
	   the word above them is left.  Nothing tells these two apart: the words of the
	   stack are the same, and a lock is before the head in both cases, the queue's or
	   the semaphore's.  In the second case the queue is named by its list instead of
	   its lock, 8 bytes further on. */
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

/* Stacks begin at multiples of their size; the last word is not looked at. */
static __always_inline u64 stack_end(u64 at)
{
	return (at | (KERNEL_STACK_SIZE - 1)) - 7;
}

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

/* Looks at the word alone where the entry was the last time: in a known stack or, where nobody
   asks for stacks ('alone'), in this system call.  (__noinline, also the next: see README.) */
__noinline u64 search_again(u64 task, u32 call, u32 alone)
{
	struct stack_words *w;
	u32 zero = 0, slot = known_slot(call, 0), at, begin;
	struct known *k;
	u64 r;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (w == NULL || k == NULL || state.text_start == 0)
		return 0;
	if (alone && k->call == call)
		w->entry = k->entry;
	at = w->entry;
	if (at < SEARCH_MARGIN || at + SEARCH_MARGIN > stack_size(w))
		return 0;
	begin = at - SEARCH_MARGIN;
	barrier_var(begin);	/* one comparison of it alone: 5.15 and 6.1 see its bound */
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

/* Remembers for a system call where the search has found the entry. */
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

/* Searches the stack for the task's queue.  In a known stack, the words up to the entry's
   former place have been read: the entry is there again, or below. */
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
 * The search begins at the hook's arguments, which are on the thread's stack;
 * a program's own variables may not be (since 6.13).  The address goes through
 * memory because the verifier refuses arithmetic with a pointer to a context.
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

/* The queue that the current thread sleeps on, or 0.  'alone': nobody asks for its stack. */
static __always_inline u64 wait_queue(u32 call, bool alone)
{
	u64 task = bpf_get_current_task(), r = search_again(task, call, alone);

	if (r == 0 && (r = search_stack(task)) != 0 && alone)
		search_note(call);
	return r;
}

#endif /* KERNEL_PROBES_REASON_BPF_H */
