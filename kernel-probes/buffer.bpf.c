/*
 * buffer.bpf.c - the maps, and the uncommon half of writing (write.bpf.h).
 */
#include "context.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct kp_map_buf tnf_buf SEC(".maps");
struct kp_map_cpu tnf_cpu SEC(".maps");
struct kp_map_filter tnf_filter SEC(".maps");
struct kp_map_context tnf_context SEC(".maps");
volatile struct kp_shared state SEC(".data.state");

#define SCHED_SIZE	((u32)sizeof(struct tnf_kernel_schedule))

/* The lock bytes of a header mean nothing to readers; here they hold where the
   block's records end, from when its last writer goes on to the next until the
   outermost one publishes it. */
#define END_OF(b)	(*(volatile u16 *)&(b)->h.A_lock)

static u64 block_after(const struct kp_cpu *cpu, u64 pos)
{
	u32 block = KP_BLOCK_OF(pos) + 1;
	u64 lap = pos >> 32;

	if (block >= cpu->blocks) {
		block = 0;
		lap++;
	}
	return lap << 32 | (u64)block << KP_BLOCK_SHIFT;
}

static struct tnf_ext *file_ext(void)
{
	u32 zero = 0;
	struct kp_block *b = bpf_map_lookup_elem(&tnf_buf, &zero);

	return b == NULL ? NULL : (void *)b + TNF_EXT_OFFSET;
}

/* In the CPU's account, and in the file's, which a memory image has too. */
static u64 lose(struct kp_cpu *cpu, u32 reason)
{
	struct tnf_ext *ext = file_ext();

	__sync_fetch_and_add(&cpu->lost[reason & 7], 1);
	if (ext != NULL)
		__sync_fetch_and_add(&ext->lost[reason & 7], 1);
	return 0;
}

__noinline int lose_event(u32 reason)
{
	struct kp_cpu *cpu = this_cpu();

	if (cpu != NULL)
		lose(cpu, reason);
	return 0;
}

/*
 * A block of the previous lap becomes an empty one of this.  It is done before
 * the cursor moves into the block, so that no reader takes new bytes for old
 * records.  A nested writer may do it, too, and even go on to the next, after
 * our look at the cursor and until we are done: so nothing is stored here that
 * it would not store, and END_OF() is block_close()'s alone.
 */
static void block_open(struct kp_block *b, u32 lap)
{
	if (read_once(b->h.generation) == lap)
		return;
	write_once(b->h.bytes_valid, KP_BLOCK_HEADER);
	store_barrier();
	write_once(b->h.generation, lap);
	store_barrier();
}

static void block_close(struct kp_cpu *cpu, u64 pos)
{
	struct kp_block *b = block_at(cpu, pos);
	struct tnf_ext *ext = file_ext();

	if (b != NULL)
		END_OF(b) = KP_OFFSET_OF(pos);
	if (ext != NULL)
		__sync_fetch_and_add(&ext->data_cursor, 1);
}

static bool too_far(const struct kp_cpu *cpu, u64 pos)
{
	u64 laps = (pos >> 32) - (cpu->outer >> 32);
	u64 ahead = laps * cpu->blocks + KP_BLOCK_OF(pos) - KP_BLOCK_OF(cpu->outer);

	return ahead > KP_CPU_AHEAD;
}

#define AGAIN	1ull		/* no position: below a block's header */

/* One try at what reserve() does.  Not inline, like all that is called in a loop
   or on many paths: the verifier takes each such function once. */
__noinline u64 try_reserve(struct kp_cpu *cpu, u32 size, u32 room)
{
	struct kp_block *b;
	u64 old, pos;

	if (cpu == NULL)
		return 0;
	pos = old = read_once(cpu->cursor);
	if (KP_OFFSET_OF(pos) + room > KP_BLOCK_END) {
		pos = block_after(cpu, old);
		if (too_far(cpu, pos))
			return lose(cpu, TNF_LOST_NESTED);
		b = block_at(cpu, pos);
		if (b == NULL)
			return lose(cpu, TNF_LOST_NO_BLOCK);
		block_open(b, pos >> 32);
		pos += KP_BLOCK_HEADER;
	}
	if (__sync_val_compare_and_swap(&cpu->cursor, old, pos + size) != old)
		return AGAIN;
	if (!KP_SAME_BLOCK(pos, old))
		block_close(cpu, old);
	return pos;
}

/* Space for 'size' bytes in a block that has room for 'room'; 0: none. */
static u64 reserve(struct kp_cpu *cpu, u32 size, u32 room)
{
	u64 pos;

	for (int i = 0; i < 4; i++) {
		pos = try_reserve(cpu, size, room);
		if (pos != AGAIN)
			return pos;
	}
	return lose(cpu, TNF_LOST_NESTED);
}

/*
 * A schedule record, and behind it the space for an event: returns the event's
 * position, 0: lost.
 */
__noinline u64 write_slowly(struct kp_cpu *cpu, u64 time, u32 size, u32 room)
{
	struct tnf_kernel_schedule *s;
	struct kp_block *b;
	u64 who, pos;
	u32 off;

	if (cpu == NULL)
		return 0;
	if (cpu->blocks == 0)
		return lose(cpu, TNF_LOST_NO_BLOCK);
	if (size > room || room > KP_BLOCK_END - KP_BLOCK_HEADER - SCHED_SIZE)
		return lose(cpu, TNF_LOST_TOO_LARGE);
	pos = reserve(cpu, SCHED_SIZE + size, SCHED_SIZE + room);
	if (pos == 0)
		return 0;
	b = block_at(cpu, pos);
	off = KP_OFFSET_OF(pos);
	if (b == NULL || off > KP_BLOCK_END - SCHED_SIZE)
		return lose(cpu, TNF_LOST_TOO_LARGE);
	s = (void *)b + off;
	who = bpf_get_current_pid_tgid();
	s->tag = state.sched_tag;
	s->pad0 = 0;
	s->tid = bpf_get_current_task();
	s->lwpid = (u32)who;
	s->pid = who >> 32;
	s->time_base = time;
	s->cpuid = bpf_get_smp_processor_id();
	s->pad1 = 0;
	store_barrier();
	write_once(cpu->sched, pos);
	return pos + SCHED_SIZE;
}

/* Everything between two positions is committed: bytes_valid may say so. */
__noinline int publish(struct kp_cpu *cpu, u64 from, u64 to)
{
	struct kp_block *b;

	if (cpu == NULL)
		return 0;
	for (u32 i = 0; i <= KP_CPU_AHEAD; i++) {
		b = block_at(cpu, from);
		if (b == NULL || cpu->blocks == 0)
			return 0;
		if (KP_SAME_BLOCK(from, to)) {
			write_once(b->h.bytes_valid, KP_OFFSET_OF(to));
			return 0;
		}
		write_once(b->h.bytes_valid, END_OF(b));
		from = block_after(cpu, from);
	}
	return 0;
}

/* Of writers that came after the outermost one had looked, up to now. */
__noinline int publish_rest(struct kp_cpu *cpu, u64 from)
{
	u64 pos;

	if (cpu == NULL)
		return 0;
	for (int i = 0; i < 4; i++) {
		write_once(cpu->nest, 1);
		pos = read_once(cpu->cursor);
		publish(cpu, from, pos);
		write_once(cpu->nest, 0);
		if (read_once(cpu->cursor) == pos)
			break;
	}
	return 0;
}
