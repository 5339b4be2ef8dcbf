/*
 * buffer.bpf.c - the maps, and the half of write.bpf.h that few events need.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/interrupt.bpf.h"
#include "kernel-probes/left-out.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct kp_map_buf tnf_buf SEC(".maps");
struct kp_map_cpu tnf_cpu SEC(".maps");
struct kp_map_pool tnf_pool SEC(".maps");
struct kp_map_context tnf_context SEC(".maps");
struct kp_map_slots tnf_slots SEC(".maps");
struct kp_map_interrupts tnf_interrupts SEC(".maps");
struct kp_map_left_out tnf_left_out SEC(".maps");
volatile struct kp_shared state SEC(".data.state");
/* The only variable in .bss, which is a map of its own and takes no place in the object. */
volatile unsigned char filter_set[KP_FILTER_MAX];

/* Readers ignore the lock bytes of a header.  Here these bytes hold the end of the block's
   records, from the moment a writer goes on to the next block until the outermost writer
   publishes this block. */
#define END_OF(b)	(*(volatile u16 *)&(b)->h.A_lock)

static struct tnf_ext *file_ext(void)
{
	u32 zero = 0;
	struct kp_block *b = bpf_map_lookup_elem(&tnf_buf, &zero);

	return b == NULL ? NULL : (void *)b + TNF_EXT_OFFSET;
}

/* Counts a lost event for the CPU, and in the file header, which memory images have, too.
   Returns 0: no position. */
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
	struct kp_cpu *cpu = cpu_at(bpf_get_smp_processor_id());

	if (cpu != NULL)
		lose(cpu, reason);
	return 0;
}

/* Marks a block as empty before a record is written to it, so that no reader takes new bytes
   for old records. */
static void block_open(u32 block, u32 generation)
{
	struct kp_block *b = bpf_map_lookup_elem(&tnf_buf, &block);

	if (b == NULL)
		return;
	write_once(b->h.bytes_valid, KP_BLOCK_HEADER);
	store_barrier();
	write_once(b->h.generation, generation);
	store_barrier();
}

static void block_close(struct kp_cpu *cpu, u64 pos)
{
	struct kp_block *b = block_at(cpu, pos);

	if (b != NULL)
		END_OF(b) = KP_OFFSET_OF(pos);
}

/*
 * Clears the generation of a slot's block, which is about to be taken.  Otherwise a CPU that
 * is stopped between taking the block and opening it would leave old records in sight,
 * while younger blocks are overwritten.  Each CPU that wants the block may clear it, as the
 * block stays the oldest until one of the CPUs gets it.
 *
 * The exchange of the slot with itself proves that the generation was read while the block
 * was still there, so that the generation of a new owner is not cleared.
 */
static void block_leave(u64 *slot, u64 there)
{
	u32 n = there, generation;
	struct kp_block *b = bpf_map_lookup_elem(&tnf_buf, &n);

	if (b == NULL)
		return;
	generation = read_once(b->h.generation);
	if (__sync_val_compare_and_swap(slot, there, there) == there)
		__sync_val_compare_and_swap(&b->h.generation, generation, TNF_GENERATION_FREE);
}

/*
 * pool_swap() gives block 'mine' to the pool, as its newest, and returns a slot: ticket and
 * oldest block, which is the caller's now; NO_SLOT: another CPU was faster; FULL_SLOT.
 *
 * The exchange of the slot decides.  The cursor is moved afterwards; any CPU that finds it
 * behind moves it, so that a CPU that is stopped in between stops no other.
 */
#define NO_SLOT		(~0ull)
#define FULL_SLOT	(~0ull - 1)	/* the block that is next has been used, and is to stay */

/* True if a writer has used the slot's block already. */
static bool block_was_used(u64 there)
{
	u32 n = there;
	struct kp_block *b = bpf_map_lookup_elem(&tnf_buf, &n);

	return b == NULL || read_once(b->h.generation) != TNF_GENERATION_FREE;
}

static __always_inline u64 pool_swap(u32 mine)
{
	struct tnf_ext *ext = file_ext();
	u64 ticket, there, *slot;
	u32 slots = state.pool, i;

	if (ext == NULL || slots == 0)
		return NO_SLOT;
	ticket = read_once(ext->data_cursor);
	i = ticket % slots;
	slot = bpf_map_lookup_elem(&tnf_pool, &i);
	if (slot == NULL)
		return NO_SLOT;
	there = read_once(*slot);
	if (KP_SLOT_TICKET(there) == (u32)ticket) {
		__sync_val_compare_and_swap(&ext->data_cursor, ticket, ticket + 1);
		return NO_SLOT;
	}
	if (KP_SLOT_TICKET(there) != (u32)(ticket - slots))
		return NO_SLOT;
	if (KP_SLOT_BLOCK(there) == 0) {	/* it holds definitions now */
		if (__sync_val_compare_and_swap(slot, there, KP_SLOT(ticket, 0)) == there)
			__sync_val_compare_and_swap(&ext->data_cursor, ticket, ticket + 1);
		return NO_SLOT;
	}
	/* A CPU that takes the block now changes its slot before it uses the block. */
	if (state.fill && block_was_used(there))
		return read_once(*slot) == there ? FULL_SLOT : NO_SLOT;
	block_leave(slot, there);
	if (__sync_val_compare_and_swap(slot, there, KP_SLOT(ticket, mine)) != there)
		return NO_SLOT;
	__sync_val_compare_and_swap(&ext->data_cursor, ticket, ticket + 1);
	return KP_SLOT(ticket, there);
}

