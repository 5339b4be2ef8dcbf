/*
 * value.c - members of events and records, elements of arrays, and long texts in pieces.
 */
#include "common/map.h"
#include "libtnf/file.h"

static void
value_read_scalar(const struct bytes *b, uint64_t pos, const struct tnf_type *t,
    struct tnf_value *v)
{
	switch (t->kind) {
	case TNF_K_CHAR:
	case TNF_K_INT8:
		v->u.i = (int8_t)bytes_u8(b, pos);
		break;
	case TNF_K_INT16:
		v->u.i = (int16_t)bytes_u16(b, pos);
		break;
	case TNF_K_INT32:
		v->u.i = (int32_t)bytes_u32(b, pos);
		break;
	case TNF_K_UINT8:
		v->u.u = bytes_u8(b, pos);
		break;
	case TNF_K_UINT16:
		v->u.u = bytes_u16(b, pos);
		break;
	case TNF_K_UINT32:
		v->u.u = bytes_u32(b, pos);
		break;
	case TNF_K_INT64:
	case TNF_K_UINT64:
		v->u.u = bytes_u64(b, pos);
		break;
	case TNF_K_FLOAT32:
		v->u.d = (double)bytes_f32(b, pos);
		break;
	case TNF_K_FLOAT64:
		v->u.d = bytes_f64(b, pos);
		break;
	default:
		v->u.u = 0;
		break;
	}
}

/* True if there is one word more than the characters need, the mark of a writer that has cut
   them. */
static bool
string_is_cut(const struct bytes *b, uint64_t pos, uint32_t size, size_t len)
{
	return len == TNF_STRING_MAX && size == TNF_STRING_MAX + 1 + 4 &&
	    bytes_u32(b, pos + len + 1) == TNF_STRING_CUT;
}

static void
read_string(const struct bytes *b, uint64_t pos, uint32_t size, struct tnf_value *v)
{
	v->u.s.chars = (const char *)bytes_at(b, pos, 0);
	v->u.s.len = bytes_strlen(b, pos, size);
	v->cut = string_is_cut(b, pos, size, v->u.s.len);
}

/* The array record at 'pos' lies in the file and in its block. */
static bool
read_array(struct tnf_file *f, uint32_t pos, const struct type *t,
    struct tnf_value *v)
{
	uint32_t size = bytes_u32(&f->bytes, (uint64_t)pos + 4);

	if (size < t->header_size ||
	    size > f->block_size - (pos - file_block_off(f, pos)) ||
	    !bytes_has(&f->bytes, pos, size))
		return tnf_file_fail(f, pos, "a record has an impossible size");
	if (v->kind == TNF_K_STRING) {
		read_string(&f->bytes, (uint64_t)pos + t->header_size, size - t->header_size, v);
		return true;
	}
	v->u.r.pos = pos;
	v->u.r.count = (size - t->header_size) / type_element_size(t);
	v->u.r.type = &t->pub;
	return true;
}

static bool
read_struct(struct tnf_file *f, uint32_t pos, const struct type *t,
    struct tnf_value *v)
{
	if (!bytes_has(&f->bytes, pos, t->pub.size))
		return tnf_file_fail(f, pos, "a record goes beyond the file");
	v->u.r.pos = pos;
	v->u.r.count = t->pub.n_members;
	v->u.r.type = &t->pub;
	return true;
}

static bool
value_read_type(struct tnf_file *f, uint32_t pos, struct tnf_value *v)
{
	const struct type *t = tnf_type_at(f, pos);

	if (t == NULL)
		return false;
	v->u.r.pos = pos;
	v->u.r.count = 0;
	v->u.r.type = &t->pub;
	return true;
}

