/*
 * stack.bpf.c - recognizes stacks that were seen before (stack.bpf.h), and records the stacks of
 * events (stack-ask.bpf.h).
 */
#include "kernel-probes/stack.bpf.h"

const volatile bool with_stacks = false;
const volatile bool with_cast = false;
const volatile __u32 cast_type = 0;

struct kp_map_stack_words stack_words SEC(".maps");
struct kp_map_frames frames SEC(".maps");
struct kp_map_known known_stacks SEC(".maps");

KERNEL_CALL(const u64 *, bpf_rdonly_cast, u64 address, u64 type);

/* Word 'at' of the current stack.  With the cast it need not have been read: a load through that
   takes no call (see read_words() in import.bpf.c). */
static __always_inline u64 stack_word(const struct stack_words *w, u32 at, const bool cast)
{
	if (!cast)
		return w->word[at & (WORDS_ROOM - 1)];
	return *call_bpf_rdonly_cast(read_once(w->ctx) + at * sizeof w->word[0], cast_type);
}

/* Returns how many of the first words of the stack stack_word() may be asked for. */
static __always_inline u32 stack_prepare(struct stack_words *w, u32 words, const bool cast)
{
	u32 most = stack_size(w);

	if (!cast)
		return stack_read(w, words) ? w->have : 0;
	return words < most ? words : most;
}

/* If the return address of the known stack's frame i is at word 'at' of this stack, puts it into
   f and returns true. */
static __always_inline bool known_frame(const struct known *k, struct frames *f,
    const struct stack_words *w, u32 i, u32 at, u32 have, const bool cast)
{
	barrier_var(at);
	if (at >= SEARCH_WORDS || at >= have || stack_word(w, at, cast) != k->pc[i])
		return false;
	f->pc[i] = k->pc[i];
	return true;
}

/* If the current stack, of 'size' words, is this known one, puts its frames into f, except those
   of the tracing, and returns true. */
static __always_inline int known_same(struct known *k, struct frames *f, struct stack_words *w,
    u32 size, const bool cast)
{
	u32 longer, shift = 0, inner, n, i, have;
	u64 differ = 0;

	if (k == NULL || f == NULL || w == NULL)
		return false;
	longer = size - k->size;
	have = stack_prepare(w, k->words + ((s32)longer > 0 ? longer : 0), cast);
	inner = k->n < KNOWN_OUTER ? 0 : k->n - KNOWN_OUTER;
	if (have == 0 || (inner > k->first && k->at[(inner - 1) & (FRAMES - 1)] >= have))
		return false;
	/* One comparison for all frames: of a branch for each, the verifier would follow both ways. */
	i = k->first;
	for (u32 pass = 0; pass < KNOWN_FRAMES && i < inner; pass++, i++) {
		n = i & (FRAMES - 1);
		f->pc[n] = k->pc[n];
		differ |= stack_word(w, k->at[n], cast) ^ k->pc[n];
	}
	if (differ != 0)
		return false;
	for (u32 outer = 0; outer < KNOWN_OUTER; outer++) {
		/* Read again: after each pass of the loop above the verifier knows another bound. */
		n = read_once(k->n);
		i = (n < KNOWN_OUTER ? 0 : n - KNOWN_OUTER) + outer;
		barrier_var(i);
		if (i >= KNOWN_FRAMES || i >= k->n)
			break;
		if (i < k->first)
			continue;
		if (known_frame(k, f, w, i, k->at[i] + shift, have, cast))
			continue;
		if (shift != 0 || !known_frame(k, f, w, i, k->at[i] + longer, have, cast))
			return false;
		shift = longer;
	}
	/* The outermost frame is as far from the stack's end as it was. */
	return k->n == k->asked || shift == longer;
}

/* (__noinline, also the next: see README.) */
__noinline int known_is(struct known *k, struct frames *f, struct stack_words *w, u32 size)
{
	return known_same(k, f, w, size, false);
}

/* The same through the cast, without a copy of the stack.  (A function of its own: 6.1 has no stack
   of programs left for what this one keeps there.) */
