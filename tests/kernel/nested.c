/*
 * nested.c - writers that interrupt each other lose and spoil nothing.
 *
 * The code that writes to the buffer, as the kernel runs it, but with an
 * interrupt wherever it looks at or changes what an interrupt changes: each
 * place in turn, with writers of a few bytes and of some blocks.  And an event of a CPU
 * that was idle has its time, however long that was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernel/fake-bpf.h"

#define BLOCKS	24

static struct kp_block blocks[BLOCKS];
static struct kp_cpu cpu;
static u64 pool[BLOCKS], clock_now;
static long place, chosen, written;	/* interrupts happen at the chosen place */
static int burst, depth;

static u32
fake_cpu(void)
{
	return 0;
}

static u64
fake_clock(void)
{
	return ++clock_now;
}

static void *
fake_lookup(const void *map, u32 key)
{
	if (map == &tnf_cpu)
		return &cpu;
	if (map == &tnf_pool)
		return key < state.pool ? &pool[key] : NULL;
	return map == &tnf_buf && key < BLOCKS ? &blocks[key] : NULL;
}

static void
write_event(void)
{
	struct kp_thread_state *e;
	struct hit hit;

	e = EVENT(&hit, THREAD_STATE_OUT, kp_thread_state);
	if (e == NULL)
		return;
	e->state = running->pid;
	e->pad = 0;
	written++;
	event_end(&hit);
}

/* As a switch of threads does: the event of the one that leaves, and the schedule record
   of the one that comes. */
static void
write_switch(void)
{
	static struct task_struct other = { 0, 9, 9 };
	struct task_struct *next = running == &task ? &other : &task;
	const u32 size = EVENT_SIZE(kp_thread_state);
	struct kp_thread_state *e;
	struct batch b;

	if (batch_begin(&b, running, size + SCHED_SIZE, size + SCHED_SIZE)) {
		e = BATCH_EVENT(&b, 0, THREAD_STATE_OUT);
		e->state = running->pid;
		e->pad = 0;
		written++;
		batch_schedule(&b, size, next);
		event_end(&b.hit);
	}
	running = next;
}

/* At the chosen place of the outer writer many, and one now and then in each, but
   not so often that nobody ever gets to an end. */
static void
interrupt(void)
{
	long here = place++;

	if (depth > 1 || (depth == 0 ? here != chosen : here % 31 != chosen % 31))
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
	fake_begin((void *)((char *)&blocks[0] + TNF_EXT_OFFSET), blocks, 1, BLOCKS,
	    &cpu, 1, pool);
	place = written = depth = 0;
	chosen = where;
	burst = n;
	running = &task;
}

/* Does an event refer to a schedule record, of the thread that wrote it? */
static bool
is_of_writer(const u8 *base, u32 at, u32 tag)
{
	const struct tnf_kernel_schedule *s =
	    (const void *)(base + ((at + (tag & 0xfffc)) & 0xffff));
	const struct kp_thread_state *e = (const void *)(base + at);

	return s->tag == FAKE_SCHED_TAG && (int)s->lwpid == e->state;
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
		if (tag == FAKE_SCHED_TAG)
			at += SCHED_SIZE;
		else if ((tag & 0xffff0003u) == KP_TAG(KP_THREAD_STATE_OUT) &&
		    is_of_writer(base, at, tag)) {
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
		e[i]->state = running->pid;
		e[i]->pad = 0;
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

/* The time of the latest event, as a reader finds it; -1: it has no schedule record. */
static int64_t
latest_time(void)
{
	const u8 *base = (const void *)block_at(&cpu, cpu.cursor);
	const struct kp_event *e = (const void *)(base + KP_OFFSET_OF(cpu.cursor) -
	    EVENT_SIZE(kp_thread_state));
	u32 at = (u32)((const u8 *)e - base);
	const struct tnf_kernel_schedule *s =
	    (const void *)(base + ((at + (e->tag & 0xfffc)) & 0xffff));

	return is_of_writer(base, at, e->tag) ? (int64_t)(s->time_base + e->time_delta) : -1;
}

/* An event counts its time from the schedule record before it, in 32 bits. */
static bool
idle(void)
{
	static const u64 gaps[] = { 1, 0x7fffffff, 0xfffffffe, 0xffffffff, 0x100000000,
	    0x100000001, 0x1fffffffe, 0x1ffffffff, 0x200000000, 705000000000 };
	bool good = true;
	u64 at;

	for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
		begin(-1, 0);
		write_event();
		at = cpu.cursor;
		clock_now += gaps[i] - 1;
		write_event();
		if (latest_time() != (int64_t)clock_now ||
		    (cpu.cursor - at > EVENT_SIZE(kp_thread_state)) != (gaps[i] > 0xffffffff)) {
			printf("# after %llu ns: its time is %lld, not %llu\n",
			    (unsigned long long)gaps[i], (long long)latest_time(),
			    (unsigned long long)clock_now);
			good = false;
		}
	}
	return good;
}

int
main(void)
{
	static const int bursts[] = { 1, 3, 80, 200, 600 };
	bool interleave, timely;
	int bad = 0, where;

	for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++)
		for (where = 0; where == 0 || place > where; where++) {
			begin(where, bursts[i]);
			for (int k = 0; k < 200; k++)
				if (k % 3 == 2)
					write_switch();
				else
					write_event();
			bad += !holds(where, bursts[i]);
		}
	printf("%s 1 - nested writers\n", bad == 0 ? "ok" : "not ok");
	interleave = interleaved(false);
	interleave = interleaved(true) && interleave;
	printf("%s 2 - interleaved writers\n", interleave ? "ok" : "not ok");
	timely = idle();
	printf("%s 3 - a CPU that was idle\n1..3\n", timely ? "ok" : "not ok");
	return bad != 0 || !interleave || !timely;
}
