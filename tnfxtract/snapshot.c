/*
 * snapshot.c - a consistent copy of a kernel buffer that is being written.
 *
 * snapshot_copy() first notes how far each block is filled, the newest block first: this is the
 * moment of the copy.  Events that are added later are left out, so that the copy has the latest
 * events of each CPU without a hole.  Then the blocks are written in the order of the file, straight
 * from the buffer; a block whose use is another one after it was written is blanked in the file.  The
 * directory, the definitions and block 0 follow.  format/live.h says why that works.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfxtract/snapshot.h"

#define STAGE_SIZE	(256u << 10)	/* for sinks that want a copy: it fits into a CPU's cache */
#define RUN_MAX		64u		/* blocks written at once */
#define RUN_PIECES	3		/* of a block: its header, its records, the rest */
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

/* Judges block n, whose records were seen in one generation up to one place: whether both are
   still what they were. */
static enum live_copied
judge(const struct snapshot *s, uint32_t n)
{
	const unsigned char *block = s->base + (size_t)n * s->block_size;
	const struct live_use *seen = &s->seen[n];
	struct live_use now = tnf_live_look(&s->live, (uint64_t)n * s->block_size);

	if (now.generation != seen->generation || now.used < seen->used)
		return LIVE_TAKEN;
	return seen->used <= HEADER_SIZE || seen->used > s->block_size ||
	    ((const struct tnf_block_header *)(const void *)block)->tag != s->block_tag ?
	    LIVE_EMPTY : LIVE_COPIED;
}

/* A block of events; its age is the number of blocks that were taken after it. */
struct aged {
	uint32_t age;
	uint32_t block;
};

