/*
 * stack-ask.bpf.h - how a program asks for the stacks of its event (stack.bpf.c).
 *
 * The programs of a CPU nest.  Frames lie in memory of their writer's depth from the time
 * when the writer has begun until it ends.
 */
#ifndef KERNEL_PROBES_STACK_ASK_BPF_H
#define KERNEL_PROBES_STACK_ASK_BPF_H

#define FRAMES		64
#define FRAMES_ALL	256u	/* with those of the program behind them; a mask bounds an index */
#define STACK_DEPTHS	4u
#define LAST_STACKS	64u	/* of probes, by the last bits of their numbers */

struct kp_block;

struct frames {
	u64 pc[FRAMES_ALL];
	u64 base;		/* of an event's stack: a hook's arguments, or a tracepoint's record */
	u64 caller;		/* the first frame, if a tracepoint tells it; otherwise 0 */
	u32 ours;		/* the most frames of the tracing that were seen */
	u32 n;			/* frames that were found, ... */
	u32 words;		/* ... in so many words of the stack; ... */
	u32 left;		/* ... of these are still to be found there */
	u32 from, kernel, user;	/* of an event: its first frame, the numbers of both kinds */
	u16 last[LAST_STACKS];	/* the slots of the known stacks that were met last */
};

struct kp_map_frames {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_DEPTHS);
	__type(key, u32);
	__type(value, struct frames);
};

extern struct kp_map_frames frames SEC(".maps");

/* The loader sets it if any event is to have stacks.  Otherwise the verifier leaves the
   code for them out. */
extern const volatile bool with_stacks;
/* The loader sets it if the kernel has bpf_rdonly_cast(): Linux 6.2 and later. */
extern const volatile bool with_cast;
extern const volatile __u32 cast_type;	/* the number of struct pt_regs, which the cast wants to have */

static __always_inline struct frames *my_frames(u32 depth)
{
	return bpf_map_lookup_elem(&frames, &depth);
}

/* Which stacks an event is to have, and where they are found. */
struct stack_ask {
	void *ctx;		/* of the program; NULL: the stack begins nowhere */
	u32 key;		/* the probe's number */
	bool tracepoint;	/* ctx is a tracepoint's record */
	struct kp_stacks of;
};

static __always_inline u32 record_size(u32 n)
{
	return n == 0 ? 0 : sizeof(struct kp_symbols) + n * sizeof(u64);
}

/* Looks whether the stack of a writer of this depth is a known one, of so many frames of the
   kernel, and takes it then; otherwise returns the bytes that have to be unwound into f->pc. */
u32 stack_look(u32 depth, u32 key, u32 kernel, u32 tracepoint);
/* Takes the stacks of this writer: so many frames of the kernel, unless stack_look() has taken
   them, of which 'got' bytes were unwound, and of the program. */
int stack_take(u32 depth, u32 key, u32 kernel, u32 user, u32 got);
/* Writes them for the event at 'off' of a block: their records at 'rec' of the event, and the
   references at 'ref'. */
int stack_write(struct kp_block *b, u32 depth, u32 off, u32 ref, u32 rec);

#endif /* KERNEL_PROBES_STACK_ASK_BPF_H */
