/*
 * walk.c - the records of a block, one after another: tnf(5), "Reading".
 */
#include <string.h>

#include "libtnf/table.h"
#include "libtnf/walk.h"

static enum walk_status
bad_at(struct walk *w, uint32_t pos, uint64_t cause, const char *why)
{
	tnf_file_fail_at(w->file, pos, cause, why);
	w->next = w->end;
	return WALK_BAD;
}

static enum walk_status
walk_bad(struct walk *w, uint32_t pos, const char *why)
{
	return bad_at(w, pos, pos, why);
}

/* The block begins with a record of the right type. */
static enum walk_status
check_header(struct walk *w, uint32_t off)
{
	struct tnf_file *f = w->file;
	const struct type *t = tnf_type_of_record(f, off);

	if (t == NULL)
		return bad_at(w, off, f->cause, f->why);
	if (strcmp(t->pub.name, "tnf_block_header") != 0)
		return bad_at(w, off, t->pos, "it has no block header");
	if (t->pub.size != f->block_header_size)
		return bad_at(w, off, t->pos,
		    "the file's header and the type tnf_block_header disagree");
	return WALK_RECORD;
}

/* Its extent is known, so that what follows it can be read. */
static enum walk_status
walk_unreadable(struct walk *w, uint32_t pos, uint32_t word)
{
	uint64_t cause = w->file->cause;
	const char *why = w->file->why;
	uint32_t size = tnf_type_extent(w->file, pos, word);

	if (size == 0 || size > w->end - pos)
		return bad_at(w, pos, cause, why);
	tnf_file_fail_at(w->file, pos, cause, why);
	w->next = pos + size;
	return WALK_UNREADABLE;
}

/* Never used: zeros, or a kernel's preset header.  A lap 0 with records in it
   is damage that leaves them readable. */
static bool
walk_is_unused(const struct tnf_file *f, const struct block *b)
{
	return (b->generation == TNF_GENERATION_FREE ||
	    bytes_u32(&f->bytes, b->off) == 0) &&
	    b->used <= f->block_header_size;
}

enum walk_status
tnf_walk_start(struct walk *w, struct tnf_file *f, uint32_t off)
{
	struct block b = file_block(f, off);

	*w = (struct walk){ .file = f, .block = off,
	    .generation = b.generation };
	if (walk_is_unused(f, &b))
		return WALK_END;
	if (check_header(w, off) != WALK_RECORD)
		return WALK_BAD;
	if (b.used > f->block_size)
		return walk_bad(w, off, "more bytes are used than a block has");
	/* A block that has just been taken says 0. */
	if (b.used != 0 && b.used < f->block_header_size)
		return walk_bad(w, off, "fewer bytes are used than its header has");
	if (!bytes_has(&f->bytes, off, b.used))
		return walk_bad(w, off, "it lies behind the end of the file");
	w->next = off + f->block_header_size;
	w->end = off + b.used;
	return WALK_RECORD;
}

enum walk_status
tnf_walk_next(struct walk *w)
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
		return walk_bad(w, pos, "no record where one should be");
	if ((w->type = table_known(f->types, word)) == NULL &&
	    (w->type = tnf_type_of_tag(f, pos, word)) == NULL)
		return walk_unreadable(w, pos, word);
	if ((size = walk_size(f, w->type, pos)) == 0)
		return walk_bad(w, pos, "a record has an impossible size");
	if (size > w->end - pos)
		return walk_bad(w, pos, "a record reaches beyond what is used");
	w->pos = pos;
	w->word = word;
	w->next = pos + size;
	return WALK_RECORD;
}
