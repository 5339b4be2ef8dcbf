/*
 * sample.bpf.c - what a CPU was doing, some times a second.
 *
 * The program runs at an event of each CPU's clock, in the timer's interrupt: the current
 * thread is the one that the clock has interrupted.  The event leaves idle CPUs out.
 */
#include <stddef.h>

#include "kernel-probes/operand.h"
#include "kernel-probes/write.bpf.h"

struct sampled {
	u64 kernel[KP_STACK_MAX];	/* frames, the innermost first */
	u64 user[KP_USER_STACK_MAX];
	u64 registers[KP_R_COUNT];	/* of the program */
	u64 words[KP_SAMPLE_WORDS];	/* of its stack; 0 where it is not in memory */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sampled);
} samples SEC(".maps");

/* The number of frames in so many bytes, or in none if this is an error. */
static __always_inline u32 frames_in(long bytes)
{
	return bytes < 0 ? 0 : (u32)bytes / sizeof(u64);
}

#define RECORD_WRITE(to, from, n, max) do {				\
	(to)->tag = state.symbols_tag;					\
	(to)->self_size = record_size(n);				\
	for (u32 i = 0; i < (max) && i < (n); i++)			\
		(to)->pc[i] = (from)[i];				\
} while (0)

/* An array of words that has the size of 'from'. */
#define WORDS_SIZE(from)	((u32)(sizeof(struct kp_symbols) + sizeof (from)))
#define WORDS_WRITE(to, from) do {					\
	struct kp_symbols *a = (void *)(to);				\
	a->tag = state.record_tag[KP_R_UINT64];				\
	a->self_size = WORDS_SIZE(from);				\
	bpf_probe_read_kernel(a->pc, sizeof (from), from);		\
} while (0)

/* Writes the sample, whose user stack has at most so many frames; with the words of the stack, or
   without. */
static __always_inline int sample_write(struct sampled *s, u32 kernel, u32 user, const u32 most,
    const bool words)
{
	const u32 fixed = sizeof(struct kp_sample) +
	    (words ? WORDS_SIZE(s->registers) + WORDS_SIZE(s->words) : 0);
	const u32 room = fixed + 2 * sizeof(struct kp_symbols) + sizeof s->kernel + most * sizeof(u64);
	u32 at = fixed;
	struct kp_sample *e;
	struct hit hit;

	if (s == NULL || kernel > KP_STACK_MAX || user > most)
		return 0;
	_Static_assert(sizeof(struct kp_sample) + WORDS_SIZE(s->registers) + WORDS_SIZE(s->words) +
	    2 * sizeof(struct kp_symbols) + sizeof s->kernel + KP_USER_STACK_FEW * sizeof(u64) <=
	    KP_BLOCK_END - KP_BLOCK_HEADER - 2 * SCHED_SIZE, "a block has no room");
	e = event_begin_at(&hit, bpf_ktime_get_ns(), bpf_get_current_task_btf(), KP_SAMPLE,
	    at + record_size(kernel) + record_size(user), room, NULL);
	if (e == NULL)
		return 0;
	e->registers = e->words = 0;
	if (words) {
		e->registers = sizeof *e - offsetof(struct kp_sample, registers);
		WORDS_WRITE(e + 1, s->registers);
		e->words = sizeof *e + WORDS_SIZE(s->registers) - offsetof(struct kp_sample, words);
		WORDS_WRITE((char *)(e + 1) + WORDS_SIZE(s->registers), s->words);
	}
	e->stack = kernel == 0 ? 0 : at - offsetof(struct kp_sample, stack);
	if (kernel != 0)
		RECORD_WRITE((struct kp_symbols *)((char *)e + fixed), s->kernel, kernel, KP_STACK_MAX);
	at += record_size(kernel);
	e->user = user == 0 ? 0 : at - offsetof(struct kp_sample, user);
	barrier_var(at);	/* its bound is to be seen where it is used */
	if (user != 0 && at <= room - sizeof(struct kp_symbols) - most * sizeof(u64))
		RECORD_WRITE((struct kp_symbols *)((char *)e + at), s->user, user, most);
	event_end(&hit);
	return 0;
}

/* (__noinline, also the next two: see README.) */
__noinline int sample_write_frames(struct sampled *s, u32 kernel, u32 user)
{
	return sample_write(s, kernel, user, KP_USER_STACK_MAX, false);
}

__noinline int sample_write_words(struct sampled *s, u32 kernel, u32 user)
{
	return sample_write(s, kernel, user, KP_USER_STACK_FEW, true);
}

#define WORDS_ONCE	32u

/* Reads the program's registers and the top of its stack: from them, readers compute the callers
   that no frame pointer tells.  A page that is not in memory reads as 0. */
__noinline int sample_look(struct sampled *s)
{
	const void *regs = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	if (s == NULL || bpf_probe_read_kernel(s->registers, sizeof s->registers, regs) != 0)
		return 0;
	u64 sp = s->registers[KP_R_SP];
	if (bpf_probe_read_user(s->words, sizeof s->words, (const void *)sp) == 0)
		return 1;
	/* The helper fills words that it cannot read with zeros. */
	for (u32 i = 0; i < KP_SAMPLE_WORDS; i += WORDS_ONCE)
		bpf_probe_read_user(s->words + i, WORDS_ONCE * sizeof(u64),
		    (const void *)(sp + i * sizeof(u64)));
	return 1;
}

SEC("perf_event")
int sample_take(struct bpf_perf_event_data *ctx)
{
	u32 zero = 0, kernel, user;
	struct sampled *s = bpf_map_lookup_elem(&samples, &zero);

	if (s == NULL || !is_on(KP_BIT(KP_SAMPLE)))
		return 0;
	kernel = frames_in(bpf_get_stack(ctx, s->kernel, sizeof s->kernel, 0));
	user = frames_in(bpf_get_stack(ctx, s->user, sizeof s->user, BPF_F_USER_STACK));
	if (state.sample_stack && user != 0 && user <= KP_USER_STACK_FEW && sample_look(s))
		sample_write_words(s, kernel, user);
	else
		sample_write_frames(s, kernel, user);
	return 0;
}