/* One step of blocks_ahead(); returns 0 if no further step is needed.  (__noinline: see README.) */
__noinline int block_ahead(struct kp_cpu *cpu, u64 pos)
{
	u64 number, slot;
	u32 i;

	if (cpu == NULL)
		return 0;
	number = cpu->ready + 1;
	if (number > KP_BLOCK_OF(pos) + KP_CPU_AHEAD)
		return 0;
	i = number & (KP_CPU_HOLDS - 1);
	slot = pool_swap(cpu->held[i]);
	if (slot == NO_SLOT)
		return 1;
	if (slot == FULL_SLOT) {
		write_once(cpu->full, 1);
		return 0;
	}
	block_open(slot, KP_GENERATION(KP_SLOT_TICKET(slot)));
	cpu->held[i] = slot;
	store_barrier();
	write_once(cpu->ready, number);
	return 1;
}

/*
 * Exchanges the oldest blocks that the CPU holds for empty ones, for records after 'pos'.
 * Only the outermost writer does this: writers that interrupt it find either the old
 * 'ready' or the new one, and never need a block that goes.
 */
#define STEPS	(KP_CPU_AHEAD + 16)	/* some more, in case other CPUs are faster */

__noinline int blocks_ahead(struct kp_cpu *cpu, u64 pos)
{
	for (u32 n = 0; n < STEPS; n++)
		if (block_ahead(cpu, pos) == 0)
			break;
	return 0;
}

#define AGAIN	1ull		/* no position: below a block's header */

/* One try at what reserve() does.  (__noinline: see README.) */
__noinline u64 try_reserve(struct kp_cpu *cpu, u32 size, u32 room)
{
	u64 old, pos;

	if (cpu == NULL)
		return 0;
	pos = old = read_once(cpu->cursor);
	if (KP_OFFSET_OF(pos) + room > KP_BLOCK_END) {
		pos = (KP_BLOCK_OF(old) + 1) << KP_BLOCK_SHIFT | KP_BLOCK_HEADER;
		if (KP_BLOCK_OF(pos) > read_once(cpu->ready))
			return lose(cpu, cpu->full ? TNF_LOST_FULL : TNF_LOST_NESTED);
	}
	if (__sync_val_compare_and_swap(&cpu->cursor, old, pos + size) != old)
		return AGAIN;
	if (!KP_SAME_BLOCK(pos, old))
		block_close(cpu, old);
	return pos;
}

/* Reserves 'size' bytes in a block in which at least 'room' bytes are free; returns their
   position, or 0.  The first try nearly always succeeds: the current block has room, and no
   interrupt comes in between. */
static u64 reserve(struct kp_cpu *cpu, u32 size, u32 room)
{
	u64 pos = read_once(cpu->cursor);

	if (KP_OFFSET_OF(pos) + room <= KP_BLOCK_END &&
	    __sync_val_compare_and_swap(&cpu->cursor, pos, pos + size) == pos)
		return pos;
	for (int i = 0; i < 4; i++) {
		pos = try_reserve(cpu, size, room);
		if (pos != AGAIN)
			return pos;
	}
	return lose(cpu, TNF_LOST_NESTED);
}

/*
 * Writes a schedule record and reserves the space for an event behind it.  Returns the
 * event's position; 0: it is lost.  'who' is process << 32 | thread.
 */
__noinline u64 write_slowly(struct kp_cpu *cpu, u64 time, u64 who, u32 size, u32 room)
{
	struct tnf_kernel_schedule *s;
	struct kp_block *b;
	u32 off;
	u64 pos;

	if (cpu == NULL)
		return 0;
	if (cpu->ready == 0)
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
	s->tag = state.sched_tag;
	s->pad0 = 0;
	s->tid = cpu->thread;
	s->lwpid = (u32)who;
	s->pid = who >> 32;
	s->time_base = time;
	s->cpuid = bpf_get_smp_processor_id();
	s->number = KP_BLOCK_OF(pos);
	store_barrier();
	write_once(cpu->sched, pos);
	return pos + SCHED_SIZE;
}

/* Sets bytes_valid, so that readers see all records up to position 'to', which are committed. */
__noinline int publish(struct kp_cpu *cpu, u64 to)
{
	struct kp_block *b;
	u64 from;

	if (cpu == NULL)
		return 0;
	from = cpu->published;
	for (u32 i = 0; i <= KP_CPU_AHEAD; i++) {
		b = block_at(cpu, from);
		if (b == NULL)
			return 0;
		if (KP_SAME_BLOCK(from, to)) {
			write_once(b->h.bytes_valid, KP_OFFSET_OF(to));
			break;
		}
		write_once(b->h.bytes_valid, END_OF(b));
		store_barrier();
		from = (KP_BLOCK_OF(from) + 1) << KP_BLOCK_SHIFT;
	}
	write_once(cpu->published, to);
	blocks_ahead(cpu, to);
	return 0;
}

/* Publishes the records of interrupts that wrote after the outermost writer had read the
   cursor for the last time.  After four tries it leaves the rest to the next outermost writer. */
__noinline int publish_rest(struct kp_cpu *cpu)
{
	u64 pos;

	if (cpu == NULL)
		return 0;
	for (int i = 0; i < 4; i++) {
		write_once(cpu->nest, 1);
		pos = read_once(cpu->cursor);
		publish(cpu, pos);
		write_once(cpu->nest, 0);
		if (read_once(cpu->cursor) == pos)
			break;
	}
	return 0;
}
