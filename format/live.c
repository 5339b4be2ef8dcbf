/*
 * live.c - blocks of a buffer, copied while others write them: live.h says why that works.
 */
#include <tnf/com.h>

#include "format/bytes.h"
#include "format/live.h"

#define ROUNDS	16	/* for definitions that keep coming */

static uint32_t
live_u32(const struct live *b, uint64_t off)
{
	uint32_t v;

	if (b->read != NULL)
		b->read(b, off, &v, sizeof v);
	else
		v = *(const volatile bytes_any32 *)(b->base + off);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return b->swap ? __builtin_bswap32(v) : v;
}

static uint16_t
live_u16(const struct live *b, uint64_t off)
{
	uint16_t v;

	if (b->read != NULL)
		b->read(b, off, &v, sizeof v);
	else
		v = *(const volatile bytes_any16 *)(b->base + off);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return b->swap ? __builtin_bswap16(v) : v;
}

struct live_use
tnf_live_look(const struct live *b, uint64_t off)
{
	struct live_use use;

	use.generation = live_u32(b, off + offsetof(struct tnf_block_header, generation));
	use.used = live_u16(b, off + offsetof(struct tnf_block_header, bytes_valid));
	return use;
}

/* The copy says what was copied, whatever the header said when its turn came. */
static void
set_used(const struct live *b, unsigned char *to, uint32_t used)
{
	uint16_t v = b->swap ? __builtin_bswap16((uint16_t)used) : (uint16_t)used;

	memcpy(to + offsetof(struct tnf_block_header, bytes_valid), &v, sizeof v);
}

enum live_copied
tnf_live_copy(const struct live *b, uint64_t off, unsigned char *to, struct live_use *use)
{
	struct live_use before = tnf_live_look(b, off), after = before;
	uint32_t n = before.used;

	if (n < sizeof(struct tnf_block_header))
		n = sizeof(struct tnf_block_header);
	/* A permanent block may hold names, which count by words of their own. */
	if (n > b->block_size || before.generation == TNF_GENERATION_TAG)
		n = b->block_size;
	if (before.generation == use->generation) {
		if (b->read != NULL)
			b->read(b, off, to, n);
		else
			memcpy(to, b->base + off, n);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = tnf_live_look(b, off);
	}
	if (after.generation != use->generation || after.used < before.used) {
		memset(to, 0, b->block_size);
		return LIVE_TAKEN;
	}
	memset(to + n, 0, b->block_size - n);
	set_used(b, to, before.used);
	use->used = before.used;
	if (before.used > b->block_size || (before.used <= sizeof(struct tnf_block_header) &&
	    before.generation != TNF_GENERATION_TAG))
		return LIVE_EMPTY;
	return LIVE_COPIED;
}

void
tnf_live_copy_words(const struct live *b, uint64_t off, unsigned char *to, size_t n)
{
	uint32_t v;

	for (size_t i = 0; i < n; i += sizeof v) {
		v = live_u32(b, off + i);
		if (b->swap)
			v = __builtin_bswap32(v);
		memcpy(to + i, &v, sizeof v);
	}
}

/* Copies the blocks that are new or have grown. */
static bool
copy_grown(const struct live *b, struct live_use *seen, unsigned char *block, bool *grown,
    bool (*put)(void *, uint64_t, const void *, size_t), void *arg)
{
	struct live_use now, *s;

	for (uint64_t off = b->first; off < b->size; off += b->block_size) {
		s = &seen[off / b->block_size];
		now = tnf_live_look(b, off);
		if (now.generation != TNF_GENERATION_TAG ||
		    (now.generation == s->generation && now.used == s->used))
			continue;
		s->generation = TNF_GENERATION_TAG;
		if (tnf_live_copy(b, off, block, s) != LIVE_COPIED)
			continue;
		*grown = true;
		if (!put(arg, off, block, b->block_size))
			return false;
	}
	return true;
}

bool
tnf_live_copy_definitions(const struct live *b, struct live_use *seen, unsigned char *block,
    bool (*put)(void *arg, uint64_t off, const void *block, size_t n), void *arg)
{
	bool grown = true, ok = true;

	for (int i = 0; i < ROUNDS && ok && grown; i++) {
		grown = false;
		ok = copy_grown(b, seen, block, &grown, put, arg);
	}
	return ok;
}
