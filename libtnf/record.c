/*
 * record.c - classic interface: blocks and the records in them.
 */
#include <string.h>

#include "libtnf/datum.h"
#include "libtnf/raise.h"
#include "libtnf/ref.h"
#include "libtnf/walk.h"

TNF_API int
tnf_get_block_count(TNF *tnf)
{
	const struct tnf_file *f = &tnf->file;

	return (int)(f->block_count - (f->data_start >> f->block_shift));
}

TNF_API void
tnf_get_geometry(TNF *tnf, uint32_t *block_size, uint32_t *start)
{
	*block_size = tnf->file.block_size;
	*start = tnf->file.data_start;
}

/* The header of the block at 'off'; null: there is none, or it is unused. */
static tnf_datum_t
block_at(TNF *tnf, uint64_t off)
{
	const struct tnf_file *f = &tnf->file;

	if (off < f->data_start || off >= f->bytes.size ||
	    bytes_u32(&f->bytes, off) == 0)
		return TNF_DATUM_NULL;
	return tnf_datum_record(tnf, (uint32_t)off);
}

TNF_API tnf_datum_t
tnf_get_block_absolute(TNF *tnf, unsigned n)
{
	const struct tnf_file *f = &tnf->file;

	return block_at(tnf, f->data_start + ((uint64_t)n << f->block_shift));
}

TNF_API tnf_datum_t
tnf_get_block_relative(tnf_datum_t v, int n)
{
	struct datum d;

	if (!datum_get(v, &d))
		return TNF_DATUM_NULL;
	int64_t off = file_block_off(d.f, d.pos) + (int64_t)n * d.f->block_size;
	return off < 0 ? TNF_DATUM_NULL : block_at(d.tnf, (uint64_t)off);
}

TNF_API tnf_datum_t
tnf_get_block_header(tnf_datum_t v)
{
	return tnf_get_block_relative(v, 0);
}

static bool
is_block_header(const struct datum *d)
{
	return d->pos >= d->f->data_start &&
	    d->pos % d->f->block_size == 0 &&
	    strcmp(d->type->pub.name, "tnf_block_header") == 0;
}

TNF_API int
tnf_is_block_header(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) && is_block_header(&d);
}

TNF_API tnf_datum_t
tnf_get_file_header(TNF *tnf)
{
	return tnf_datum_record(tnf, FILE_HEADER_POS);
}

/* The header of the next block in use, from 'off' on. */
static tnf_datum_t
record_next_block(TNF *tnf, uint64_t off)
{
	const struct tnf_file *f = &tnf->file;

	for (; off < f->bytes.size; off += f->block_size)
		if (bytes_u32(&f->bytes, off) != 0)
			return tnf_datum_record(tnf, (uint32_t)off);
	if (f->excess != 0)
		tnf_error_raise(tnf, TNF_ERR_BADTNF, f->excess, FILE_EXCESS);
	return TNF_DATUM_NULL;
}

TNF_API tnf_datum_t
tnf_get_next_record(tnf_datum_t v)
{
	struct datum d;
	struct walk w;

	if (!datum_get_a(v, PROP(TAGGED), &d))
		return TNF_DATUM_NULL;
	if (d.pos < d.f->data_start)
		return record_next_block(d.tnf, d.f->data_start);
	uint32_t block = file_block_off(d.f, d.pos);
	switch (tnf_walk_start(&w, d.f, block)) {
	case WALK_END:
		return record_next_block(d.tnf, (uint64_t)block + d.f->block_size);
	case WALK_RECORD:
		if (d.pos != block)
			w.next = d.pos + walk_size(d.f, d.type, d.pos);
		switch (tnf_walk_next(&w)) {
		case WALK_RECORD:
			return datum_make(d.tnf, w.type, w.pos);
		case WALK_END:
			return record_next_block(d.tnf,
			    (uint64_t)block + d.f->block_size);
		case WALK_UNREADABLE:
		case WALK_BAD:
			break;
		}
		break;
	default:
		break;
	}
	tnf_error_raise(d.tnf, TNF_ERR_BADTNF, d.f->why_pos, d.f->why);
	return TNF_DATUM_NULL;
}

TNF_API tnf_datum_t
tnf_get_tag_arg(tnf_datum_t v)
{
	struct datum d;
	uint32_t word, pos;

	if (!datum_get_a(v, PROP(TAGGED), &d))
		return TNF_DATUM_NULL;
	word = bytes_u32(&d.f->bytes, d.pos);
	if ((word & TNF_REF32_T_MASK) != TNF_REF32_T_PAIR)
		return TNF_DATUM_NULL;
	switch (tnf_ref_pair_arg(d.f, d.pos, word, &pos)) {
	case REF_OK:
		return tnf_datum_record(d.tnf, pos);
	case REF_NULL:
		return TNF_DATUM_NULL;
	case REF_BAD:
		break;
	}
	tnf_datum_error(&d, TNF_ERR_BADREFTYPE, "a schedule reference is bad");
	return TNF_DATUM_NULL;
}
