/*
 * walk.c - the records of a block, one after another: tnf(5), "Reading".
 */
#include <string.h>

#include "file.h"
#include "table.h"
#include "type.h"
#include "walk.h"

static enum walk_status
bad(struct walk *w, uint32_t pos, const char *why)
{
	file_fail(w->file, pos, why);
	w->next = w->end;
	return WALK_BAD;
}

/* The block begins with a record of the right type. */
static bool
has_header(struct tnf_file *f, uint32_t off)
{
	const struct type *t = type_of_record(f, off);

	return t != NULL && strcmp(t->pub.name, "tnf_block_header") == 0;
}

enum walk_status
walk_start(struct walk *w, struct tnf_file *f, uint32_t off)
{
	struct block b = file_block(f, off);

	*w = (struct walk){ .file = f, .block = off,
	    .generation = b.generation };
	if (b.generation == TNF_GENERATION_FREE ||
	    bytes_u32(&f->bytes, off) == 0)
		return WALK_END;
	if (!has_header(f, off))
		return bad(w, off, "it has no block header");
	if (b.used > f->block_size)
		return bad(w, off, "more bytes are used than a block has");
	/* A block that has just been taken says 0. */
	if (b.used != 0 && b.used < f->block_header_size)
		return bad(w, off, "fewer bytes are used than its header has");
	if (!bytes_has(&f->bytes, off, b.used))
		return bad(w, off, "it lies behind the end of the file");
	w->next = off + f->block_header_size;
	w->end = off + b.used;
	return WALK_RECORD;
}

enum walk_status
walk_next(struct walk *w)
{
	struct tnf_file *f = w->file;
	uint32_t pos = w->next, word = 0, size;

	/* Padding and forwarding words. */
	while (pos < w->end && ((word = bytes_u32(&f->bytes, pos)) &
	    TNF_REF32_T_MASK) == TNF_REF32_T_FULL)
		pos += 4;
	if (pos >= w->end) {
		w->next = pos;
		return WALK_END;
	}
	if ((word & TNF_REF32_T_MASK) == TNF_REF32_T_RESERVED)
		return bad(w, pos, "no record where one should be");
	if ((w->type = table_known(f->types, word)) == NULL &&
	    (w->type = type_of_tag(f, pos, word)) == NULL)
		return bad(w, pos, f->why);
	if ((size = walk_size(f, w->type, pos)) == 0)
		return bad(w, pos, "a record has an impossible size");
	if (size > w->end - pos)
		return bad(w, pos, "a record reaches beyond what is used");
	w->pos = pos;
	w->word = word;
	w->next = pos + size;
	return WALK_RECORD;
}
