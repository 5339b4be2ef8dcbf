/*
 * snapshot.c - a consistent copy of a kernel buffer that is being written.
 *
 * snapshot_copy() first notes how far each block is filled, the newest block first: this is the
 * moment of the copy.  Events that are added later are left out, so that the copy has the latest
 * events of each CPU without a hole.  Then the blocks are copied in the order of the file, then
 * the directory, the definitions and block 0.  format/live.h says why that works.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfxtract/snapshot.h"

#define STAGE_SIZE	(256u << 10)	/* staged in cache */
#define BLOCK_MIN	512u		/* holds the header and its extension */

#define HEADER_SIZE	sizeof(struct tnf_block_header)

enum snapshot_result
snapshot_open(struct snapshot *s, const void *base, size_t size)
{
	struct tnf_file_header h;

	memset(s, 0, sizeof *s);
	s->base = base;
	if (size < TNF_EXT_OFFSET + sizeof(struct tnf_ext))
		return SNAPSHOT_NOT_TNF;
	memcpy(&h, base, sizeof h);
	if (h.magic != TNF_MAGIC)
		return SNAPSHOT_NOT_TNF;
	s->version = h.file_version;
	if (h.file_version != TNF_FILE_VERSION)
		return SNAPSHOT_VERSION;
	if ((h.block_size & (h.block_size - 1)) != 0 ||
	    h.block_size < BLOCK_MIN ||
	    h.block_size > TNF_BLOCK_SIZE_MAX ||
	    h.block_header_size != HEADER_SIZE ||
	    h.directory_size <= h.block_size ||
	    h.directory_size % h.block_size != 0 ||
	    h.block_count < h.directory_size / h.block_size ||
	    h.block_count > size / h.block_size)
		return SNAPSHOT_DAMAGED;
	s->block_size = h.block_size;
	s->block_tag = TNF_BLOCK_TAG(h.block_size);
	s->directory_end = h.directory_size;
	s->block_count = h.block_count;
	s->size = (uint64_t)h.block_size * h.block_count;
	s->live = (struct live){ .base = base, .size = s->size, .first = h.directory_size,
	    .block_size = h.block_size };
	return SNAPSHOT_OK;
}

/* Rewrites the header of a copied block without the writer's private words; false: it is no
   block. */
static bool
clean_header(const struct snapshot *s, unsigned char *block)
{
	struct tnf_block_header h, clean = { .tag = s->block_tag };

	memcpy(&h, block, sizeof h);
	clean.generation = h.generation;
	clean.bytes_valid = h.bytes_valid;
	memcpy(block, &clean, sizeof clean);
	return h.tag == s->block_tag;
}

/* Clears what was added to a block after it was looked at. */
static enum live_copied
drop_later_events(unsigned char *block, struct live_use *use, uint32_t looked)
{
	uint16_t valid = (uint16_t)looked;

	if (use->used <= looked)
		return LIVE_COPIED;
	memset(block + looked, 0, use->used - looked);
	memcpy(block + offsetof(struct tnf_block_header, bytes_valid), &valid, sizeof valid);
	use->used = looked;
	return looked > HEADER_SIZE ? LIVE_COPIED : LIVE_EMPTY;
}

/* Copies block n in the generation that was seen, as far as it was filled then. */
static enum live_copied
copy_block(struct snapshot *s, uint32_t n, unsigned char *to)
{
	uint32_t looked = s->seen[n].used < HEADER_SIZE ? HEADER_SIZE : s->seen[n].used;
	enum live_copied r = tnf_live_copy(&s->live, (uint64_t)n * s->block_size, to, &s->seen[n]);

	if (r == LIVE_COPIED)
		r = drop_later_events(to, &s->seen[n], looked);
	if (r == LIVE_COPIED && !clean_header(s, to))
		r = LIVE_EMPTY;
	s->result[n] = (unsigned char)r;
	return r;
}

/* A block of events; its age is the number of blocks that were taken after it. */
struct aged {
	uint32_t age;
	uint32_t block;
};