__noinline int known_is_quickly(struct known *k, struct frames *f, struct stack_words *w, u32 size)
{
	return with_cast && known_same(k, f, w, size, true);
}

static __always_inline int known_again(struct known *k, struct frames *f, struct stack_words *w)
{
	return with_cast ? known_is_quickly(k, f, w, stack_size(w)) :
	    known_is(k, f, w, stack_size(w));
}

static __always_inline bool known_asked(const struct known *k, u32 asked)
{
	return k->size != 0 && k->asked == asked;
}

/* (__noinline: see README.) */
__noinline u32 known_look(u32 depth, u32 call, u32 asked)
{
	struct frames *f = my_frames(depth);
	struct stack_words *w;
	struct known *k;
	u32 slot;

	w = bpf_map_lookup_elem(&stack_words, &depth);
	if (w == NULL || f == NULL)
		return 0;
	for (u32 way = 0; way < KNOWN_WAYS; way++) {
		slot = known_slot(call, way);
		k = bpf_map_lookup_elem(&known_stacks, &slot);
		if (k == NULL || k->call != call || !known_asked(k, asked) ||
		    !known_again(k, f, w))
			continue;
		w->entry = k->entry;
		return k->from << 24 | k->n << 16 | slot;
	}
	return 0;
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

/* Searches KNOWN_STEP words from 'begin' upwards, for the frames from f->left on.  Returns 0 if a
   frame is at another place than the one that known_from_above() found. */
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

/* Finds the places of the frames; false: the searches from above and from below differ. */
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

/* (__noinline: see README.)  A writer that has interrupted another (depth > 0) remembers nothing,
   since the other may be reading the remembered stacks. */
__noinline int known_learn(u32 depth, u32 call, u32 asked, u32 from, u32 n)
{
	struct frames *f = my_frames(depth);
	struct stack_words *w;
	u32 slot, size, words, last = n - 1;
	struct known *k;

	w = bpf_map_lookup_elem(&stack_words, &depth);
	if (w == NULL || f == NULL || last >= KNOWN_FRAMES || depth != 0)
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

__noinline u32 frames_ours(void)
{
	u32 from = 4;
	struct frames *f = my_frames(0);

	if (f == NULL)
		return from;
	for (u32 i = 0; i < FRAMES_OURS; i++)
		if (f->pc[i] >= state.schedule_start && f->pc[i] < state.schedule_end)
			from = i + 1;
	return from;
}

/* True if the address is in a function that leads from a tracepoint to its programs.
   (__noinline: see README.) */
__noinline int frame_is_glue(u64 pc)
{
	u64 at = pc - state.text_start, above;
	u32 last = 0, i;

	if (pc < state.text_start || pc >= state.text_end)
		return false;
	/* Finds the last function that begins at or below the address.  The loop has no branch: the
	   verifier would follow both ways each time. */
	for (u32 step = KP_GLUE_MAX / 2; step > 0; step /= 2) {
		i = last + step;
		barrier_var(i);		/* 6.1 has lost its bound, here and below */
		above = (s64)(at - state.glue[i & (KP_GLUE_MAX - 1)].from) >> 63;
		last += step & ~(u32)above;
	}
	barrier_var(last);
	return at < state.glue[last & (KP_GLUE_MAX - 1)].to;
}

enum sought { PROGRAM, RUNNER, CALLER, FOUND };

/* Returns the kind of frame that is sought above frame i, or FOUND: this is the caller.
   (__noinline: see README.) */
__noinline u32 frame_look(struct frames *f, u32 i, u32 sought)
{
	u64 pc;

	if (f == NULL)
		return FOUND;
	pc = f->pc[i & (FRAMES - 1)];
	if (sought == CALLER || (f->caller != 0 && pc == f->caller))
		return frame_is_glue(pc) ? CALLER : FOUND;
	if (f->caller != 0)
		return PROGRAM;
	if (pc < state.text_start || pc >= state.text_end)
		return RUNNER;
	return sought == RUNNER ? CALLER : PROGRAM;
}

/* Returns the index of the first frame above those of the tracing, which are helpers of the
   kernel, BPF programs (outside of the kernel's text) and the functions that have run these. */
static __always_inline u32 frames_above(struct frames *f)
{
	u32 sought = PROGRAM;

	for (u32 i = 0; i < FRAMES_OURS; i++) {
		sought = frame_look(f, i, sought);
		if (sought == FOUND)
			return i;
	}
	return 0;
}

#define REGS_AT(member)	((u32)bpf_core_field_offset(struct pt_regs___kernel, member))

/* Returns the caller's stack pointer, and sets f->caller to its instruction.  A tracepoint's
   record begins with the address of the caller's registers; these two are at most four words
   apart, so one read gets both.  (__noinline: see README.) */
__noinline u64 tracepoint_base(struct frames *f)
{
	u32 ip = REGS_AT(REGS_IP), sp = REGS_AT(REGS_SP), first = ip < sp ? ip : sp;
	u64 regs = 0, word[4] = { 0 };

	if (f == NULL)
		return 0;
	bpf_probe_read_kernel(&regs, sizeof regs, (void *)read_once(f->base));
	bpf_probe_read_kernel(word, sizeof word, (void *)(regs + first));
	f->caller = word[(ip - first) / sizeof word[0] & 3];
	return word[(sp - first) / sizeof word[0] & 3];
}

/* Returns the number under which a stack of this probe is remembered: by the thread's system call
   or, of a thread of the kernel, by its tid.  Stacks of other numbers need not be compared. */
static __always_inline u32 stack_call(struct task_struct *t, u32 key)
{
	const struct pt_regs___kernel *regs;

	if (t->flags & PF_KTHREAD)
		return t->pid + key * 37;
	regs = (void *)bpf_task_pt_regs(t);
	return (u32)regs_call(regs) + key * 37;
}

/* The event's frames are 'have' in f->pc, from f->from on, but 'kernel' at most. */
static __always_inline void stack_have(struct frames *f, u32 have, u32 kernel)
{
	have = have > f->from ? have - f->from : 0;
	f->kernel = have < kernel ? have : kernel;
}

/* Mostly a probe has the stack that it had the last time: to ask for the call takes longer than to
   compare.  (__noinline: see README.) */
__noinline u32 stack_look(u32 depth, u32 key, u32 kernel, u32 tracepoint)
{
	u32 asked = kernel + FRAMES_OURS, at = depth, known;
	struct frames *f = bpf_map_lookup_elem(&frames, &at);
	struct stack_words *w;
	struct known *k;

	if (!with_stacks || f == NULL || kernel > KP_STACK_MAX)
		return 0;
	f->caller = 0;
	w = bpf_map_lookup_elem(&stack_words, &at);
	if (w == NULL || read_once(f->base) == 0)
		return asked * sizeof f->pc[0];
	w->ctx = tracepoint ? tracepoint_base(f) : read_once(f->base);
	w->have = 0;
	at = f->last[key & (LAST_STACKS - 1)];
	k = bpf_map_lookup_elem(&known_stacks, &at);
	if (k != NULL && known_asked(k, asked) && known_again(k, f, w)) {
		f->from = k->from;
		stack_have(f, k->n, kernel);
		return 0;
	}
	known = known_look(depth, stack_call(bpf_get_current_task_btf(), key), asked);
	if (known == 0)
		return asked * sizeof f->pc[0];
	f->last[key & (LAST_STACKS - 1)] = (u16)known;
	f->from = known >> 24;
	stack_have(f, known >> 16 & 0xff, kernel);
	return 0;
}

/* A program that does not have its hook's arguments asks for the thread's stack. */
static __always_inline u32 stack_unwind(struct frames *f, struct task_struct *t, u32 asked)
{
	u32 bytes = asked * sizeof f->pc[0];
	long got;

	if (bytes > FRAMES * sizeof f->pc[0])
		return 0;
	got = bpf_get_task_stack(t, f->pc, bytes, 0);
	return got < 0 ? 0 : (u32)got;
}

/* (__noinline: see README.) */
__noinline int stack_kernel(u32 depth, u32 key, u32 kernel, u32 got)
{
	struct frames *f = my_frames(depth);
	u32 have, asked = kernel + FRAMES_OURS;

	if (!with_stacks || f == NULL || kernel > KP_STACK_MAX)
		return 0;
	if (read_once(f->base) == 0)
		got = stack_unwind(f, bpf_get_current_task_btf(), asked);
	have = got / sizeof f->pc[0];
	f->from = have == 0 ? 0 : frames_above(f);
	if (read_once(f->base) != 0)
		known_learn(depth, stack_call(bpf_get_current_task_btf(), key), asked, f->from,
		    have);
	stack_have(f, have, kernel);
	return 0;
}

static __always_inline u32 user_unwind(u64 *to, u32 bytes)
{
	long n;

	/* 5.15 takes the bound from a comparison of this very number alone. */
	barrier_var(bytes);
	if (bytes > KP_USER_STACK_MAX * sizeof *to)
		return 0;
	n = bpf_get_task_stack(bpf_get_current_task_btf(), to, bytes, BPF_F_USER_STACK);
	return n < 0 ? 0 : (u32)n / sizeof *to;
}

/* (__noinline: see README.) */
__noinline int stack_take(u32 depth, u32 key, u32 kernel, u32 user, u32 got)
{
	struct frames *f = my_frames(depth);
	u32 bytes = user * sizeof f->pc[0];

	if (!with_stacks || f == NULL)
		return 0;
	if (kernel != 0 && f->kernel == 0)
		stack_kernel(depth, key, kernel, got);
	if (bytes != 0)
		f->user = user_unwind(&f->pc[FRAMES], bytes);
	return 0;
}

/* Writes a record of n frames, which begin at 'from' of f and are 'most' at most, to 'rec' of a
   block, and a reference to the record to 'ref'. */
static __always_inline void frames_put(struct kp_block *b, struct frames *f, u32 ref, u32 rec,
    u32 from, u32 n, const u32 most)
{
	u32 at = rec + sizeof(struct kp_symbols);

	barrier_var(ref);
	barrier_var(rec);
	if (ref > KP_BLOCK_END - sizeof(u32) || rec > KP_BLOCK_END - sizeof(struct kp_symbols))
		return;
	*(u32 *)((void *)b + ref) = rec - ref;
	*(u32 *)((void *)b + rec) = state.symbols_tag;
	*(u32 *)((void *)b + rec + 4) = record_size(n);
	for (u32 i = 0; i < most && i < n; i++, at += sizeof(u64)) {
		barrier_var(at);
		if (at > KP_BLOCK_END - sizeof(u64))
			break;
		*(u64 *)((void *)b + at) = f->pc[(from + i) & (FRAMES_ALL - 1)];
	}
}

/* (__noinline: see README.) */
__noinline int user_put(struct kp_block *b, struct frames *f, u32 ref, u32 rec)
{
	if (!with_stacks || b == NULL || f == NULL)
		return 0;
	frames_put(b, f, ref, rec, FRAMES, f->user, KP_USER_STACK_MAX);
	return 0;
}

__noinline int stack_write(struct kp_block *b, u32 depth, u32 off, u32 ref, u32 rec)
{
	struct frames *f = my_frames(depth);
	u32 second;

	if (!with_stacks || b == NULL || f == NULL)
		return 0;
	ref += off;
	rec += off;
	/* With the bytes up to the records: a reader would take for a record what an earlier
	   lap has left there. */
	second = (ref + sizeof(u32)) & ~7u;
	barrier_var(ref);
	barrier_var(second);
	if (ref > KP_BLOCK_END - 2 * sizeof(u32) || second > KP_BLOCK_END - sizeof(u64))
		return 0;
	*(u32 *)((void *)b + ref) = 0;
	*(u64 *)((void *)b + second) = 0;
	if (f->user != 0)
		user_put(b, f, ref + sizeof(u32), rec + record_size(f->kernel));
	if (f->kernel != 0)
		frames_put(b, f, ref, rec, f->from, f->kernel, KP_STACK_MAX);
	return 0;
}
