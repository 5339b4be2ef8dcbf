/*
 * type.c - from type records to types: tnf(5), "Types".
 *
 * A type is read in two steps, because types refer to each other in circles.  The first
 * step reads what a record says by itself and through its base: name, properties, size.
 * The second reads members and elements (slot.c), when no first step is under way.
 */
#include "libtnf/stream_impl.h"

/* Members of a type record. */
enum {
	T_NAME = 4, T_PROPERTIES = 8,
	T_SCALAR_SIZE = 12, T_SCALAR_ALIGN = 16,
	T_BASE = 12
};

#define DERIVED_MAX	32	/* types derived from each other */
#define PROPERTIES_MAX	32
#define ALIGN_MAX	16u

#define ARRAY_HEADER	8u

static const char *const property_names[] = {
#define X(sym, name) [PROP_BIT_##sym] = name,
	TYPE_PROPERTIES(X)
#undef X
};

static const struct { const char *name; enum type_meta meta; } metas[] = {
	{ "tnf_scalar_type", META_SCALAR },
	{ "tnf_derived_type", META_DERIVED },
	{ "tnf_array_type", META_ARRAY },
	{ "tnf_struct_type", META_STRUCT },
	{ "tnf_probe_type", META_PROBE },
};

static const struct { const char *name; tnf_kind_t kind; uint32_t size; }
scalars[] = {
	{ "tnf_char", TNF_K_CHAR, 1 },
	{ "tnf_int8", TNF_K_INT8, 1 },
	{ "tnf_int16", TNF_K_INT16, 2 },
	{ "tnf_int32", TNF_K_INT32, 4 },
	{ "tnf_int64", TNF_K_INT64, 8 },
	{ "tnf_uint8", TNF_K_UINT8, 1 },
	{ "tnf_uint16", TNF_K_UINT16, 2 },
	{ "tnf_uint32", TNF_K_UINT32, 4 },
	{ "tnf_uint64", TNF_K_UINT64, 8 },
	{ "tnf_float32", TNF_K_FLOAT32, 4 },
	{ "tnf_float64", TNF_K_FLOAT64, 8 },
};

#define COUNT(a)	(sizeof(a) / sizeof (a)[0])

static bool
type_same(const char *s, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(s, name, len) == 0;
}

/* The end of the block that holds 'pos': a record there cannot reach beyond. */
static uint64_t
block_end(const struct tnf_file *f, uint32_t pos)
{
	return (uint64_t)file_block_off(f, pos) + f->block_size;
}

/* Finds the elements of the array to which 'ref' leads: the first, and how many bytes they
   take.  BAD: also an array that reaches beyond its block. */
static enum ref_status
array_of(const struct tnf_file *f, uint32_t ref, uint32_t *first, uint32_t *n)
{
	enum ref_status r;
	uint32_t pos, size;

	if ((r = tnf_ref_follow(f, ref, &pos)) != REF_OK)
		return r;
	size = bytes_u32(&f->bytes, (uint64_t)pos + 4);
	if (size < ARRAY_HEADER || size > block_end(f, pos) - pos ||
	    !bytes_has(&f->bytes, pos, size))
		return REF_BAD;
	*first = pos + ARRAY_HEADER;
	*n = size - ARRAY_HEADER;
	return REF_OK;
}

bool
tnf_type_string(const struct tnf_file *f, uint32_t ref, const char **s, size_t *len)
{
	uint32_t first, n;

	if (array_of(f, ref, &first, &n) != REF_OK)
		return false;
	*s = (const char *)bytes_at(&f->bytes, first, 0);
	*len = bytes_strlen(&f->bytes, first, n);
	return true;
}

bool
tnf_type_refs(const struct tnf_file *f, uint32_t ref, uint32_t *first, unsigned *n)
{
	uint32_t size = 0;
	enum ref_status r = array_of(f, ref, first, &size);

	*n = size / 4;
	return r != REF_BAD;
}

static uint32_t
property_bit(const char *s, size_t len)
{
	for (unsigned i = 0; i < PROP_COUNT; i++)
		if (type_same(s, len, property_names[i]))
			return 1u << i;
	return 0;
}

/* Adds the properties that the record at 'pos' lists; false: one cannot be read. */
static bool
listed_properties(const struct tnf_file *f, uint32_t pos, uint32_t *props)
{
	uint32_t first = 0, type;
	unsigned i, n;
	const char *s;
	size_t len;

	if (!tnf_type_refs(f, pos + T_PROPERTIES, &first, &n))
		return false;
	for (i = 0; i < n && i < PROPERTIES_MAX; i++) {
		if (tnf_ref_follow(f, first + 4 * i, &type) != REF_OK ||
		    !tnf_type_string(f, type + T_NAME, &s, &len))
			return false;
		*props |= property_bit(s, len);
	}
	return true;
}