/* Reads the record to which the reference at 'ref' leads; BAD: see f->why. */
static enum ref_status
read_record(struct tnf_file *f, uint64_t ref, struct tnf_value *v)
{
	const struct type *t;
	enum ref_status r;
	uint32_t pos;

	if ((r = tnf_ref_follow(f, ref, &pos)) == REF_BAD)
		tnf_file_fail(f, ref, "a reference is bad");
	if (r != REF_OK)
		return r;
	if ((t = tnf_type_of_record(f, pos)) == NULL)
		return REF_BAD;
	v->kind = t->pub.kind;
	switch (v->kind) {
	case TNF_K_STRING:
	case TNF_K_ARRAY:
		if (!read_array(f, pos, t, v))
			return REF_BAD;
		if (t->is_long && !tnf_long_read(f, v))
			return REF_BAD;
		return REF_OK;
	case TNF_K_TYPE:
		return value_read_type(f, pos, v) ? REF_OK : REF_BAD;
	case TNF_K_STRUCT:
		return read_struct(f, pos, t, v) ? REF_OK : REF_BAD;
	default:
		return REF_NULL;
	}
}

/* A null reference is sound, too, and so is one to a record that a live writer has overwritten. */
static bool
reference_sound(struct tnf_file *f, uint64_t ref)
{
	struct tnf_value v;
	uint32_t pos;

	return read_record(f, ref, &v) != REF_BAD ||
	    tnf_ref_follow(f, ref, &pos) == REF_NULL;
}

/* Returns the place to which the reference at 'ref' leads, if that is in the block, which is
   committed up to 'end': there writers put texts.  0: read_record() has to follow the reference. */
static inline uint32_t
near_place(const struct tnf_file *f, uint32_t block, uint32_t end, uint32_t ref)
{
	uint32_t word = bytes_u32(&f->bytes, ref);
	uint32_t pos = word & TNF_REF32_PERMANENT ? word & ~TNF_REF32_PERMANENT : ref + word;

	/* The other half of permanent references is negative, which is damage. */
	return (word & TNF_REF32_T_MASK) != TNF_REF32_T_FULL || (word & 0x40000000) != 0 ||
	    word == 0 || pos < block || pos >= end ? 0 : pos;
}

/* The type of the text at that place: all that can be wrong with it is told by a few words.  NULL:
   it is none, or read_record() has to tell. */
static inline const struct type *
text_near(const struct tnf_file *f, uint32_t block, uint32_t pos, uint32_t *ret_size)
{
	const struct type *t = table_known(f->types, bytes_u32(&f->bytes, pos));
	uint32_t size;

	if (t == NULL || t->pub.kind != TNF_K_STRING || t->is_long)
		return NULL;
	size = bytes_u32(&f->bytes, (uint64_t)pos + 4);
	if (size < t->header_size || size > f->block_size - (pos - block) ||
	    !bytes_has(&f->bytes, pos, size))
		return NULL;
	*ret_size = size;
	return t;
}

/* Apart from tnf_members_sound(), which would save registers for it each time. */
static bool __attribute__((noinline))
member_sound(struct walk *w, uint32_t ref, uint32_t pos)
{
	uint32_t size;

	if (pos == 0 || text_near(w->file, w->block, pos, &size) == NULL)
		return reference_sound(w->file, ref);
	w->text = pos;
	return true;
}

bool
tnf_members_sound(struct walk *w)
{
	const struct tnf_type *t = &w->type->pub;
	uint32_t ref, pos;

	for (unsigned i = w->type->n_inline; i < t->n_members; i++) {
		if (type_has(type_of_pub(t->members[i].type), PROP(INLINE)))
			continue;
		ref = w->pos + t->members[i].offset;
		pos = near_place(w->file, w->block, w->end, ref);
		/* Most events of a block refer to few texts. */
		if ((pos == 0 || pos != w->text) && !member_sound(w, ref, pos))
			return false;
	}
	return true;
}

static bool
read_near(const struct tnf_file *f, uint32_t ref, struct tnf_value *v)
{
	uint32_t block = file_block_off(f, ref), size = 0;
	uint32_t pos = near_place(f, block, block + file_used(f, block), ref);
	const struct type *t = pos == 0 ? NULL : text_near(f, block, pos, &size);

	if (t == NULL)
		return false;
	v->kind = TNF_K_STRING;
	read_string(&f->bytes, (uint64_t)pos + t->header_size, size - t->header_size, v);
	return true;
}

