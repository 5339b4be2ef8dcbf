/*
 * nested.c - writers that interrupt each other lose and spoil nothing.
 *
 * The code that writes to the buffer, as the kernel runs it, but with an
 * interrupt wherever it looks at or changes what an interrupt changes: each
 * place in turn, with writers of a few bytes and of some blocks.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In place of kernel_compat.h and context.bpf.h. */
#define KP_KERNEL_COMPAT_H
#define KP_CONTEXT_BPF_H
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#undef __always_inline
#define __always_inline	inline
#define __noinline
#define SEC(name)
#define __uint(name, value)	int name
#define __type(name, type)	type *name
#define PF_KTHREAD	1
#define store_barrier()	interrupt()
#define read_once(x)	({ __typeof__(x) v_ = *(volatile __typeof__(x) *)&(x); interrupt(); v_; })
#define write_once(x, v) ({ *(volatile __typeof__(x) *)&(x) = (v); interrupt(); })

struct task_struct { int flags, tgid, pid; };
struct kp_map_context { int none; };

static struct task_struct task = { 0, 7, 7 };
static u64 clock_now;

static void interrupt(void);
static void *bpf_map_lookup_elem(const void *map, const u32 *key);
static u32 bpf_get_smp_processor_id(void) { return 0; }
static u64 bpf_get_current_pid_tgid(void) { return 7ull << 32 | 7; }
static u64 bpf_get_current_task(void) { return (uintptr_t)&task; }
static struct task_struct *bpf_get_current_task_btf(void) { return &task; }
static u64 bpf_ktime_get_ns(void) { return ++clock_now; }

/* What is usual there is not here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wcast-align"
#include "write.bpf.h"
#include "buffer.bpf.c"

#define BLOCKS	24
#define SCHED_TAG	0x80002002u

static struct kp_block blocks[BLOCKS];
static struct kp_cpu cpu;
static long place, chosen, written;	/* interrupts happen at the chosen place */
static int burst, depth;

static void *
bpf_map_lookup_elem(const void *map, const u32 *key)
{
	if (map == &tnf_cpu)
		return &cpu;
	return map == &tnf_buf && *key < BLOCKS ? &blocks[*key] : NULL;
}

static void
write_event(void)
{
	struct kp_thread_state *e;
	struct hit hit;

	e = EVENT(&hit, THREAD_STATE_OUT, kp_thread_state);
	if (e == NULL)
		return;
	e->state = 1;
	e->pad = 0;
	written++;
	event_end(&hit);
}

/* At the chosen place of the outer writer many, and one now and then in each. */
static void
interrupt(void)
{
	long here = place++;

	if (depth > 1 || (depth == 0 ? here != chosen : here % 11 != chosen % 11))
		return;
	depth++;
	for (int i = 0; i < (depth == 1 ? burst : 1); i++)
		write_event();
	depth--;
}

static void
begin(int where, int n)
{
	memset(blocks, 0, sizeof blocks);
	memset(&cpu, 0, sizeof cpu);
	cpu.first = 1;		/* behind the file's header */
	cpu.blocks = BLOCKS - 1;
	cpu.sched = ~0ull;
	cpu.cursor = (u64)(cpu.blocks - 1) << KP_BLOCK_SHIFT | KP_BLOCK_END;
	state.sched_tag = SCHED_TAG;
	place = written = depth = 0;
	chosen = where;
	burst = n;
}

/* Events in the part of a block that readers see; -1: they would stumble. */
static long
events_of(const struct kp_block *b)
{
	const u8 *base = (const void *)b;
	u32 at = KP_BLOCK_HEADER, tag;
	long n = 0;

	while (b->h.generation != 0 && at < b->h.bytes_valid) {
		memcpy(&tag, base + at, sizeof tag);
		if (tag == SCHED_TAG)
			at += SCHED_SIZE;
		else if ((tag & 0xffff0003u) == KP_TAG(KP_THREAD_STATE_OUT) &&
		    *(const u32 *)(const void *)(base +
		    ((at + (tag & 0xfffc)) & 0xffff)) == SCHED_TAG) {
			at += EVENT_SIZE(kp_thread_state);
			n++;
		} else
			return -1;
	}
	return n;
}

static bool
holds(int where, int n)
{
	long seen = 0, in_block;

	for (int i = 1; i < BLOCKS; i++) {
		in_block = events_of(&blocks[i]);
		if (in_block < 0) {
			printf("# place %d, burst %d: block %d is spoilt\n", where, n, i);
			return false;
		}
		seen += in_block;
	}
	if (seen != written || cpu.nest != 0)
		printf("# place %d, burst %d: %ld written, %ld seen, nest %u\n", where,
		    n, written, seen, cpu.nest);
	return seen == written && cpu.nest == 0;
}

/* Writers that do not nest: 'second' begins before 'first' has ended and ends
   after it; or the first's coming was not even noticed.  Nothing is lost, the
   depth is right afterwards, and it is counted. */
static bool
interleaved(bool unnoticed)
{
	struct kp_thread_state *e[2];
	struct hit hit[2];

	begin(-1, 0);
	write_event();
	for (int i = 0; i < 2; i++) {
		e[i] = EVENT(&hit[i], THREAD_STATE_OUT, kp_thread_state);
		if (e[i] == NULL)
			return false;
		e[i]->state = e[i]->pad = 0;
		written++;
		if (unnoticed)
			cpu.nest = 1;
	}
	event_end(&hit[0]);
	event_end(&hit[1]);
	write_event();
	if (cpu.lost[TNF_LOST_PREEMPTED] == 0)
		printf("# interleaved writers are not counted\n");
	return holds(-1, 0) && cpu.lost[TNF_LOST_PREEMPTED] > 0;
}

int
main(void)
{
	static const int bursts[] = { 1, 3, 80, 200, 600 };
	bool interleave;
	int bad = 0, where;

	for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++)
		for (where = 0; where == 0 || place > where; where++) {
			begin(where, bursts[i]);
			for (int k = 0; k < 200; k++)
				write_event();
			chosen = -1;	/* who comes last publishes all */
			write_event();
			bad += !holds(where, bursts[i]);
		}
	printf("%s 1 - nested writers\n", bad == 0 ? "ok" : "not ok");
	interleave = interleaved(false) & interleaved(true);
	printf("%s 2 - interleaved writers\n1..2\n", interleave ? "ok" : "not ok");
	return bad != 0 || !interleave;
}