static bool
read_meta(const struct tnf_file *f, struct type *t)
{
	uint32_t meta, props = 0;
	const char *s;
	size_t len;

	if ((bytes_u32(&f->bytes, t->pos) & TNF_REF32_T_MASK) !=
	    TNF_REF32_T_TAG || tnf_ref_follow(f, t->pos, &meta) != REF_OK ||
	    !tnf_type_string(f, meta + T_NAME, &s, &len))
		return false;
	t->meta = META_ABSTRACT;
	for (unsigned i = 0; i < COUNT(metas); i++)
		if (type_same(s, len, metas[i].name))
			t->meta = metas[i].meta;
	/* We accept a metatype that we do not know, but no record of another kind. */
	return t->meta != META_ABSTRACT ||
	    (listed_properties(f, meta, &props) && (props & PROP(TYPE)));
}

/* The extent of a type's records, known before anything else about it, so that
   records of a bad type can be passed over. */
static void
read_extent(const struct tnf_file *f, struct type *t)
{
	if (t->meta != META_STRUCT && t->meta != META_PROBE)
		return;
	uint32_t size = bytes_u32(&f->bytes, (uint64_t)t->pos + T_STRUCT_SIZE);
	t->pub.size = size;
	t->step = size <= f->block_size ? (size + 3) & ~3u : 0;
}

/* True if the type has the properties that all types of its kind have but the abstract ones. */
static bool
has_properties(const struct type *t)
{
	switch (t->meta) {
	case META_SCALAR:
		return type_has(t, PROP(SCALAR)) && type_has(t, PROP(INLINE));
	case META_ARRAY:
		return type_has(t, PROP(ARRAY)) && (type_has(t, PROP(TAGGED)) ||
		    strcmp(t->pub.name, "tnf_array") == 0);
	case META_STRUCT:
	case META_PROBE:
		return type_has(t, PROP(STRUCT)) && (type_has(t, PROP(TAGGED)) ||
		    strcmp(t->pub.name, "tnf_struct") == 0);
	case META_DERIVED:
	case META_ABSTRACT:
		break;
	}
	return true;
}

static tnf_kind_t
scalar_kind(const struct type *root)
{
	for (unsigned i = 0; i < COUNT(scalars); i++)
		if (strcmp(root->pub.name, scalars[i].name) == 0)
			return scalars[i].size == root->pub.size ?
			    scalars[i].kind : TNF_K_SCALAR;
	return TNF_K_SCALAR;
}

static tnf_kind_t
kind_of(const struct type *t)
{
	if (type_has(t, PROP(SCALAR)))
		return scalar_kind(t->root);
	if (type_has(t, PROP(ARRAY)))
		return strcmp(t->root->pub.name, "tnf_string") == 0 ?
		    TNF_K_STRING : TNF_K_ARRAY;
	if (type_has(t, PROP(TYPE)))
		return TNF_K_TYPE;
	if (type_has(t, PROP(STRUCT)))
		return TNF_K_STRUCT;
	return TNF_K_UNKNOWN;
}

static bool
type_bad(struct type *t, const char *why)
{
	t->bad = true;
	t->why = why;
	return false;
}

static bool
type_read_scalar(const struct tnf_file *f, struct type *t)
{
	t->pub.size = bytes_u32(&f->bytes, (uint64_t)t->pos + T_SCALAR_SIZE);
	t->pub.align = bytes_u32(&f->bytes, (uint64_t)t->pos + T_SCALAR_ALIGN);
	if (t->pub.size == 0 && t->pub.align == 0)
		t->pub.align = 1;	/* tnf_scalar itself */
	if (t->pub.size > f->block_size)
		return type_bad(t, "a scalar type has an impossible size");
	if (t->pub.align == 0 || t->pub.align > ALIGN_MAX ||
	    (t->pub.align & (t->pub.align - 1)) != 0)
		return type_bad(t, "a scalar type has an impossible alignment");
	return true;
}

static struct type *type_get(struct tnf_file *, uint32_t pos, unsigned depth);

