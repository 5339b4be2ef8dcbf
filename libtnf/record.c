/*
 * record.c - classic interface: blocks, the records in them, and their members.
 */
#include "libtnf/datum.h"

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

/* The datum at 'pos', a member of type 't'. */
static tnf_datum_t
member_item(const struct datum *d, const struct type *t, uint32_t pos)
{
	uint32_t to;

	if (!type_has(t, PROP(TAGGED)))
		return bytes_has(&d->f->bytes, pos, t->pub.size) ?
		    datum_make(d->tnf, t, pos) : TNF_DATUM_NULL;
	switch (tnf_ref_follow(d->f, pos, &to)) {
	case REF_OK:
		return tnf_datum_record(d->tnf, to);
	case REF_NULL:
		return TNF_DATUM_NULL;
	case REF_BAD:
		break;
	}
	tnf_error_raise(d->tnf, TNF_ERR_BADREFTYPE, pos, "a reference is bad");
	return TNF_DATUM_NULL;
}

/* An array that has elements and fits; their number. */
static bool
get_array(tnf_datum_t v, struct datum *d, uint32_t *n)
{
	if (!datum_get_a(v, PROP(ARRAY), d))
		return false;
	uint32_t size = bytes_u32(&d->f->bytes, (uint64_t)d->pos + 4);
	if (d->type->pub.element == NULL || size < d->type->header_size ||
	    size > d->f->block_size - (d->pos - file_block_off(d->f, d->pos)) ||
	    !bytes_has(&d->f->bytes, d->pos, size)) {
		tnf_datum_error(d, TNF_ERR_BADTNF,
		    "an array has an impossible size");
		return false;
	}
	*n = (size - d->type->header_size) / type_element_size(d->type);
	return true;
}

TNF_API unsigned
tnf_get_element_count(tnf_datum_t v)
{
	struct datum d;
	uint32_t n;

	return get_array(v, &d, &n) ? n : (unsigned)-1;
}

TNF_API tnf_datum_t
tnf_get_element(tnf_datum_t v, unsigned i)
{
	struct datum d;
	uint32_t n;

	if (!get_array(v, &d, &n))
		return TNF_DATUM_NULL;
	if (i < n)
		return member_item(&d, type_of_pub(d.type->pub.element), d.pos +
		    d.type->header_size + i * type_element_size(d.type));
	tnf_datum_error(&d, TNF_ERR_BADINDEX, NULL);
	return TNF_DATUM_NULL;
}

TNF_API tnf_datum_t
tnf_get_element_type(tnf_datum_t v)
{
	struct datum d;
	uint32_t n;

	return get_array(v, &d, &n) ?
	    tnf_datum_of_type(d.tnf, type_of_pub(d.type->pub.element)) :
	    TNF_DATUM_NULL;
}

TNF_API caddr_t
tnf_get_elements(tnf_datum_t v)
{
	struct datum d;
	uint32_t n;

	return get_array(v, &d, &n) ? (caddr_t)(uintptr_t)bytes_at(
	    &d.f->bytes, d.pos + d.type->header_size, 0) : NULL;
}

TNF_API char *
tnf_get_chars(tnf_datum_t v)
{
	struct datum d;
	uint32_t n, first;

	if (!get_array(v, &d, &n))
		return NULL;
	if (d.type->pub.kind != TNF_K_STRING) {
		tnf_datum_error(&d, TNF_ERR_TYPEMISMATCH, NULL);
		return NULL;
	}
	first = d.pos + d.type->header_size;
	if (bytes_strlen(&d.f->bytes, first, n) == n) {
		tnf_datum_error(&d, TNF_ERR_BADTNF, "a string without end");
		return NULL;
	}
	return (char *)(uintptr_t)bytes_at(&d.f->bytes, first, n);
}

/* Structs, and the headers of arrays. */
#define HAS_SLOTS	(PROP(STRUCT) | PROP(ARRAY) | PROP(TYPE))

TNF_API unsigned
tnf_get_slot_count(tnf_datum_t v)
{
	struct datum d;

	return datum_get_a(v, HAS_SLOTS, &d) ? d.type->n_slots : (unsigned)-1;
}

static bool
get_slot(tnf_datum_t v, unsigned i, struct datum *d)
{
	if (!datum_get_a(v, HAS_SLOTS, d))
		return false;
	if (i < d->type->n_slots)
		return true;
	tnf_datum_error(d, TNF_ERR_BADINDEX, NULL);
	return false;
}

TNF_API char *
tnf_get_slot_name(tnf_datum_t v, unsigned i)
{
	struct datum d;

	return get_slot(v, i, &d) ?
	    (char *)(uintptr_t)d.type->slots[i].name : NULL;
}

TNF_API tnf_datum_t
tnf_get_slot_indexed(tnf_datum_t v, unsigned i)
{
	struct datum d;

	return get_slot(v, i, &d) ?
	    member_item(&d, type_of_pub(d.type->slots[i].type),
	    d.pos + d.type->slots[i].offset) : TNF_DATUM_NULL;
}

static bool
find_slot(tnf_datum_t v, const char *name, struct datum *d, unsigned *i)
{
	if (!datum_get_a(v, HAS_SLOTS, d))
		return false;
	for (*i = 0; *i < d->type->n_slots; (*i)++)
		if (strcmp(d->type->slots[*i].name, name) == 0)
			return true;
	return false;
}

TNF_API int
tnf_has_slot(tnf_datum_t v, const char *name)
{
	struct datum d = { 0 };
	unsigned i;

	return find_slot(v, name, &d, &i);
}

TNF_API unsigned
tnf_get_slot_index(tnf_datum_t v, const char *name)
{
	struct datum d = { 0 };
	unsigned i;

	if (find_slot(v, name, &d, &i))
		return i;
	if (d.type != NULL)
		tnf_datum_error(&d, TNF_ERR_BADSLOT, NULL);
	return (unsigned)-1;
}

TNF_API tnf_datum_t
tnf_get_slot_named(tnf_datum_t v, const char *name)
{
	unsigned i = tnf_get_slot_index(v, name);

	return i == (unsigned)-1 ? TNF_DATUM_NULL : tnf_get_slot_indexed(v, i);
}