static int
by_age(const void *a, const void *b)
{
	const struct aged *p = a, *q = b;

	if (p->age != q->age)
		return p->age < q->age ? -1 : 1;
	return p->block > q->block ? -1 : p->block < q->block;
}

/* Returns the number of blocks taken so far.  A buffer without an extension has no such count; the
   largest possible number in its place makes the block with the largest generation the youngest. */
static uint32_t
blocks_taken(const struct snapshot *s)
{
	const struct tnf_ext *ext = (const void *)(s->base + TNF_EXT_OFFSET);

	return __atomic_load_n(&ext->magic, __ATOMIC_ACQUIRE) != TNF_EXT_MAGIC ? TNF_GENERATION_AGES :
	    (uint32_t)__atomic_load_n(&ext->data_cursor, __ATOMIC_ACQUIRE);
}

#define TAKEN_MEANWHILE	(1u << 24)	/* so many blocks may be taken while sort_blocks() looks */

/* Lists the blocks of events at this moment by age; returns their number. */
static uint32_t
sort_blocks(struct snapshot *s, struct aged *list)
{
	uint32_t taken = blocks_taken(s), n, used = 0, age, generation;

	for (n = s->directory_end / s->block_size; n < s->block_count; n++) {
		generation = tnf_live_look(&s->live, (uint64_t)n * s->block_size).generation;
		if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG)
			continue;
		age = (taken - generation) & TNF_GENERATION_AGES;
		if (age > TNF_GENERATION_AGES - TAKEN_MEANWHILE)
			continue;
		s->seen[n].generation = generation;
		list[used++] = (struct aged){ age, n };
	}
	qsort(list, used, sizeof *list, by_age);
	return used;
}

/* Notes how far each block is filled, the newest block first: an older block is looked at later, and
   so has all events that its writer put there before the newer ones. */
static void
look_at_blocks(struct snapshot *s, const struct aged *list, uint32_t n)
{
	struct live_use now;

	for (uint32_t i = 0; i < n; i++) {
		now = tnf_live_look(&s->live, (uint64_t)list[i].block * s->block_size);
		s->seen[list[i].block].used = now.used;
	}
}

/* Adjacent copied blocks, written as one piece. */
struct run {
	unsigned char *bytes;
	uint32_t first, n;
};

static bool
put_run(const struct snapshot *s, const struct snapshot_sink *sink, struct run *r, uint32_t next)
{
	bool ok = r->n == 0 || sink->put(sink->arg, (uint64_t)r->first * s->block_size, r->bytes,
	    (size_t)r->n * s->block_size);

	r->first = next;
	r->n = 0;
	return ok;
}

/* Copies in file order and in large pieces, which is fastest. */
static bool
copy_in_order(struct snapshot *s, const struct snapshot_sink *sink, unsigned char *stage)
{
	uint32_t most = STAGE_SIZE / s->block_size, n = s->directory_end / s->block_size;
	struct run r = { stage, n, 0 };

	for (; n < s->block_count; n++) {
		unsigned char *to = stage + (size_t)r.n * s->block_size;
		if (s->seen[n].generation == TNF_GENERATION_FREE ||
		    copy_block(s, n, to) != LIVE_COPIED) {
			if (!put_run(s, sink, &r, n + 1))
				return false;
			continue;
		}
		if (sink->look != NULL)
			sink->look(sink->arg, to, s->seen[n].used);
		if (++r.n == most && !put_run(s, sink, &r, n + 1))
			return false;
	}
	return put_run(s, sink, &r, n);
}

/*
 * If a writer took a block again before it was copied, the copy lacks the events of this block:
 * that is a hole.  Blanks each copied block that is older than the newest hole and that a writer has
 * taken after it was copied: writers take the oldest blocks first, so most older ones are gone.
 * Keeps those that have not been taken even now: they belong to CPUs that hardly write, and are
 * all that these have.
 */