static bool
read_derived(struct tnf_file *f, struct type *t, unsigned depth)
{
	uint32_t pos;

	switch (tnf_ref_follow(f, t->pos + T_BASE, &pos)) {
	case REF_NULL:		/* tnf_derived itself */
		return true;
	case REF_BAD:
		return type_bad(t, "a derived type has no base");
	case REF_OK:
		break;
	}
	if ((t->parent = type_get(f, pos, depth + 1)) == NULL)
		return type_bad(t, "the base of a derived type cannot be read");
	t->root = t->parent->root;
	t->props |= t->parent->props;
	t->pub.size = t->parent->pub.size;
	t->pub.align = t->parent->pub.align;
	return true;
}

static bool
read_by_meta(struct tnf_file *f, struct type *t, unsigned depth)
{
	t->pub.align = 4;
	switch (t->meta) {
	case META_SCALAR:
		return type_read_scalar(f, t);
	case META_DERIVED:
		return read_derived(f, t, depth);
	case META_STRUCT:
	case META_PROBE:
		if (t->pub.size > f->block_size)
			return type_bad(t, "a record type is larger than a block");
		return true;
	case META_ARRAY:
	case META_ABSTRACT:
		break;
	}
	return true;
}

/* The first step. */
static bool
type_read_type(struct tnf_file *f, struct type *t, unsigned depth)
{
	const char *s;
	size_t len;

	if (depth > DERIVED_MAX)
		return type_bad(t, "too many types derived from each other");
	if (!read_meta(f, t))
		return type_bad(t, "no type record where one should be");
	read_extent(f, t);
	if (!tnf_type_string(f, t->pos + T_NAME, &s, &len))
		return type_bad(t, "a type has no name");
	if ((t->pub.name = tnf_arena_strndup(&f->arena, s, len)) == NULL)
		return type_bad(t, "out of memory, or too many types");
	t->props = property_bit(s, len);
	if (!listed_properties(f, t->pos, &t->props))
		return type_bad(t, "the properties of a type cannot be read");
	if (!has_properties(t))
		return type_bad(t, "a type lacks properties that its kind has");
	if (!read_by_meta(f, t, depth))
		return false;
	/* No writer puts records inline within records. */
	if (!type_has(t, PROP(SCALAR)))
		t->props &= ~PROP(INLINE);
	t->pub.base = t->root->pub.name;
	t->pub.opaque = type_has(t, PROP(OPAQUE));
	t->pub.kind = kind_of(t);
	t->pub.text = t->pub.kind == TNF_K_ARRAY &&
	    strcmp(t->pub.base, "tnf_text") == 0;
	t->pub.blob = t->pub.kind == TNF_K_ARRAY &&
	    strcmp(t->pub.base, "tnf_blob") == 0;
	t->is_long = t->pub.text || t->pub.blob;
	t->padded = t->pub.kind == TNF_K_ARRAY &&
	    strcmp(t->pub.base, "tnf_padded_bytes") == 0;
	return true;
}

/* The type at 'pos' after the first step, queued for the second. */
static struct type *
type_get(struct tnf_file *f, uint32_t pos, unsigned depth)
{
	struct type *t = tnf_table_find(f->types, pos);

	if (t == NULL) {
		t = tnf_arena_zalloc(&f->arena, sizeof *t);
		if (t == NULL) {
			tnf_file_fail(f, pos, "out of memory, or too many types");
			return NULL;
		}
		t->pos = pos;
		t->root = t;
		type_read_type(f, t, depth);
		/* A circle of derivations has come by here before us. */
		if (tnf_table_find(f->types, pos) == NULL &&
		    tnf_table_add(f->types, t) != 0)
			type_bad(t, "out of memory, or too many types");
		if (!t->bad) {
			t->next = f->types->queue;
			f->types->queue = t;
		}
	}
	if (!t->bad)
		return t;
	tnf_file_fail(f, pos, t->why);
	return NULL;
}

struct type *
tnf_type_basic(struct tnf_file *f, uint32_t pos)
{
	return type_get(f, pos, 0);
}

struct type *
tnf_type_at(struct tnf_file *f, uint32_t pos)
{
	struct type *t = type_get(f, pos, 0), *q;

	while ((q = f->types->queue) != NULL) {
		f->types->queue = q->next;
		tnf_slot_fill(f, q);
	}
	if (t == NULL || !t->bad)
		return t;
	tnf_file_fail(f, pos, t->why);
	return NULL;
}

/* The word to which a tag leads, if the same tag leads there from anywhere: if nothing can
   be read there, that word is the one cause for all records with the tag.  Else 'pos'. */