/* Sorts by age, with 'other' of the same size; of one age the blocks stay in their order. */
static void
sort_by_age(struct aged *list, struct aged *other, uint32_t n)
{
	struct aged *from = list, *to = other, *swap;
	uint32_t at[257], shift, i, d;

	for (shift = 0; shift < 32; shift += 8) {
		memset(at, 0, sizeof at);
		for (i = 0; i < n; i++)
			at[(from[i].age >> shift & 0xff) + 1]++;
		for (d = 0; d < 256; d++)
			at[d + 1] += at[d];
		for (i = 0; i < n; i++)
			to[at[from[i].age >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
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

	for (n = s->block_count; n-- > s->directory_end / s->block_size;) {
		generation = tnf_live_look(&s->live, (uint64_t)n * s->block_size).generation;
		if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG)
			continue;
		age = (taken - generation) & TNF_GENERATION_AGES;
		if (age > TNF_GENERATION_AGES - TAKEN_MEANWHILE)
			continue;
		s->seen[n].generation = generation;
		list[used++] = (struct aged){ age, n };
	}
	sort_by_age(list, list + s->block_count, used);
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

static const unsigned char zeros[TNF_BLOCK_SIZE_MAX];

static bool
put_zeros(const struct snapshot *s, const struct snapshot_sink *sink, uint32_t n)
{
	return sink->put(sink->arg, (uint64_t)n * s->block_size, zeros, s->block_size);
}

/*
 * Adjacent blocks that are written at once, straight from the buffer: what is judged after the
 * write is what the file has.  Their headers are ours, and end the records where these were seen
 * to end.
 */
struct run {
	uint32_t first, n;
	struct tnf_block_header header[RUN_MAX];
	struct iovec piece[RUN_MAX * RUN_PIECES];
};

static void
run_add(struct run *r, const struct snapshot *s, uint32_t n)
{
	const struct live_use *seen = &s->seen[n];
	const unsigned char *block = s->base + (size_t)n * s->block_size;
	struct tnf_block_header *h = &r->header[r->n];
	struct iovec *v = &r->piece[r->n * RUN_PIECES];

	*h = (struct tnf_block_header){ .tag = s->block_tag, .generation = seen->generation,
	    .bytes_valid = (uint16_t)seen->used };
	v[0] = (struct iovec){ h, HEADER_SIZE };
	v[1] = (struct iovec){ (void *)(uintptr_t)(block + HEADER_SIZE), seen->used - HEADER_SIZE };
	v[2] = (struct iovec){ (void *)(uintptr_t)zeros, s->block_size - seen->used };
	r->n++;
}

static bool
put_pieces(const struct snapshot *s, const struct snapshot_sink *sink, const struct run *r,
    unsigned char *stage)
{
	uint64_t offset = (uint64_t)r->first * s->block_size;
	size_t n = 0;

	if (sink->put_pieces != NULL)
		return sink->put_pieces(sink->arg, offset, r->piece, (int)r->n * RUN_PIECES);
	for (uint32_t i = 0; i < r->n * RUN_PIECES; n += r->piece[i++].iov_len)
		memcpy(stage + n, r->piece[i].iov_base, r->piece[i].iov_len);
	return sink->put(sink->arg, offset, stage, n);
}

/* Writes the run, and blanks the blocks that their writers took before they were judged. */
static bool
put_run(struct snapshot *s, const struct snapshot_sink *sink, struct run *r,
    unsigned char *stage)
{
	bool ok = r->n == 0 || put_pieces(s, sink, r, stage);

	for (uint32_t n = r->first; ok && n < r->first + r->n; n++)
		/* A block that its writer takes after this look is not in the copy. */
		if (sink->look != NULL)
			sink->look(sink->arg, s->base + (size_t)n * s->block_size, s->seen[n].used);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (uint32_t n = r->first; ok && n < r->first + r->n; n++) {
		s->result[n] = (unsigned char)judge(s, n);
		if (s->result[n] != LIVE_COPIED)
			ok = put_zeros(s, sink, n);
	}
	r->n = 0;
	return ok;
}

/* Copies in file order and in large pieces, which is fastest. */
static bool
copy_in_order(struct snapshot *s, const struct snapshot_sink *sink, unsigned char *stage)
{
	uint32_t most = STAGE_SIZE / s->block_size, n = s->directory_end / s->block_size;
	struct run r;

	if (most > RUN_MAX)
		most = RUN_MAX;
	r.first = r.n = 0;
	for (; n < s->block_count; n++) {
		s->result[n] = (unsigned char)(s->seen[n].generation == TNF_GENERATION_FREE ?
		    LIVE_EMPTY : judge(s, n));
		if ((s->result[n] != LIVE_COPIED || r.n == most) && !put_run(s, sink, &r, stage))
			return false;
		if (s->result[n] != LIVE_COPIED)
			continue;
		if (r.n == 0)
			r.first = n;
		run_add(&r, s, n);
	}
	return put_run(s, sink, &r, stage);
}

/*
 * If a writer took a block again before it was copied, the copy lacks the events of this block:
 * that is a hole.  Blanks each copied block that is older than the newest hole and that a writer has
 * taken after it was copied: writers take the oldest blocks first, so most older ones are gone.
 * Keeps those that have not been taken even now: they belong to CPUs that hardly write, and are
 * all that these have.
 */
static bool
drop_behind_holes(struct snapshot *s, const struct snapshot_sink *sink, const struct aged *list,
    uint32_t used)
{
	uint32_t i, n;

	for (i = 0; i < used && s->result[list[i].block] != LIVE_TAKEN; i++)
		;
	for (; i < used; i++) {
		n = list[i].block;
		if (s->result[n] != LIVE_COPIED || tnf_live_look(&s->live,
		    (uint64_t)n * s->block_size).generation == s->seen[n].generation)
			continue;
		s->result[n] = LIVE_TAKEN;
		if (!put_zeros(s, sink, n))
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
	return copy_in_order(s, sink, stage) && drop_behind_holes(s, sink, list, used);
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

	struct aged *list = calloc(s->block_count, 2 * sizeof *list);
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

#define SCAN_AT_ONCE	16

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

/* Eight quarters of words; the memory may hold any type. */
typedef uint16_t quarters __attribute__((vector_size(16), aligned(8), may_alias));

/* True if the upper quarter of none of these words is all ones, as it is of each address of code,
   and of little else; compares all quarters at once. */
static bool
are_no_addresses(const unsigned char *word)
{
	const quarters *q = (const void *)word;
	const union { uint64_t word[2]; quarters q; } upper = {
		{ 0xffffull << 48, 0xffffull << 48 } };
	union { quarters q; uint64_t word[2]; } any = { .word = { 0, 0 } };

	for (size_t i = 0; i < SCAN_AT_ONCE / 2; i++)
		any.q |= (quarters)(q[i] == 0xffff);
	any.q &= upper.q;
	return (any.word[0] | any.word[1]) == 0;
}

void
addrs_scan(struct addrs *a, const unsigned char *block, size_t valid)
{
	const volatile uint64_t *word = (const void *)block;
	size_t i, end, n = valid / sizeof *word;
	uint64_t v, last = 0;

	for (i = 0; i < n; i = end) {
		end = i + SCAN_AT_ONCE < n ? i + SCAN_AT_ONCE : n;
		if (end == i + SCAN_AT_ONCE && are_no_addresses(block + i * sizeof *word))
			continue;
		for (; i < end; i++)
			if ((v = word[i]) - a->start < CODE_END - a->start && v != last)
				addrs_add(a, last = v);
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