/* Reads a member that is a reference.  This is apart so that the way of the others stays short. */
static void __attribute__((noinline))
read_referred(struct tnf_file *f, uint64_t pos, const struct tnf_type *t,
    struct tnf_value *v)
{
	if (read_near(f, (uint32_t)pos, v) || read_record(f, pos, v) == REF_OK)
		return;
	v->null = true;
	v->kind = t->kind;
	memset(&v->u, 0, sizeof v->u);
}

static inline void
read_value(struct tnf_file *f, uint64_t pos, const struct tnf_type *t,
    struct tnf_value *v)
{
	v->type = t;
	v->null = v->cut = false;
	v->kind = t->kind;
	if (type_has(type_of_pub(t), PROP(INLINE)))
		value_read_scalar(&f->bytes, pos, t, v);
	else
		read_referred(f, pos, t, v);
}

TNF_API bool
tnf_event_value(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	if (i >= ev->probe->n_members)
		return false;
	const struct tnf_member *m = &ev->probe->members[i];
	read_value(ev->file, (uint64_t)ev->pos + m->offset, m->type, v);
	return true;
}

TNF_API bool
tnf_value_item(const struct tnf_file *file, const struct tnf_value *r,
    unsigned i, struct tnf_value *v)
{
	/* Reading may decode types that were not met before. */
	struct tnf_file *f = (struct tnf_file *)(uintptr_t)file;
	struct tnf_value tmp;

	if (r->null || (r->kind != TNF_K_STRUCT && r->kind != TNF_K_ARRAY) ||
	    i >= r->u.r.count)
		return false;
	const struct type *t = type_of_pub(r->u.r.type);
	uint64_t pos = r->u.r.pos;
	if (r->kind == TNF_K_STRUCT)
		read_value(f, pos + t->pub.members[i].offset,
		    t->pub.members[i].type, &tmp);
	else if (t->pub.element == NULL)
		return false;
	else
		read_value(f, pos + t->header_size + (uint64_t)i *
		    type_element_size(t), t->pub.element, &tmp);
	*v = tmp;
	return true;
}

/*
 * A value of one piece is that piece.  A value of several pieces is put together once and
 * kept by its place, because readers may use a value until the stream is closed.  If the
 * arrays of a file shared pieces, which no writer makes, that could take any amount of
 * memory; so the values kept must not become larger than the file.
 */
#define ARRAYS_MAX	64u		/* of one value */
#define BYTES_MAX	(1u << 20)

struct longs {
	struct arena	 arena;
	struct map	 known;		/* by place and lap */
};

struct whole {
	const char	*chars;
	size_t		 len;
	bool		 cut;
};

struct place {
	uint32_t pos;
	uint32_t generation;
};

/* Goes over the pieces; 'to' NULL: only counts. */
struct pieces {
	struct tnf_file	*f;
	char		*to;
	size_t		 room;		/* a live file may have changed in between */
	const char	*first;
	size_t		 first_len;
	size_t		 n;
	size_t		 len;
	bool		 cut;
};

static void
take_piece(struct pieces *p, const char *chars, size_t len)
{
	if (len > p->room - p->len) {
		p->cut = true;
		return;
	}
	if (p->n++ == 0) {
		p->first = chars;
		p->first_len = len;
	}
	if (p->to != NULL)
		memcpy(p->to + p->len, chars, len);
	p->len += len;
}

/* True if the array lies in its block.  *n: the bytes of its cells. */
static bool
cells_of(struct tnf_file *f, uint32_t pos, const struct type *t, uint32_t *n)
{
	uint32_t size = bytes_u32(&f->bytes, (uint64_t)pos + 4);

	*n = 0;
	if (size < t->header_size ||
	    size > f->block_size - (pos - file_block_off(f, pos)) ||
	    !bytes_has(&f->bytes, pos, size))
		return false;
	*n = size - t->header_size;
	return true;
}