static uint64_t
tag_target(const struct tnf_file *f, uint32_t pos, uint32_t word)
{
	uint64_t to = pos;

	if ((word & 0x30003) == 0x10001)
		to = word >> 16 & ~TNF_REF32_T_MASK;
	else if ((word & (TNF_REF32_PERMANENT | TNF_REF32_T_MASK)) ==
	    (TNF_REF32_PERMANENT | TNF_REF32_T_TAG))
		to = word & 0x7ffffffc;
	return to < f->data_start ? to : pos;
}

uint32_t
tnf_type_extent(const struct tnf_file *f, uint32_t pos, uint32_t word)
{
	uint32_t to;

	if ((word & TNF_REF32_T_MASK) == TNF_REF32_T_FULL ||
	    tnf_ref_follow(f, pos, &to) != REF_OK)
		return 0;
	const struct type *t = tnf_table_find(f->types, to);
	return t != NULL && t->bad ? t->step : 0;
}

/* Apart from tnf_type_of_tag(), which would save registers for it each time. */
__attribute__((noinline)) static struct type *
follow_tag(struct tnf_file *f, uint32_t pos, uint32_t word)
{
	struct type *t;
	uint32_t to;

	if ((word & TNF_REF32_T_MASK) == TNF_REF32_T_FULL ||
	    tnf_ref_follow(f, pos, &to) != REF_OK) {
		tnf_file_fail_at(f, pos, tag_target(f, pos, word),
		    "a record's tag leads nowhere");
		return NULL;
	}
	if ((t = tnf_type_at(f, to)) != NULL)
		table_learn(f->types, word, t);
	return t;
}

struct type *
tnf_type_of_tag(struct tnf_file *f, uint32_t pos, uint32_t word)
{
	struct type *t = table_known(f->types, word);

	return t != NULL ? t : follow_tag(f, pos, word);
}

struct type *
tnf_type_of_record(struct tnf_file *f, uint32_t pos)
{
	return tnf_type_of_tag(f, pos, bytes_u32(&f->bytes, pos));
}

#define KEYS	"keys "

/* The value of the attribute "keys", which comes first. */
static const char *
keys_of(struct arena *a, const char *attrs)
{
	if (attrs == NULL || strncmp(attrs, KEYS, strlen(KEYS)) != 0)
		return "";
	attrs += strlen(KEYS);
	return tnf_arena_strndup(a, attrs, strcspn(attrs, ";"));
}

static int
read_attrs(struct arena *a, const struct tnf_file *f, const struct type *t,
    struct tnf_probe *p)
{
	const char *s;
	size_t len;

	if (t->meta == META_PROBE &&
	    tnf_type_string(f, t->pos + T_PROBE_STRING, &s, &len) &&
	    (p->attrs = tnf_arena_strndup(a, s, len)) == NULL)
		return -1;
	return (p->keys = keys_of(a, p->attrs)) == NULL ? -1 : 0;
}

static int
probe_append(tnf_stream_t *s, struct tnf_probe *p)
{
	struct tnf_probe **list = tnf_grow(s->probes, s->n_probes, sizeof(*list));

	if (list == NULL)
		return -1;
	s->probes = list;
	p->id = s->n_probes;
	s->probes[s->n_probes++] = p;
	return 0;
}

struct tnf_probe *
tnf_probe_of(tnf_stream_t *s, struct tnf_file *f, struct type *t)
{
	struct tnf_probe *p;

	if (t->probe != NULL)
		return t->probe;
	if ((p = tnf_arena_zalloc(&s->arena, sizeof *p)) == NULL ||
	    read_attrs(&s->arena, f, t, p) != 0 || probe_append(s, p) != 0) {
		tnf_file_fail(f, t->pos, "out of memory");
		return NULL;
	}
	p->name = t->pub.name;
	p->file = f;
	p->pos = t->pos;
	p->n_members = t->pub.n_members - t->first_arg;
	p->members = p->n_members == 0 ? NULL : t->pub.members + t->first_arg;
	t->probe = p;
	return p;
}

static int
by_pos(const void *a, const void *b)
{
	const struct tnf_probe *const *p = a, *const *q = b;

	return ((*p)->pos > (*q)->pos) - ((*p)->pos < (*q)->pos);
}

void
tnf_probes_sort(tnf_stream_t *s, unsigned first)
{
	if (s->n_probes > first)
		qsort(s->probes + first, s->n_probes - first,
		    sizeof(*s->probes), by_pos);
	for (unsigned i = first; i < s->n_probes; i++)
		s->probes[i]->id = i;
}
