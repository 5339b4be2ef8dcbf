/*
 * snapshot.c - a consistent copy of a kernel buffer that is being written.
 *
 * The moment comes first: how many blocks have been taken so far.  What was taken
 * later is left out.  The others are copied in the order of their age, the
 * newest first, each up to bytes_valid, where whole committed records end.
 * Writers take the oldest block first; so what they take meanwhile is older than
 * all that has been copied, and the copy has the latest events of each CPU
 * without a hole.
 *
 * An event finds what it refers to: after the data come the directory that names
 * definitions, then the blocks of definitions, then block 0.
 */
#include "tnfxtract/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE	(256u << 10)	/* staged in cache */
#define BLOCK_MIN	512u		/* holds the header and its extension */
#define ROUNDS		16		/* for definitions that keep coming */

#define HEADER_SIZE	sizeof(struct tnf_block_header)

static uint32_t
load32(const void *p)
{
	return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
}

static bool
power_of_two(uint32_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

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
	if (!power_of_two(h.block_size) ||
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
	return SNAPSHOT_OK;
}

enum copied { EMPTY, COPIED, TAKEN };

/* A block as it was when it was copied last. */
struct mark {
	uint32_t generation;
	uint16_t valid;
	uint16_t result;	/* enum copied */
};

static struct mark
mark_of(const struct snapshot *s, uint32_t n)
{
	const struct tnf_block_header *h =
	    (const void *)(s->base + (size_t)n * s->block_size);

	return (struct mark){ .generation = load32(&h->generation),
	    .valid = __atomic_load_n(&h->bytes_valid, __ATOMIC_ACQUIRE) };
}

static bool
changed(const struct snapshot *s, uint32_t n)
{
	struct mark now = mark_of(s, n);

	return now.generation != s->marks[n].generation ||
	    now.valid != s->marks[n].valid;
}

/*
 * A block that is taken gets a small bytes_valid, then a new generation, and only
 * then new records: with the same generation before and after, and bytes_valid
 * not smaller after than before, what was copied is of one use.
 */
static enum copied
try_block(const struct snapshot *s, const unsigned char *from,
    unsigned char *to, struct mark *mark)
{
	const struct tnf_block_header *h = (const void *)from;
	struct tnf_block_header copy = { .tag = s->block_tag,
	    .generation = mark->generation };
	uint32_t valid;

	if (load32(&h->generation) != mark->generation)
		return TAKEN;
	valid = __atomic_load_n(&h->bytes_valid, __ATOMIC_ACQUIRE);
	if (valid <= HEADER_SIZE || valid > s->block_size || load32(&h->tag) != s->block_tag)
		return EMPTY;
	memcpy(to + HEADER_SIZE, from + HEADER_SIZE, valid - HEADER_SIZE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (load32(&h->generation) != mark->generation ||
	    __atomic_load_n(&h->bytes_valid, __ATOMIC_RELAXED) < valid)
		return TAKEN;
	mark->valid = copy.bytes_valid = (uint16_t)valid;
	memcpy(to, &copy, sizeof copy);
	memset(to + valid, 0, s->block_size - valid);
	return COPIED;
}

/* The copy of block n, which is of the generation in its mark. */
static enum copied
copy_block(struct snapshot *s, uint32_t n, unsigned char *to)
{
	struct mark *mark = &s->marks[n];
	enum copied r = try_block(s, s->base + (size_t)n * s->block_size, to, mark);

	mark->result = (uint16_t)r;
	return r;
}

/* A block of events, and how many have been taken since. */
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

static int
by_place(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* Without an extension nobody takes blocks. */
static uint32_t
blocks_taken(const struct snapshot *s)
{
	const struct tnf_ext *ext = (const void *)(s->base + TNF_EXT_OFFSET);

	return load32(&ext->magic) != TNF_EXT_MAGIC ? TNF_GENERATION_AGES :
	    (uint32_t)__atomic_load_n(&ext->data_cursor, __ATOMIC_ACQUIRE);
}

#define TAKEN_MEANWHILE	(1u << 24)	/* at most, while we look at each block */

/* The blocks of events as they are at this moment, by age; returns their number. */
static uint32_t
sort_blocks(struct snapshot *s, struct aged *list)
{
	uint32_t taken = blocks_taken(s), n, used = 0, age, generation;

	for (n = s->directory_end / s->block_size; n < s->block_count; n++) {
		generation = mark_of(s, n).generation;
		if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG)
			continue;
		age = (taken - generation) & TNF_GENERATION_AGES;
		if (age > TNF_GENERATION_AGES - TAKEN_MEANWHILE)
			continue;
		s->marks[n].generation = generation;
		list[used++] = (struct aged){ age, n };
	}
	qsort(list, used, sizeof *list, by_age);
	return used;
}

/* Blocks on their way to the sink, side by side in the order of the file. */
struct chunk {
	unsigned char *bytes;
	uint32_t n;
	uint32_t block[CHUNK_SIZE / BLOCK_MIN];
};

static unsigned char *
place_in(const struct chunk *c, uint32_t block, uint32_t block_size)
{
	const uint32_t *p = bsearch(&block, c->block, c->n, sizeof block, by_place);

	return c->bytes + (size_t)(p - c->block) * block_size;
}

/* Neighbours that have been copied are put in one piece. */
static bool
put_chunk(const struct snapshot *s, const struct snapshot_sink *sink, const struct chunk *c)
{
	uint32_t i, n;

	for (i = 0; i < c->n; i += n > 0 ? n : 1) {
		for (n = 0; i + n < c->n && c->block[i + n] == c->block[i] + n &&
		    s->marks[c->block[i + n]].result == COPIED; n++)
			;
		if (n > 0 && !sink->put(sink->arg, (uint64_t)c->block[i] * s->block_size,
		    c->bytes + (size_t)i * s->block_size, (size_t)n * s->block_size))
			return false;
	}
	return true;
}

static bool
copy_chunk(struct snapshot *s, const struct snapshot_sink *sink, struct chunk *c,
    const struct aged *list, uint32_t n)
{
	unsigned char *to;
	uint32_t i;

	c->n = n;
	for (i = 0; i < n; i++)
		c->block[i] = list[i].block;
	qsort(c->block, n, sizeof *c->block, by_place);
	for (i = 0; i < n; i++) {
		to = place_in(c, list[i].block, s->block_size);
		if (copy_block(s, list[i].block, to) == COPIED && sink->look != NULL)
			sink->look(sink->arg, to, s->marks[list[i].block].valid);
	}
	return put_chunk(s, sink, c);
}

static bool
copy_data(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage, struct aged *list)
{
	uint32_t most = CHUNK_SIZE / s->block_size, used = sort_blocks(s, list), i, n;
	struct chunk c = { .bytes = stage };

	for (i = 0; i < used; i += n) {
		n = used - i < most ? used - i : most;
		if (!copy_chunk(s, sink, &c, list + i, n))
			return false;
	}
	return true;
}

static bool
copy_directory(const struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	struct tnf_page_id id;
	unsigned char *last;
	uint32_t at, i, word;

	for (at = s->block_size; at < s->directory_end; at += s->block_size) {
		for (i = 0; i < s->block_size; i += sizeof word) {
			word = load32(s->base + at + i);
			memcpy(stage + i, &word, sizeof word);
		}
		last = stage + s->block_size - sizeof id;
		memcpy(&id, last, sizeof id);
		if (id.magic == TNF_PAGE_ID_MAGIC)
			memset(last, 0, sizeof id);
		if (!sink->put(sink->arg, at, stage, s->block_size))
			return false;
	}
	return true;
}

/* Copies the blocks of definitions that are new or have grown. */
static bool
copy_grown(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage, bool *grown)
{
	uint32_t n;

	*grown = false;
	for (n = s->directory_end / s->block_size; n < s->block_count; n++) {
		if (mark_of(s, n).generation != TNF_GENERATION_TAG ||
		    !changed(s, n))
			continue;
		s->marks[n].generation = TNF_GENERATION_TAG;
		if (copy_block(s, n, stage) != COPIED)
			continue;
		*grown = true;
		if (!sink->put(sink->arg, (uint64_t)n * s->block_size, stage,
		    s->block_size))
			return false;
	}
	return true;
}

static bool
copy_definitions(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	bool grown = true, ok = true;
	int i;

	for (i = 0; i < ROUNDS && ok && grown; i++)
		ok = copy_grown(s, sink, stage, &grown);
	return ok;
}

/* Of block 0 only what is documented; the geometry as it was checked. */
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
	uint32_t n;

	s->used = s->blanked = 0;
	for (n = s->directory_end / s->block_size; n < s->block_count; n++) {
		s->used += s->marks[n].result == COPIED;
		s->blanked += s->marks[n].result == TAKEN;
	}
}

enum snapshot_result
snapshot_copy(struct snapshot *s, const struct snapshot_sink *sink)
{
	enum snapshot_result r = SNAPSHOT_NO_MEMORY;
	struct aged *list;
	unsigned char *stage;

	stage = aligned_alloc(4096, CHUNK_SIZE);
	list = calloc(s->block_count, sizeof *list);
	s->marks = calloc(s->block_count, sizeof *s->marks);
	if (stage != NULL && list != NULL && s->marks != NULL) {
		r = copy_data(s, sink, stage, list) &&
		    copy_directory(s, sink, stage) &&
		    copy_definitions(s, sink, stage) &&
		    copy_header(s, sink, stage) ? SNAPSHOT_OK : SNAPSHOT_SINK;
		count_blocks(s);
	}
	free(s->marks);
	s->marks = NULL;
	free(list);
	free(stage);
	return r;
}
