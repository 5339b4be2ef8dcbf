/*
 * snapshot.c - a consistent copy of a kernel buffer that is being written.
 *
 * A block is copied up to bytes_valid, where whole committed records end; it
 * counts if nobody took it over meanwhile.  The order makes that an event finds
 * what it refers to: data blocks, then the directory that names definitions,
 * then the blocks of definitions, then block 0.  A CPU goes from block to block
 * in their order; so if one has changed since, when the next has been copied,
 * it is copied again: what a CPU has written has no hole.
 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE	(256u << 10)	/* staged in cache, put at once */
#define TRIES		4		/* for a block that is being taken over */
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
	    h.block_size < TNF_EXT_OFFSET + sizeof(struct tnf_ext) ||
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

enum copied { EMPTY, COPIED, MOVING };

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
 * One try.  A take-over makes bytes_valid small, then the generation the new
 * one, and only then writes: with equal generations before and after, and
 * bytes_valid not smaller after than before, what was copied is of one lap.
 */
static enum copied
try_block(const struct snapshot *s, const unsigned char *from,
    unsigned char *to, uint32_t *ret_valid)
{
	const struct tnf_block_header *h = (const void *)from;
	struct tnf_block_header copy = { .tag = s->block_tag };
	uint32_t valid;

	copy.generation = load32(&h->generation);
	valid = __atomic_load_n(&h->bytes_valid, __ATOMIC_ACQUIRE);
	if (copy.generation == TNF_GENERATION_FREE || valid <= HEADER_SIZE ||
	    valid > s->block_size || load32(&h->tag) != s->block_tag)
		return EMPTY;
	memcpy(to + HEADER_SIZE, from + HEADER_SIZE, valid - HEADER_SIZE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (load32(&h->generation) != copy.generation ||
	    __atomic_load_n(&h->bytes_valid, __ATOMIC_RELAXED) < valid)
		return MOVING;
	copy.bytes_valid = (uint16_t)valid;
	memcpy(to, &copy, sizeof copy);
	memset(to + valid, 0, s->block_size - valid);
	*ret_valid = valid;
	return COPIED;
}

/* The copy of block n, or a block never used.  Returns bytes_valid, or 0. */
static uint32_t
copy_block(struct snapshot *s, uint32_t n, unsigned char *to)
{
	const unsigned char *from = s->base + (size_t)n * s->block_size;
	enum copied result = MOVING;
	uint32_t valid = 0;
	int i;

	for (i = 0; i < TRIES && result == MOVING; i++) {
		s->marks[n] = mark_of(s, n);
		result = try_block(s, from, to, &valid);
	}
	s->marks[n].result = (uint16_t)result;
	if (result == COPIED)
		return valid;
	memset(to, 0, s->block_size);
	return 0;
}

static bool
is_tag(const unsigned char *block)
{
	struct tnf_block_header h;

	memcpy(&h, block, sizeof h);
	return h.generation == TNF_GENERATION_TAG;
}

static void
copy_and_look(struct snapshot *s, const struct snapshot_sink *sink, uint32_t n,
    unsigned char *to)
{
	uint32_t valid = copy_block(s, n, to);

	if (valid > 0 && !is_tag(to) && sink->look != NULL)
		sink->look(sink->arg, to, valid);
}

/* Blocks on their way to the sink. */
struct chunk {
	uint32_t first, count;
	unsigned char *bytes;	/* and room for one more block */
};

/* Block n was copied: those before it that have changed since, again. */
static bool
catch_up(struct snapshot *s, const struct snapshot_sink *sink,
    const struct chunk *c, uint32_t n)
{
	unsigned char *one = c->bytes + CHUNK_SIZE;

	while (n-- > s->directory_end / s->block_size && changed(s, n)) {
		if (n >= c->first) {
			copy_and_look(s, sink, n, c->bytes +
			    (size_t)(n - c->first) * s->block_size);
			continue;
		}
		copy_and_look(s, sink, n, one);
		if (!sink->put(sink->arg, (uint64_t)n * s->block_size, one,
		    s->block_size))
			return false;
	}
	return true;
}

/* A chunk without anything is not put. */
static bool
copy_chunk(struct snapshot *s, const struct snapshot_sink *sink,
    const struct chunk *c)
{
	uint32_t i, n;
	bool any = false;

	for (i = 0; i < c->count; i++) {
		n = c->first + i;
		copy_and_look(s, sink, n, c->bytes + (size_t)i * s->block_size);
		if (!catch_up(s, sink, c, n))
			return false;
	}
	for (i = 0; i < c->count; i++)
		any |= s->marks[c->first + i].result == COPIED;
	return !any || sink->put(sink->arg, (uint64_t)c->first * s->block_size,
	    c->bytes, (size_t)c->count * s->block_size);
}

static bool
copy_data(struct snapshot *s, const struct snapshot_sink *sink,
    unsigned char *stage)
{
	uint32_t per_chunk = CHUNK_SIZE / s->block_size;
	struct chunk c = { .first = s->directory_end / s->block_size,
	    .bytes = stage };

	for (; c.first < s->block_count; c.first += c.count) {
		c.count = s->block_count - c.first < per_chunk ?
		    s->block_count - c.first : per_chunk;
		if (!copy_chunk(s, sink, &c))
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
		if (copy_block(s, n, stage) == 0)
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
		s->blanked += s->marks[n].result == MOVING;
	}
}

enum snapshot_result
snapshot_copy(struct snapshot *s, const struct snapshot_sink *sink)
{
	enum snapshot_result r = SNAPSHOT_NO_MEMORY;
	unsigned char *stage;

	stage = aligned_alloc(4096, CHUNK_SIZE + TNF_BLOCK_SIZE_MAX);
	s->marks = calloc(s->block_count, sizeof *s->marks);
	if (stage != NULL && s->marks != NULL) {
		r = copy_data(s, sink, stage) &&
		    copy_directory(s, sink, stage) &&
		    copy_definitions(s, sink, stage) &&
		    copy_header(s, sink, stage) ? SNAPSHOT_OK : SNAPSHOT_SINK;
		count_blocks(s);
	}
	free(s->marks);
	s->marks = NULL;
	free(stage);
	return r;
}
