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
static bool no_cpu, no_block;	/* what the maps do not have */

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
		return no_cpu ? NULL : &cpu;
	if (no_block)
		return NULL;
	if (map == &tnf_pool)
		return key < state.pool ? &pool[key] : NULL;
	return map == &tnf_buf && key < BLOCKS ? &blocks[key] : NULL;
}

static void
write_event(void)
{
	struct kp_thread_state *e;
	struct hit hit;

	e = EVENT(NULL, &hit, THREAD_STATE_OUT, kp_thread_state);
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
	static struct task_struct other = { 0, 109, 9 };
	struct task_struct *next = running == &task ? &other : &task;
	const u32 size = EVENT_SIZE(kp_thread_state);
	struct kp_thread_state *e;
	struct batch b;

	if (batch_begin(&b, running, size + SCHED_SIZE, size + SCHED_SIZE)) {
		e = BATCH_EVENT(&b, 0, THREAD_STATE_OUT);
		e->state = running->pid;
		e->pad = 0;
		written++;
		batch_schedule(&b, size, (u64)next, next->pid, next->tgid);
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
	task.tgid = 107;
	running = &task;
}

/* Does an event refer to a schedule record, of the thread that wrote it? */
static bool
is_of_writer(const u8 *base, u32 at, u32 tag)
{
	const struct tnf_kernel_schedule *s =
	    (const void *)(base + ((at + (tag & 0xfffc)) & 0xffff));
	const struct kp_thread_state *e = (const void *)(base + at);

	return s->tag == FAKE_SCHED_TAG && (int)s->lwpid == e->state &&
	    s->pid == (int)s->lwpid + 100 && s->cpuid == 0 && s->pad0 == 0 && s->number > 0;
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

/* ... and nobody was preempted. */
static bool
holds_nested(int where, int n)
{
	return holds(where, n) && cpu.lost[TNF_LOST_PREEMPTED] == 0;
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
		e[i] = EVENT(NULL, &hit[i], THREAD_STATE_OUT, kp_thread_state);
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

/* A block takes as many events as there is room for, to its last byte. */
static bool
filled(void)
{
	const u32 size = EVENT_SIZE(kp_thread_state);
	u64 want = 1u << KP_BLOCK_SHIFT | KP_BLOCK_HEADER;

	begin(-1, 0);
	for (u32 i = 0; i < (KP_BLOCK_END - KP_BLOCK_HEADER - SCHED_SIZE) / size; i++) {
		write_event();
		want += size + (i == 0 ? SCHED_SIZE : 0);
		if (cpu.cursor != want || cpu.published != want)
			return false;
	}
	write_event();
	want = 2u << KP_BLOCK_SHIFT | (KP_BLOCK_HEADER + SCHED_SIZE + size);
	return KP_OFFSET_OF(want) == KP_BLOCK_HEADER + SCHED_SIZE + size && cpu.cursor == want && holds_nested(-1, 0);
}

/* The address of a task is another thread's by now; or another task has its number. */
static bool
known(void)
{
	struct task_struct same = task;
	u64 at;

	begin(-1, 0);
	write_event();
	task.pid = 8, task.tgid = 108;
	at = cpu.cursor;
	write_event();
	if (cpu.cursor - at != EVENT_SIZE(kp_thread_state) + SCHED_SIZE)
		return false;
	task.pid = 7, task.tgid = 107;
	write_event();
	same = task;
	running = &same;
	at = cpu.cursor;
	write_event();
	return cpu.cursor - at == EVENT_SIZE(kp_thread_state) + SCHED_SIZE;
}

/* A map that has not what is asked for: the event is lost, and the depth is right. */
static bool
lost(void)
{
	struct hit hit;
	bool good;

	begin(-1, 0);
	write_event();
	no_cpu = true;
	good = EVENT(NULL, &hit, THREAD_STATE_OUT, kp_thread_state) == NULL && cpu.nest == 0;
	no_cpu = false;
	no_block = true;
	good = good && EVENT(NULL, &hit, THREAD_STATE_OUT, kp_thread_state) == NULL && cpu.nest == 0;
	no_block = false;
	write_event();
	return good && holds_nested(-1, 0);
}

/* Which events are written: the probe is on, and the filter lets its process through. */
static bool
filtered(void)
{
	static const struct { u64 on; int mode, flags; u32 has; bool is_on, about_9; } rows[] = {
		{ 6, KP_FILTER_OFF, 0, 1, true, true }, { 1, KP_FILTER_OFF, 0, 1, false, false },
		{ 0, KP_FILTER_OFF, 0, 1, false, false }, { 2, KP_FILTER_ONLY, 0, 107, true, true },
		{ 2, KP_FILTER_ONLY, 0, 7, false, false }, { 2, KP_FILTER_ONLY, 0, 9, false, true },
		{ 1, KP_FILTER_ONLY, 0, 107, false, false }, { 1, KP_FILTER_ONLY, 0, 9, false, false },
		{ 2, KP_FILTER_EXCEPT, 0, 107, false, true }, { 2, KP_FILTER_EXCEPT, 0, 9, true, true },
		{ 2, KP_FILTER_EXCEPT, 0, 1, true, true }, { 2, KP_FILTER_ONLY, PF_KTHREAD, 107, false, false },
		{ 2, KP_FILTER_ONLY, PF_KTHREAD, 0, true, true }, { 2, KP_FILTER_EXCEPT, PF_KTHREAD, 0, false, true },
		{ 2, KP_FILTER_ONLY, PF_KTHREAD, 1, false, false },
	};
	bool good = true;

	begin(-1, 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		state.on = rows[i].on;
		state.filter = rows[i].mode;
		task.flags = rows[i].flags;
		filter_set[rows[i].has] = KP_FILTER_ALONE;
		if (is_on(6) != rows[i].is_on || is_on_by(&task, 6) != rows[i].is_on ||
		    is_on_about(6, 9) != rows[i].about_9) {
			printf("# filter, row %zu\n", i);
			good = false;
		}
		filter_set[rows[i].has] = 0;
	}
	state.filter = KP_FILTER_OFF;
	task.flags = 0;
	return good;
}

static const struct { bool (*fn)(void); const char *name; } cases[] = {
	{ idle, "a CPU that was idle" }, { filled, "a block to its end" }, { known, "threads with one address" },
	{ lost, "maps without blocks" }, { filtered, "filters" },
};

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
				if (k % 3 == 2)
					write_switch();
				else
					write_event();
			bad += !holds_nested(where, bursts[i]);
		}
	printf("%s 1 - nested writers\n", bad == 0 ? "ok" : "not ok");
	interleave = interleaved(false);
	interleave = interleaved(true) && interleave;
	printf("%s 2 - interleaved writers\n", interleave ? "ok" : "not ok");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool good = cases[i].fn();
		printf("%s %zu - %s\n", good ? "ok" : "not ok", i + 3, cases[i].name);
		bad += !good;
	}
	printf("1..%zu\n", sizeof cases / sizeof cases[0] + 2);
	return bad != 0 || !interleave;
}