static bool
take_cell(struct pieces *p, uint64_t cell, uint32_t *ret_next)
{
	const struct tnf_file *f = p->f;
	const struct type *t;
	uint32_t pos, n;

	if (tnf_ref_follow(f, cell, &pos) != REF_OK ||
	    (t = tnf_type_of_record(p->f, pos)) == NULL ||
	    !type_has(t, PROP(ARRAY)) || !cells_of(p->f, pos, t, &n))
		return false;
	if (t->is_long) {
		*ret_next = pos;
		return true;
	}
	const char *at = (const char *)bytes_at(&f->bytes, (uint64_t)pos + t->header_size, 0);
	if (t->pub.kind == TNF_K_STRING)
		n = (uint32_t)bytes_strlen(&f->bytes,
		    (uint64_t)pos + t->header_size, n);
	uint8_t padding = t->padded && n > 0 ?
	    bytes_u8(&f->bytes, (uint64_t)pos + t->header_size + n - 1) : 0;
	if (padding <= n && padding < 4)
		n -= padding;
	take_piece(p, at, n);
	return true;
}

static void
take_all(struct pieces *p, uint32_t pos)
{
	uint32_t n, i, next;

	for (unsigned arrays = 0; pos != 0; arrays++, pos = next) {
		next = 0;
		const struct type *t = tnf_type_of_record(p->f, pos);
		if (arrays == ARRAYS_MAX || t == NULL ||
		    !cells_of(p->f, pos, t, &n)) {
			p->cut = true;
			return;
		}
		for (i = 0; i + 4 <= n && next == 0 && !p->cut; i += 4)
			if (!take_cell(p, (uint64_t)pos + t->header_size + i,
			    &next))
				p->cut = true;
	}
}

static struct longs *
longs_of(struct tnf_file *f)
{
	struct longs *l = f->longs;

	if (l == NULL && (l = calloc(1, sizeof(*l))) != NULL) {
		l->arena.limit = f->bytes.size + BYTES_MAX;
		tnf_map_init(&l->known, sizeof(struct whole));
		f->longs = l;
	}
	return l;
}

/* Puts a value together, or finds it put together. */
static const struct whole *
whole_of(struct pieces *p, uint32_t pos)
{
	struct place place = { pos, file_block(p->f, file_block_off(p->f,
	    pos)).generation };
	struct longs *l = longs_of(p->f);
	struct whole *w;
	bool fresh;

	if (l == NULL ||
	    (w = tnf_map_put(&l->known, &place, sizeof(place), &fresh)) == NULL)
		return NULL;
	if (!fresh)
		return w->chars == NULL ? NULL : w;
	if ((p->to = tnf_arena_zalloc(&l->arena, p->len + 1)) == NULL)
		return NULL;
	p->room = p->len;
	p->len = p->n = 0;
	p->cut = false;
	take_all(p, pos);
	w->chars = p->to;
	w->len = p->len;
	w->cut = p->cut;
	return w;
}

bool
tnf_long_read(struct tnf_file *f, struct tnf_value *v)
{
	struct pieces p = { .f = f, .room = BYTES_MAX };
	const struct whole *w;
	uint32_t pos = v->u.r.pos;

	take_all(&p, pos);
	v->kind = TNF_K_STRING;
	v->cut = p.cut;
	v->u.s.chars = p.n == 0 ? "" : p.first;
	v->u.s.len = p.len;
	if (p.n < 2)
		return true;
	if ((w = whole_of(&p, pos)) == NULL) {
		v->u.s.len = p.first_len;
		v->cut = true;
		return true;
	}
	v->u.s.chars = w->chars;
	v->u.s.len = w->len;
	v->cut = w->cut;
	return true;
}

void
tnf_long_done(struct tnf_file *f)
{
	if (f->longs == NULL)
		return;
	tnf_arena_free(&f->longs->arena);
	tnf_map_free(&f->longs->known);
	free(f->longs);
	f->longs = NULL;
}
