/*
 * source-defs.c - definitions that an image lacks.
 *
 * Every buffer of one release begins with the same directory and the same definitions of
 * the kernel's own probes, so that these can be had anew, where at least a part of them,
 * or their sum, is in the image and shows that it was the same release.  Those of imported probes
 * cannot.
 */
#include <stdlib.h>
#include <string.h>

#include "format/header.h"
#include "kernel-probes/defs.h"
#include "tnfxtract/source.h"

#define FIRST	(KP_DIRECTORY / KP_BLOCK_SIZE)
#define END	(KP_DATA / KP_BLOCK_SIZE)
#define TAGS	(KP_TAGS / KP_BLOCK_SIZE)

/* How many bytes of the block are the same in every buffer; 0: none. */
static size_t
fixed(const char *own, unsigned block)
{
	struct tnf_block_header h;

	if (block < TAGS)
		return block == FIRST ? KP_IMPORT_AT(0) - KP_DIRECTORY : 0;
	memcpy(&h, own + block * KP_BLOCK_SIZE, sizeof h);
	return h.generation == TNF_GENERATION_TAG && h.bytes_valid <= KP_BLOCK_SIZE ?
	    h.bytes_valid : 0;
}

/* Where it begins: a block's header counts what was added later. */
static size_t
fixed_from(unsigned block)
{
	return block < TAGS ? 0 : KP_BLOCK_HEADER;
}

/* Imported probes have something in the block, which nobody else knows: words of the
   directory up to its cursor, definitions behind those of the kernel's own. */
static bool
has_imported(const struct image_buffer *b, const struct kp_defs *defs, unsigned block)
{
	struct tnf_ext ext;

	memcpy(&ext, (const char *)b->base + TNF_EXT_OFFSET, sizeof ext);
	return ext.dir_cursor > KP_IMPORT_AT(0) && (block < TAGS ?
	    ext.dir_cursor > block * KP_BLOCK_SIZE : (block + 1) * KP_BLOCK_SIZE > defs->next);
}

/* Some of the blocks are there and say the same as ours, or the sum of all does; and some
   are not there. */
static bool
lacks_ours(const struct image_buffer *b, const char *own, const struct kp_defs *defs)
{
	const char *base = b->base;
	unsigned there = 0, lacking = 0;

	for (unsigned i = FIRST; i < END; i++) {
		size_t n = fixed(own, i), from = fixed_from(i);

		if ((b->first & 1u << i) == 0)
			lacking += n > from || (i < TAGS && has_imported(b, defs, i));
		else if (n <= from)
			continue;
		else if (memcmp(base + i * KP_BLOCK_SIZE + from, own + i * KP_BLOCK_SIZE + from,
		    n - from) == 0)
			there++;
		else
			return false;
	}
	return (there > 0 || b->definitions == defs->sum) && lacking > 0;
}

/* The cookie is not asked for: what is put in bears none.  Returns in how many of the
   blocks something is lost: these still count as missing. */
static unsigned
put_own(struct image_buffer *b, const char *own, const struct kp_defs *defs)
{
	char *base = b->base;
	unsigned lost = 0;

	for (unsigned i = FIRST; i < END; i++) {
		if ((b->first & 1u << i) != 0)
			continue;
		memcpy(base + i * KP_BLOCK_SIZE, own + i * KP_BLOCK_SIZE, KP_BLOCK_SIZE);
		b->first |= 1u << i;
		if (has_imported(b, defs, i))
			lost++;
		else
			b->missing--;
	}
	return lost;
}

/* The first KP_DATA bytes of a buffer of this size, which is what the image claims: no
   memory is taken for the rest.  NULL: not there; free() it. */
static char *
own_definitions(size_t size, struct kp_defs *defs)
{
	char *own = calloc(1, KP_DATA);

	if (own == NULL || kp_defs_write(own, KP_DATA, 0, defs) != 0) {
		free(own);
		return NULL;
	}
	tnf_header_set((void *)own, KP_BLOCK_SIZE, KP_TAGS, size);
	return own;
}

static bool
all_there(const struct image_buffer *b)
{
	uint32_t all = (1u << END) - (1u << FIRST);

	return (b->first & all) == all;
}

bool
source_restore_definitions(struct source *s)
{
	struct image_buffer *b = &s->found;
	struct kp_defs defs;
	bool ok = false;

	if (b->base == NULL || b->size < KP_DATA || all_there(b))
		return false;
	char *own = own_definitions(b->size, &defs);
	if (own != NULL &&
	    memcmp(b->base, own, offsetof(struct tnf_file_header, blocks_valid)) == 0 &&
	    lacks_ours(b, own, &defs)) {
		unsigned lost = put_own(b, own, &defs);
		complain("%s: definitions of probes are not in the image: they were taken "
		    "from this release, whose others are the same", s->dump);
		if (lost > 0)
			complain("%s: definitions of imported probes, if there were any, are "
			    "lost: their events cannot be read, nor those behind them in a "
			    "block", s->dump);
		ok = true;
	}
	free(own);
	return ok;
}
