/*
 * stack.bpf.h - the frames of a thread that is about to sleep, or at an event.
 *
 * The kernel's unwinder looks each frame up in a table, which takes some 70 ns a frame; but
 * threads sleep, and events happen, in the same places again and again.  So we remember
 * the frames that the unwinder has found, and how far above the hook's arguments each return
 * address was.  A thread that has the same addresses at the same places has the same frames:
 * the unwinder gets from one frame to the next by nothing but address and place.  (A few
 * functions align their frames.  Then the places differ, and so do the words there.)
 *
 * At the beginning of a system call the kernel leaves out a few words of the stack, at
 * random (CONFIG_RANDOMIZE_KSTACK_OFFSET).  The frames above these words keep their
 * distance from the stack's end.
 *
 * A stack is remembered only if searches from above and from below find its addresses
 * at the same places.
 */
#ifndef KERNEL_PROBES_STACK_BPF_H
#define KERNEL_PROBES_STACK_BPF_H

#include "kernel-probes/write.bpf.h"

/* The words of the stack that a program runs on. */

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

#define FRAMES_OURS	12	/* of the tracing itself, and schedule() */
#define KNOWN_STACKS	256
#define KNOWN_WAYS	4	/* of the stacks of a call */
#define KNOWN_FRAMES	(KP_STACK_MAX + FRAMES_OURS)
#define KNOWN_OUTER	2	/* frames that may be outside of the words left out */
#define KNOWN_PATIENCE	4	/* stacks of a call that are walked, for one remembered */

struct known {			/* a stack that has been walked */
	u32 size;		/* words from the hook's arguments to the stack's end; 0: none */
	u32 call;		/* of the thread */
	u32 asked;		/* frames that the unwinder was asked for */
	u32 from;		/* index of the first frame above ours */
	u32 first;		/* index of the first frame above the hook's arguments */
	u32 n;			/* frames that it found */
	u32 words;		/* of the stack that must be read to know it again */
	u32 missed;		/* stacks of the call that were walked; in its first element */
	u32 entry;		/* the word where the thread waits in a queue, or 0 */
	u32 pad;
	u64 pc[FRAMES];		/* KNOWN_FRAMES at most */
	u16 at[FRAMES];		/* words above the hook's arguments */
};

struct kp_map_known {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KNOWN_STACKS);
	__type(key, u32);
	__type(value, struct known);
};

extern struct kp_map_known known_stacks SEC(".maps");

static __always_inline u32 known_slot(u32 call, u32 way)
{
	return (call * KNOWN_WAYS + way) & (KNOWN_STACKS - 1);
}

/*
 * Looks for the current stack among those that are remembered.  Returns the index of the first
 * frame that is not ours << 24 | the number of frames << 16 | the slot of the remembered stack;
 * 0: the stack has to be walked.
 */
u32 known_look(u32 depth, u32 call, u32 asked);
/* Remembers the stack that has been walked: n frames, of which those before 'from' are ours. */
int known_learn(u32 depth, u32 call, u32 asked, u32 from, u32 n);

/* Notes where the search has found the wait queue's entry on a known stack, for the next
   time. */
static __always_inline void known_entry(u32 slot)
{
	struct stack_words *w;
	u32 zero = 0, at;
	struct known *k;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || (at = w->found) == 0)
		return;
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (k == NULL)
		return;
	k->entry = at;
	if (k->words < at + SEARCH_MARGIN)
		k->words = at + SEARCH_MARGIN;
}

/* Returns the index of the first frame above schedule() among the frames that were taken. */
u32 frames_ours(void);

/* Returns for how many frames to ask in order to have 'depth' frames above schedule().  Each
   frame costs time, so we add only as many as schedule() and the tracing have needed so far. */
static __always_inline u32 stack_asked(const struct frames *f, u32 depth)
{
	u32 ours = f->ours;

	return depth + (ours == 0 || ours > FRAMES_OURS ? FRAMES_OURS : ours);
}

/*
 * Puts the stack into f.  Returns the index of the first frame above schedule(), and in *n
 * the number of such frames, 'depth' at most.  'call' is the thread's system call, or
 * tells which kernel thread it is; 'known' is the answer of known_look().
 */
static __always_inline u32 stack_walk(void *ctx, struct frames *f, u32 depth, u32 call,
    u32 known, u32 *n)
{
	u32 asked = stack_asked(f, depth), have = known >> 16 & 0xff, from = known >> 24;
	long got;

	if (known == 0) {
		got = bpf_get_stack(ctx, f->pc, asked * sizeof f->pc[0], 0);
		have = got < 0 ? 0 : (u32)got / sizeof f->pc[0];
		from = frames_ours();
		if (f->ours == 0 || from > f->ours)
			f->ours = from;
		known_learn(0, call, asked, from, have);
	} else
		known_entry(known & 0xffff);
	have = have > from ? have - from : 0;
	*n = have < depth ? have : depth;
	return from;
}

#endif /* KERNEL_PROBES_STACK_BPF_H */
