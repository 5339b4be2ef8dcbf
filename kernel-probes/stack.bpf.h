/*
 * stack.bpf.h - the frames of a thread that is about to sleep.
 *
 * The kernel's unwinder looks each frame up in a table, which takes it some 70 ns; but
 * threads sleep in the same places again and again.  So we remember the frames that it
 * found, and how far above the hook's arguments each return address was.  A
 * thread that has the same addresses at the same places has the same frames: from
 * one frame the unwinder gets to the next by the address and the place alone.  (A few
 * functions align their frames.  Then the places differ, and so does what is there.)
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

#include "kernel-probes/reason.bpf.h"

#define FRAMES		64
#define FRAMES_OURS	8	/* of the tracing itself, and schedule() */
#define KNOWN_STACKS	128
#define KNOWN_WAYS	4	/* of the stacks of a call */
#define KNOWN_FRAMES	(KP_STACK_MAX + FRAMES_OURS)
#define KNOWN_OUTER	2	/* frames that may be outside of the words left out */
#define KNOWN_PATIENCE	4	/* stacks of a call that are walked, for one remembered */

struct frames {
	u64 pc[FRAMES];
	u32 ours;		/* the most frames of the tracing that were seen */
	u32 n;			/* frames that were found, ... */
	u32 words;		/* ... in so many words of the stack; ... */
	u32 left;		/* ... of these are still to be found there */
};

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
	u64 pc[KNOWN_FRAMES];
	u16 at[KNOWN_FRAMES];	/* words above the hook's arguments */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct frames);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KNOWN_STACKS);
	__type(key, u32);
	__type(value, struct known);
} known_stacks SEC(".maps");

static __always_inline struct frames *my_frames(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&frames, &zero);
}

static __always_inline u32 known_slot(u32 call, u32 way)
{
	return (call * KNOWN_WAYS + way) & (KNOWN_STACKS - 1);
}

/* Is frame i of the stack at word 'at'?  Then it is put into f, too. */
static __always_inline bool known_frame(const struct known *k, struct frames *f,
    const struct stack_words *w, u32 i, u32 at)
{
	barrier_var(at);
	if (at >= SEARCH_WORDS || at >= w->have || w->word[at] != k->pc[i])
		return false;
	f->pc[i] = k->pc[i];
	return true;
}

/* Is the current stack, of 'size' words, this known one?  Then its frames are put into f,
   but for those of the tracing.  (__noinline: see README.) */
__noinline int known_is(struct known *k, struct frames *f, struct stack_words *w, u32 size)
{
	u32 longer, shift = 0, inner, n, i;

	if (k == NULL || f == NULL || w == NULL)
		return false;
	longer = size - k->size;
	if (!stack_read(w, k->words + ((s32)longer > 0 ? longer : 0)))
		return false;
	inner = k->n < KNOWN_OUTER ? 0 : k->n - KNOWN_OUTER;
	for (i = 0; i < KNOWN_FRAMES && i < inner; i++)
		if (i >= k->first && !known_frame(k, f, w, i, k->at[i]))
			return false;
	for (u32 outer = 0; outer < KNOWN_OUTER; outer++) {
		/* Read again: the verifier knows another bound after each turn above. */
		n = read_once(k->n);
		i = (n < KNOWN_OUTER ? 0 : n - KNOWN_OUTER) + outer;
		barrier_var(i);
		if (i >= KNOWN_FRAMES || i >= k->n)
			break;
		if (i < k->first)
			continue;
		if (known_frame(k, f, w, i, k->at[i] + shift))
			continue;
		if (shift != 0 || !known_frame(k, f, w, i, k->at[i] + longer))
			return false;
		shift = longer;
	}
	/* The outermost frame is as far from the stack's end as it was. */
	return k->n == k->asked || shift == longer;
}

/*
 * Is the current stack one that is remembered?  Returns the first of its frames that
 * is not ours << 16 | their number << 8 | its slot; 0: it has to be walked.
 * (__noinline: see README.)
 */
__noinline u32 known_look(u32 call, u32 asked)
{
	struct frames *f = my_frames();
	struct stack_words *w;
	u32 slot, zero = 0;
	struct known *k;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || f == NULL)
		return 0;
	for (u32 way = 0; way < KNOWN_WAYS; way++) {
		slot = known_slot(call, way);
		k = bpf_map_lookup_elem(&known_stacks, &slot);
		if (k == NULL || k->size == 0 || k->call != call || k->asked != asked ||
		    !known_is(k, f, w, stack_size(w)))
			continue;
		w->entry = k->entry;
		return k->from << 16 | k->n << 8 | slot;
	}
	return 0;
}

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

/* Returns 'frame' if its address is word i of the stack, otherwise KNOWN_FRAMES. */
static __always_inline u32 known_at(const struct frames *f, const struct stack_words *w,
    u32 i, u32 frame)
{
	barrier_var(i);
	barrier_var(frame);
	return i < SEARCH_WORDS && i < f->words && frame < KNOWN_FRAMES && frame < f->n &&
	    w->word[i] == f->pc[frame] ? frame : KNOWN_FRAMES;
}