static bool
drop_behind_holes(struct snapshot *s, const struct snapshot_sink *sink, unsigned char *stage,
    const struct aged *list, uint32_t used)
{
	uint32_t i, n;

	for (i = 0; i < used && s->result[list[i].block] != LIVE_TAKEN; i++)
		;
	memset(stage, 0, s->block_size);
	for (; i < used; i++) {
		n = list[i].block;
		if (s->result[n] != LIVE_COPIED || tnf_live_look(&s->live,
		    (uint64_t)n * s->block_size).generation == s->seen[n].generation)
			continue;
		s->result[n] = LIVE_TAKEN;
		if (!sink->put(sink->arg, (uint64_t)n * s->block_size, stage, s->block_size))
			return false;
	}
	return true;
}

static bool
copy_data(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage, struct aged *list)
{
	uint32_t used = sort_blocks(s, list);

	look_at_blocks(s, list, used);
	if (sink->moment != NULL)
		sink->moment(sink->arg);
	return copy_in_order(s, sink, stage) && drop_behind_holes(s, sink, stage, list, used);
}

static bool
copy_directory(const struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	struct tnf_page_id id;

	for (uint32_t at = s->block_size; at < s->directory_end; at += s->block_size) {
		tnf_live_copy_words(&s->live, at, stage, s->block_size);
		unsigned char *last = stage + s->block_size - sizeof id;
		memcpy(&id, last, sizeof id);
		if (id.magic == TNF_PAGE_ID_MAGIC)
			memset(last, 0, sizeof id);
		if (!sink->put(sink->arg, at, stage, s->block_size))
			return false;
	}
	return true;
}

struct definitions {
	struct snapshot *s;
	const struct snapshot_sink *sink;
	unsigned char *stage;
};

static bool
put_definitions(void *arg, uint64_t off, const void *block, size_t n)
{
	struct definitions *d = arg;
	struct tnf_block_header h;

	if (!clean_header(d->s, d->stage))
		return true;
	/* Behind the valid bytes a process's file has names, and the kernel's buffer has
	   nothing. */
	memcpy(&h, d->stage, sizeof h);
	if (h.bytes_valid < sizeof h)
		h.bytes_valid = sizeof h;
	memset(d->stage + h.bytes_valid, 0, n - h.bytes_valid);
	d->s->result[off / n] = LIVE_COPIED;
	return d->sink->put(d->sink->arg, off, block, n);
}

static bool
copy_definitions(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	struct definitions d = { s, sink, stage };

	return tnf_live_copy_definitions(&s->live, s->seen, stage, put_definitions, &d);
}

/* Copies only the documented parts of block 0, with the geometry that was checked. */
static bool
copy_header(const struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	struct tnf_file_header h;
	struct tnf_ext ext;

	memcpy(&h, s->base, sizeof h);
	h.magic = TNF_MAGIC;
	h.file_version = s->version;
	h.block_header_size = HEADER_SIZE;
	h.block_size = s->block_size;
	h.directory_size = s->directory_end;
	h.block_count = s->block_count;
	memcpy(&ext, s->base + TNF_EXT_OFFSET, sizeof ext);
	if (ext.magic == TNF_EXT_MAGIC) {
		ext.extra_offset = 0;
		ext.extra_size = 0;
		ext.cookie = 0;
		memset(ext.reserved, 0, sizeof ext.reserved);
	} else {
		memset(&ext, 0, sizeof ext);
	}
	memset(stage, 0, s->block_size);
	memcpy(stage, &h, sizeof h);
	memcpy(stage + TNF_EXT_OFFSET, &ext, sizeof ext);
	return sink->put(sink->arg, 0, stage, s->block_size);
}

static void
count_blocks(struct snapshot *s)
{
	s->used = s->blanked = 0;
	for (uint32_t n = s->directory_end / s->block_size; n < s->block_count; n++) {
		s->used += s->result[n] == LIVE_COPIED;
		s->blanked += s->result[n] == LIVE_TAKEN;
	}
}

