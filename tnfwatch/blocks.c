/*
 * blocks.c - the blocks of a buffer of this machine's own writers, as bytes.
 */
#include <string.h>

#include "format/live.h"
#include "tnfwatch/segment.h"

#define HEADER	((uint32_t)sizeof(struct tnf_block_header))
#define YEARS	INT64_C(1000000000000000000)	/* some thirty, in ns */

static struct live_use
blocks_use(const struct blocks *b, uint32_t block)
{
	const struct live live = { .base = b->base };

	return tnf_live_look(&live, (uint64_t)block * b->block_size);
}

bool
blocks_open(struct blocks *b, const void *base, size_t size)
{
	struct tnf_file_header h;
	struct tnf_ext ext;

	if (size < TNF_EXT_OFFSET + sizeof ext)
		return false;
	memcpy(&h, base, sizeof h);
	memcpy(&ext, (const char *)base + TNF_EXT_OFFSET, sizeof ext);
	if (h.magic != TNF_MAGIC || h.block_size < 512 || h.block_size > TNF_BLOCK_SIZE_MAX ||
	    (h.block_size & (h.block_size - 1)) != 0 || h.block_header_size != HEADER ||
	    h.directory_size < h.block_size || h.directory_size % h.block_size != 0 ||
	    h.block_count < h.directory_size / h.block_size ||
	    h.block_count > size / h.block_size || ext.magic != TNF_EXT_MAGIC ||
	    ext.data_start % h.block_size != 0 || ext.data_start < h.directory_size ||
	    ext.data_start / h.block_size >= h.block_count)
		return false;
	*b = (struct blocks){ .base = base, .size = (size_t)h.block_size * h.block_count,
	    .block_size = h.block_size, .first = h.directory_size / h.block_size,
	    .n = h.block_count, .data = ext.data_start / h.block_size,
	    .kernel = ext.kind == TNF_EXT_KERNEL, .live = ext.attached > ext.ended,
	    .start = ext.start_mono };
	return true;
}

static const struct tnf_ext *
blocks_ext(const struct blocks *b)
{
	return (const void *)(b->base + TNF_EXT_OFFSET);
}

uint64_t
blocks_cursor(const struct blocks *b)
{
	return __atomic_load_n(&blocks_ext(b)->data_cursor, __ATOMIC_ACQUIRE);
}

bool
blocks_is_tag(const struct blocks *b, uint32_t block)
{
	return blocks_use(b, block).generation == TNF_GENERATION_TAG;
}

/* A new block begins with a schedule record. */
static void
look_kernel(const unsigned char *p, struct blocks_mark *m)
{
	struct tnf_kernel_schedule s;

	if (m->used < HEADER + sizeof s)
		return;
	memcpy(&s, p, sizeof s);
	m->time = s.time_base;
	m->cpu = s.cpuid;
	m->number = s.number;
}

static void
look_process(const unsigned char *p, struct blocks_mark *m)
{
	struct tnf_sched_rec s;

	if (m->used < HEADER + sizeof s)
		return;
	memcpy(&s, p, sizeof s);
	m->time = s.time_base;
}

bool
blocks_look(const struct blocks *b, uint32_t block, struct blocks_mark *m)
{
	const unsigned char *p = blocks_at(b, block);
	const struct tnf_block_header *h = (const void *)p;
	struct live_use use = blocks_use(b, block);

	m->generation = use.generation;
	m->used = use.used;
	if (m->generation == TNF_GENERATION_FREE || m->generation == TNF_GENERATION_TAG ||
	    m->used < HEADER || m->used > b->block_size)
		return false;
	/* In a kernel's block this member has a number that does not change. */
	m->held = !b->kernel &&
	    __atomic_load_n(&h->next_block, __ATOMIC_RELAXED) != 0;
	m->time = INT64_MAX;
	m->number = 0;
	m->cpu = -1;
	if (b->kernel)
		look_kernel(p + HEADER, m);
	else
		look_process(p + HEADER, m);
	/* A block that continues a long string has no schedule record in front. */
	if (m->time < b->start || m->time > b->start + YEARS)
		m->time = INT64_MAX;
	return true;
}

uint64_t
blocks_age(const struct blocks *b, uint32_t block, const struct blocks_mark *m, uint64_t cursor)
{
	uint64_t data = b->n - b->data, lap, number;

	if (b->kernel)
		return ((uint32_t)cursor - m->generation) & TNF_GENERATION_AGES;
	if (block < b->data)
		return 0;
	/* The writer counts laps like this: tnf(5). */
	lap = (uint64_t)(m->generation - 1);
	number = lap * data + (block - b->data);
	return number < cursor ? cursor - number - 1 : 0;
}

uint64_t
blocks_lost(const struct blocks *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < TNF_LOST_REASONS; i++)
		if (__builtin_add_overflow(sum, __atomic_load_n(&blocks_ext(b)->lost[i],
		    __ATOMIC_RELAXED), &sum))
			return UINT64_MAX;
	return sum;
}