#define KNOWN_STEP	24	/* words that one call looks at */

/*
 * Searches KNOWN_STEP words of the stack, from 'end' downwards, for the frames' return
 * addresses.  Afterwards f->left is the innermost frame that was found.
 * (__noinline, also the next: see README.)
 */
__noinline int known_from_above(struct known *k, struct frames *f, struct stack_words *w, u32 end)
{
	u32 frame;

	if (k == NULL || f == NULL || w == NULL)
		return 0;
	for (u32 i = 1; i <= KNOWN_STEP; i++) {
		frame = known_at(f, w, end - i, read_once(f->left) - 1);
		if (frame >= KNOWN_FRAMES)
			continue;
		k->at[frame] = end - i;
		write_once(f->left, frame);
	}
	return 0;
}

/* The same from below, from frame f->left on: are they at the same places? */
__noinline int known_from_below(struct known *k, struct frames *f, struct stack_words *w, u32 begin)
{
	u32 frame;

	if (k == NULL || f == NULL || w == NULL)
		return 0;
	for (u32 i = 0; i < KNOWN_STEP; i++) {
		frame = known_at(f, w, begin + i, read_once(f->left));
		if (frame >= KNOWN_FRAMES)
			continue;
		if (k->at[frame] != begin + i)
			return 0;
		write_once(f->left, frame + 1);
	}
	return 1;
}

/* Finds the places of the frames; false: the two searches differ. */
static __always_inline bool known_places(struct known *k, struct frames *f,
    struct stack_words *w)
{
	_Static_assert(SEARCH_WORDS % KNOWN_STEP == 0, "no word is left over");
	f->left = f->n;
	for (u32 end = SEARCH_WORDS; end > 0; end -= KNOWN_STEP)
		known_from_above(k, f, w, end);
	k->first = f->left;
	for (u32 begin = 0; begin < SEARCH_WORDS; begin += KNOWN_STEP)
		if (!known_from_below(k, f, w, begin))
			return false;
	return f->left == f->n;
}

/* Remembers the stack that has been walked: n frames, those of the caller behind
   'from'. */
__noinline int known_learn(u32 call, u32 asked, u32 from, u32 n)
{
	struct frames *f = my_frames();
	struct stack_words *w;
	u32 slot, zero = 0, size, words, last = n - 1;
	struct known *k;

	w = bpf_map_lookup_elem(&stack_words, &zero);
	if (w == NULL || f == NULL || last >= KNOWN_FRAMES)
		return 0;
	slot = known_slot(call, 0);
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (k == NULL || k->missed++ % KNOWN_PATIENCE != 0)
		return 0;
	slot = known_slot(call, k->missed / KNOWN_PATIENCE % KNOWN_WAYS);
	k = bpf_map_lookup_elem(&known_stacks, &slot);
	if (k == NULL)
		return 0;
	k->size = 0;
	size = words = stack_size(w);
	if (words > SEARCH_WORDS)
		words = SEARCH_WORDS;
	if (!stack_read(w, words))
		return 0;
	f->words = words;
	f->n = n;
	if (!known_places(k, f, w) || k->first > from)
		return 0;
	for (u32 i = 0; i < KNOWN_FRAMES; i++)
		k->pc[i] = f->pc[i];
	k->call = call;
	k->asked = asked;
	k->from = from;
	k->n = n;
	barrier_var(last);	/* 6.1 has lost its bound */
	if (last < KNOWN_FRAMES)
		k->words = k->at[last] + 1;
	k->entry = 0;
	k->size = size;
	return 0;
}

/* The index of the first frame above schedule(), among those that were taken. */
__noinline u32 frames_ours(void)
{
	u32 zero = 0, from = 4;
	struct frames *f = bpf_map_lookup_elem(&frames, &zero);

	if (f == NULL)
		return from;
	for (u32 i = 0; i < FRAMES_OURS; i++)
		if (f->pc[i] >= state.schedule_start && f->pc[i] < state.schedule_end)
			from = i + 1;
	return from;
}

/* The number of frames to ask for, to have 'depth' of them above schedule().  Each frame
   costs time: only as many are added as schedule() and the tracing have needed so far. */
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
	u32 asked = stack_asked(f, depth), have = known >> 8 & 0xff, from = known >> 16;
	long got;

	if (known == 0) {
		got = bpf_get_stack(ctx, f->pc, asked * sizeof f->pc[0], 0);
		have = got < 0 ? 0 : (u32)got / sizeof f->pc[0];
		from = frames_ours();
		if (f->ours == 0 || from > f->ours)
			f->ours = from;
		known_learn(call, asked, from, have);
	} else
		known_entry(known & 0xff);
	have = have > from ? have - from : 0;
	*n = have < depth ? have : depth;
	return from;
}

#endif /* KERNEL_PROBES_STACK_BPF_H */
