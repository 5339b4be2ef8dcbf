/*
 * sample.bpf.c - what a CPU was doing, some times a second.
 *
 * The program runs at an event of each CPU's clock, in the timer's interrupt: the current
 * thread is the one that the clock has interrupted.  The event leaves idle CPUs out.
 */
#include <stddef.h>

#include "kernel-probes/write.bpf.h"

struct sampled {		/* the frames, the innermost first */
	u64 kernel[KP_STACK_MAX];
	u64 user[KP_USER_STACK_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sampled);
} samples SEC(".maps");

#define SAMPLE_ROOM	((u32)(sizeof(struct kp_sample) + 2 * sizeof(struct kp_symbols) + \
			    sizeof(struct sampled)))

/* The number of frames in so many bytes, or in none if this is an error. */
static __always_inline u32 frames_in(long bytes)
{
	return bytes < 0 ? 0 : (u32)bytes / sizeof(u64);
}

static __always_inline u32 record_size(u32 n)
{
	return n == 0 ? 0 : sizeof(struct kp_symbols) + n * sizeof(u64);
}

#define RECORD_WRITE(to, from, n, max) do {				\
	(to)->tag = state.symbols_tag;					\
	(to)->self_size = record_size(n);				\
	for (u32 i = 0; i < (max) && i < (n); i++)			\
		(to)->pc[i] = (from)[i];				\
} while (0)

/* (__noinline: see README.) */
__noinline int sample_write(struct sampled *s, u32 kernel, u32 user)
{
	u32 at = sizeof(struct kp_sample), size;
	struct kp_sample *e;
	struct hit hit;

	if (s == NULL || kernel > KP_STACK_MAX || user > KP_USER_STACK_MAX)
		return 0;
	size = at + record_size(kernel) + record_size(user);
	e = event_begin_at(&hit, bpf_ktime_get_ns(), bpf_get_current_task_btf(), KP_SAMPLE, size,
	    SAMPLE_ROOM, NULL);
	if (e == NULL)
		return 0;
	e->stack = kernel == 0 ? 0 : at - offsetof(struct kp_sample, stack);
	if (kernel != 0)
		RECORD_WRITE((struct kp_symbols *)(e + 1), s->kernel, kernel, KP_STACK_MAX);
	at += record_size(kernel);
	e->user = user == 0 ? 0 : at - offsetof(struct kp_sample, user);
	barrier_var(at);	/* its bound is to be seen where it is used */
	if (user != 0 && at <= SAMPLE_ROOM - sizeof(struct kp_symbols) - sizeof s->user)
		RECORD_WRITE((struct kp_symbols *)((char *)e + at), s->user, user,
		    KP_USER_STACK_MAX);
	event_end(&hit);
	return 0;
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
	sample_write(s, kernel, user);
	return 0;
}