enum snapshot_result
snapshot_copy(struct snapshot *s, const struct snapshot_sink *sink)
{
	enum snapshot_result r = SNAPSHOT_NO_MEMORY;
	unsigned char *stage = aligned_alloc(4096, STAGE_SIZE);

	struct aged *list = calloc(s->block_count, sizeof *list);
	s->seen = calloc(s->block_count, sizeof *s->seen);
	s->result = calloc(s->block_count, sizeof *s->result);
	if (stage != NULL && list != NULL && s->seen != NULL && s->result != NULL) {
		r = copy_data(s, sink, stage, list) &&
		    copy_directory(s, sink, stage) &&
		    copy_definitions(s, sink, stage) &&
		    copy_header(s, sink, stage) ? SNAPSHOT_OK : SNAPSHOT_SINK;
		count_blocks(s);
	}
	free(s->seen);
	free(s->result);
	s->seen = NULL;
	s->result = NULL;
	free(list);
	free(stage);
	return r;
}

/*
 * addrs_scan() collects the words of a copy that may be addresses of kernel code.  Looking at
 * every aligned word is faster than looking at records, and malformed records cannot mislead it.
 * A word that is no address finds no symbol and is forgotten.  Events repeat the same few
 * addresses, so a small table is enough.
 */
#define ADDRS_MAX	(1u << 16)	/* further addresses stay without a name */

#define CODE_END	0xffffffffff000000ull	/* larger values are negative errnos */

#define SCAN_AT_ONCE	8

static size_t
addrs_find(const struct addrs *a, uint64_t v)
{
	size_t i = (v * 0x9e3779b97f4a7c15ull) >> 40;

	for (i &= a->room - 1; a->slot[i] != 0 && a->slot[i] != v;
	    i = (i + 1) & (a->room - 1))
		;
	return i;
}

static int
addrs_grow(struct addrs *a)
{
	struct addrs bigger = { .start = a->start, .room = a->room ? a->room * 2 : 1024 };

	bigger.slot = calloc(bigger.room, sizeof *bigger.slot);
	if (bigger.slot == NULL)
		return -1;
	for (size_t i = 0; i < a->room; i++)
		if (a->slot[i] != 0)
			bigger.slot[addrs_find(&bigger, a->slot[i])] = a->slot[i];
	bigger.n = a->n;
	free(a->slot);
	*a = bigger;
	return 0;
}

static void
addrs_add(struct addrs *a, uint64_t v)
{
	if (a->n * 2 >= a->room && (a->n >= ADDRS_MAX || addrs_grow(a) != 0))
		return;
	size_t i = addrs_find(a, v);
	if (a->slot[i] == 0) {
		a->slot[i] = v;
		a->n++;
	}
}

/* Four halves of words; the memory may hold any type. */
typedef uint32_t halves __attribute__((vector_size(16), aligned(8), may_alias));

/* True if none of these words is an address of code, as is usual; compares all upper halves
   at once. */
static bool
are_no_addresses(const uint64_t *word, uint64_t start)
{
	const halves *h = (const void *)word;
	const union { uint64_t word[2]; halves h; } upper = {
		{ 0xffffffffull << 32, 0xffffffffull << 32 } };
	union { halves h; uint64_t word[2]; } any = { .word = { 0, 0 } };

	for (size_t i = 0; i < SCAN_AT_ONCE / 2; i++)
		any.h |= (halves)(h[i] >= (uint32_t)(start >> 32));
	any.h &= upper.h;
	return (any.word[0] | any.word[1]) == 0;
}

void
addrs_scan(struct addrs *a, const unsigned char *block, size_t valid)
{
	const uint64_t *word = (const void *)block;
	size_t i, n = valid / sizeof *word;
	uint64_t last = 0;

	for (i = 0; i < n; i++) {
		while (i + SCAN_AT_ONCE <= n && are_no_addresses(word + i, a->start))
			i += SCAN_AT_ONCE;
		if (i < n && word[i] - a->start < CODE_END - a->start && word[i] != last) {
			last = word[i];
			addrs_add(a, last);
		}
	}
}

void
addrs_pack(struct addrs *a)
{
	size_t i, n = 0;

	for (i = 0; i < a->room; i++)
		if (a->slot[i] != 0)
			a->slot[n++] = a->slot[i];
}

void
addrs_free(struct addrs *a)
{
	free(a->slot);
	a->slot = NULL;
	a->room = a->n = 0;
}
