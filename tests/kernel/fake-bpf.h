/*
 * fake-bpf.h - the code that writes to the buffer, as the kernel runs it, in a
 * program.
 *
 * A file that includes this one says what happens at each place where an interrupt makes a
 * difference, interrupt(), and has the maps: fake_lookup(), fake_cpu().
 */
#ifndef FAKE_BPF_H
#define FAKE_BPF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* In place of kernel_compat.h, context.bpf.h and left-out.bpf.h. */
#define KERNEL_PROBES_KERNEL_COMPAT_H
#define KERNEL_PROBES_CONTEXT_BPF_H
#define KERNEL_PROBES_LEFT_OUT_BPF_H
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#undef __always_inline
#define __always_inline	inline
#define __noinline
#define SEC(name)
#define __uint(name, value)	int name
#define __type(name, type)	type *name
#define PF_KTHREAD	1
#define store_barrier()	interrupt()
#define barrier_var(v)	__asm__ volatile("" : "+r"(v))
#define likely(x)	(x)
#define unlikely(x)	(x)
#define read_once(x)	({ __typeof__(x) v_ = *(volatile __typeof__(x) *)&(x); interrupt(); v_; })
#define __sync_val_compare_and_swap(p, old, new) \
	({ __typeof__(*(p)) v_ = __sync_val_compare_and_swap(p, old, new); interrupt(); v_; })
#define write_once(x, v) ({ *(volatile __typeof__(x) *)&(x) = (v); interrupt(); })

struct task_struct { int flags, tgid, pid; };
struct kp_map_context { int none; };
struct kp_map_slots { int none; };
struct kp_map_left_out { int none; };

static struct task_struct task = { 0, 7, 7 }, *running = &task;

static void interrupt(void);
static u32 fake_cpu(void);
static u64 fake_clock(void);
static void *fake_lookup(const void *map, u32 key);

static void *
bpf_map_lookup_elem(const void *map, const u32 *key)
{
	return fake_lookup(map, *key);
}

static u32 bpf_get_smp_processor_id(void) { return fake_cpu(); }
static struct task_struct *bpf_get_current_task_btf(void) { return running; }
static u64 bpf_ktime_get_ns(void) { return fake_clock(); }
static long bpf_get_stack(void *ctx, void *to, u32 size, u64 flags) { return 0; }

/* Things that are usual there are not usual here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wcast-align"
#include "kernel-probes/write.bpf.h"
#include "buffer.bpf.c"

/* No event has stacks here. */
const volatile bool with_stacks;
struct kp_map_frames frames;
u32 stack_look(u32 depth, u32 key, u32 kernel, u32 tracepoint) { return 0; }
int stack_take(u32 depth, u32 key, u32 kernel, u32 user, u32 got) { return 0; }
int stack_write(struct kp_block *b, u32 depth, u32 off, u32 ref, u32 rec) { return 0; }

#define FAKE_SCHED_TAG	0x80002002u

/* Does what kp_buffer_alloc() does: the CPUs' blocks, all others in the pool. */
static inline void
fake_begin(struct tnf_ext *ext, struct kp_block *block, u32 first, u32 end,
    struct kp_cpu *cpu, u32 cpus, u64 *pool)
{
	u32 next = first;

	state.sched_tag = FAKE_SCHED_TAG;
	for (u32 i = 0; i < cpus; i++) {
		memset(&cpu[i], 0, sizeof cpu[i]);
		cpu[i].sched = ~0ull;
		for (u32 n = 1; n <= KP_CPU_HOLDS; n++)
			cpu[i].held[n % KP_CPU_HOLDS] = next++;
		cpu[i].cursor = cpu[i].published = 1u << KP_BLOCK_SHIFT | KP_BLOCK_HEADER;
		cpu[i].ready = 1 + KP_CPU_AHEAD;
		for (u32 n = 1; n <= cpu[i].ready; n++) {
			block[cpu[i].held[n]].h.generation = KP_GENERATION(ext->data_cursor);
			block[cpu[i].held[n]].h.bytes_valid = KP_BLOCK_HEADER;
			ext->data_cursor++;
		}
	}
	state.pool = end - next;
	for (u32 i = 0; i < state.pool; i++)
		pool[(ext->data_cursor + i) % state.pool] =
		    KP_SLOT(ext->data_cursor + i - state.pool, next + i);
}

#endif /* FAKE_BPF_H */
