/*
 * walk.h - the records of a block, one after another: tnf(5), "Reading".
 */
#ifndef LIBTNF_WALK_H
#define LIBTNF_WALK_H

#include "libtnf/file.h"
#include "libtnf/type.h"

struct walk {
	struct tnf_file *file;
	uint32_t block;		/* offset */
	uint32_t generation;
	uint32_t end;		/* of what is committed */
	uint32_t next;		/* where the next record is looked for */

	/* The current record. */
	uint32_t pos;
	uint32_t word;		/* its first */
	struct type *type;
};

/* UNREADABLE: a record whose type is damaged, but not its size: see file->why;
   the walk goes on behind it. */
enum walk_status { WALK_BAD = -1, WALK_END = 0, WALK_RECORD = 1,
	WALK_UNREADABLE = 2 };

/* Before the first record of the block at 'off', its header left out.  END:
   never used; BAD: see file->why. */
enum walk_status tnf_walk_start(struct walk *, struct tnf_file *, uint32_t off);
enum walk_status tnf_walk_next(struct walk *);
/* What the record's members refer to can be read; false: see file->why. */
bool tnf_members_sound(const struct walk *);

/* Bytes of the record at 'pos' of type 't'; 0: none that makes sense. */
static inline uint32_t
walk_size(const struct tnf_file *f, const struct type *t, uint32_t pos)
{
	uint32_t size = t->step;

	if (type_has(t, PROP(ARRAY))) {
		size = bytes_u32(&f->bytes, (uint64_t)pos + 4);
		if (size < t->header_size || size > f->block_size)
			return 0;
		size = (size + 3) & ~3u;
	}
	return size;
}

/* The current record is an event: its first word is a pair. */
static inline bool
walk_is_event(const struct walk *w)
{
	return (w->word & TNF_REF32_T_MASK) == TNF_REF32_T_PAIR &&
	    w->type->pub.kind == TNF_K_STRUCT;
}

#endif /* LIBTNF_WALK_H */
