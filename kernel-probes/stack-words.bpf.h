/*
 * stack-words.bpf.h - the words of the stack that a program runs on.
 */
#ifndef KERNEL_PROBES_STACK_WORDS_BPF_H
#define KERNEL_PROBES_STACK_WORDS_BPF_H

#include "kernel-probes/write.bpf.h"

#define SEARCH_STEP	16	/* words that one call looks at */
#define SEARCH_MARGIN	12	/* around a word, for the rest of an entry */
#define SEARCH_WORDS	(24 * SEARCH_STEP + 2 * SEARCH_MARGIN)	/* from the hook upwards */
#define SEARCH_BYTES	(SEARCH_WORDS * (u32)sizeof(u64))
#define WORDS_ROOM	512u	/* a power of two: a mask bounds an index */

struct stack_words {
	u64 ctx;
	u32 have;		/* words that have been read */
	u32 entry;		/* where the queue entry of a known stack was, or 0 */
	u32 found;		/* where the search has found the entry, or 0 */
	u32 pad;
	u64 word[WORDS_ROOM];
};

/* By depth of writers; a thread that is about to sleep has the first. */
struct kp_map_stack_words {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_DEPTHS);
	__type(key, u32);
	__type(value, struct stack_words);
};

extern struct kp_map_stack_words stack_words SEC(".maps");

/* The number of words from the hook's arguments to the stack's end. */
static __always_inline u32 stack_size(const struct stack_words *w)
{
	u32 place = *(volatile u64 *)&w->ctx & (KERNEL_STACK_SIZE - 1);

	return (KERNEL_STACK_SIZE - place) / sizeof w->word[0];
}

/* Reads the first words of the stack, not above its end, unless they have been read. */
static __always_inline bool stack_read(struct stack_words *w, u32 words)
{
	u32 most = stack_size(w), bytes;

	if (words > most)
		words = most;
	bytes = words * sizeof w->word[0];
	if (words <= w->have)
		return true;
	barrier_var(bytes);
	if (bytes > SEARCH_BYTES ||
	    bpf_probe_read_kernel(w->word, bytes, (void *)*(volatile u64 *)&w->ctx) != 0)
		return false;
	w->have = words;
	return true;
}

#endif /* KERNEL_PROBES_STACK_WORDS_BPF_H */
