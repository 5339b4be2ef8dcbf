/*
 * slot.c - references, and the members of record types and elements of array types.
 */
#include "libtnf/file.h"

#define SLOTS_MAX	4096u

static uint32_t
round_up(uint32_t v, uint32_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static void
slot_bad(struct type *t, const char *why)
{
	t->bad = true;
	t->why = why;
}

/* The name of slot i: from the list of names, or that of its type. */
static const char *
slot_name(struct tnf_file *f, const struct type *t, uint32_t names, unsigned n,
    unsigned i)
{
	const char *s;
	size_t len;

	if (i >= n || !tnf_type_string(f, names + 4 * i, &s, &len))
		return t->pub.name;
	return tnf_arena_strndup(&f->arena, s, len);
}

static bool
fill_slot(struct tnf_file *f, uint32_t ref, struct tnf_member *m, uint32_t *off)
{
	const struct type *t;
	uint32_t pos, size, align = 4;

	if (tnf_ref_follow(f, ref, &pos) != REF_OK ||
	    (t = tnf_type_basic(f, pos)) == NULL)
		return false;
	size = type_slot_size(t);
	if (type_has(t, PROP(INLINE)) && type_has(t, PROP(SCALAR)))
		align = t->pub.align;
	m->type = &t->pub;
	m->offset = round_up(*off, align);
	*off = m->offset + size;
	return *off <= f->block_size;
}

/*
 * A record is as large as its members and the padding of a C struct.  A larger
 * size would silently take in the records that follow.  Only the file header may be
 * larger: its writer keeps words of its own behind the members.
 */
static void
check_size(struct type *t, uint32_t members)
{
	uint32_t size = t->pub.size;

	if (size < members)
		slot_bad(t, "a record type is smaller than its members");
	else if (size % 4 != 0 || (size > round_up(members, 8) &&
	    strcmp(t->pub.name, "tnf_file_header") != 0))
		slot_bad(t, "a record type is larger than its members");
	else
		return;
	t->step = 0;
}

/* All slots of a struct or of an array's header. */
static void
fill_slots(struct tnf_file *f, struct type *t)
{
	uint32_t types = 0, names = 0, off = 0;
	unsigned i, n, n_names = 0;

	if (!tnf_type_refs(f, t->pos + T_SLOT_TYPES, &types, &n) ||
	    (t->meta != META_ARRAY &&
	    !tnf_type_refs(f, t->pos + T_SLOT_NAMES, &names, &n_names))) {
		slot_bad(t, "the members of a type cannot be read");
		return;
	}
	if (n_names != 0 && n_names != n) {
		slot_bad(t, "a record type has more or fewer names than members");
		return;
	}
	if (n == 0)
		return;
	if (n > SLOTS_MAX ||
	    (t->slots = tnf_arena_zalloc(&f->arena, n * sizeof *t->slots)) == NULL) {
		slot_bad(t, "a record type has too many members");
		return;
	}
	for (i = 0; i < n; i++) {
		if (!fill_slot(f, types + 4 * i, &t->slots[i], &off)) {
			slot_bad(t, "a member's type cannot be read");
			return;
		}
		t->slots[i].name = slot_name(f,
		    type_of_pub(t->slots[i].type), names, n_names, i);
		if (t->slots[i].name == NULL) {
			slot_bad(t, "out of memory, or too many types");
			return;
		}
	}
	t->n_slots = n;
	if (t->meta != META_ARRAY && t->pub.size != 0)
		check_size(t, off);
}

static void
fill_array(struct tnf_file *f, struct type *t)
{
	const struct type *e;
	uint32_t pos;

	t->header_size = bytes_u32(&f->bytes, (uint64_t)t->pos + T_HEADER_SIZE);
	if (t->header_size < 8 || t->header_size > f->block_size) {
		slot_bad(t, "an array type has an impossible header");
		return;
	}
	switch (tnf_ref_follow(f, t->pos + T_ELEMENT, &pos)) {
	case REF_NULL:		/* tnf_array itself */
		return;
	case REF_OK:
		if ((e = tnf_type_basic(f, pos)) != NULL) {
			t->pub.element = &e->pub;
			return;
		}
		break;
	case REF_BAD:
		break;
	}
	slot_bad(t, "the type of an array's elements cannot be read");
}

/* True if records of the type can be events.  Old kernels' probes have no tnf_tag_arg. */
static bool
is_event_type(const struct type *t)
{
	return t->meta == META_PROBE || (t->n_slots > 0 &&
	    type_has(type_of_pub(t->slots[0].type), PROP(TAG_ARG)));
}

/* Members are the slots behind the tag.  An event's arguments, which are the members of its
   probe, begin behind time_delta. */
static void
fill_members(struct type *t)
{
	if (t->n_slots == 0)
		return;
	t->pub.members = t->slots + 1;
	t->pub.n_members = t->n_slots - 1;
	while (t->n_inline < t->pub.n_members &&
	    type_has(type_of_pub(t->pub.members[t->n_inline].type), PROP(INLINE)))
		t->n_inline++;
	for (unsigned i = 1; i < t->n_slots && is_event_type(t); i++)
		if (strcmp(t->slots[i].name, "time_delta") == 0) {
			if (t->slots[i].offset + sizeof(uint32_t) <= t->step)
				t->delta = t->slots[i].offset;
			t->first_arg = i;
			break;
		}
}

/* A derived type has the members of its base. */
static void
slot_inherit(struct tnf_file *f, struct type *t)
{
	struct type *p = t->parent;

	if (p == NULL)
		return;
	tnf_slot_fill(f, p);
	if (p->bad) {
		slot_bad(t, p->why);
		return;
	}
	t->slots = p->slots;
	t->n_slots = p->n_slots;
	t->header_size = p->header_size;
	t->step = p->step;
	t->pub.element = p->pub.element;
}

void
tnf_slot_fill(struct tnf_file *f, struct type *t)
{
	if (t->filled)
		return;
	t->filled = true;
	switch (t->meta) {
	case META_DERIVED:
		slot_inherit(f, t);
		break;
	case META_STRUCT:
	case META_PROBE:
		fill_slots(f, t);
		break;
	case META_ARRAY:
		fill_slots(f, t);
		fill_array(f, t);
		break;
	case META_SCALAR:
	case META_ABSTRACT:
		break;
	}
	if (t->pub.kind == TNF_K_STRUCT || t->pub.kind == TNF_K_TYPE)
		fill_members(t);
}

const struct tnf_member *
tnf_type_slot(const struct type *t, const char *name)
{
	for (unsigned i = 0; i < t->n_slots; i++)
		if (strcmp(t->slots[i].name, name) == 0)
			return &t->slots[i];
	return NULL;
}

/* No writer makes longer chains of forwarding words. */
#define FORWARD_MAX	64

/* The low 31 bits are signed; the last two are not part of the distance. */
static int64_t
ref_distance(uint32_t word)
{
	int64_t d = word & 0x7ffffffc;

	return d & 0x40000000 ? d - 0x80000000LL : d;
}

/* A place 'd' bytes from 'src' in the endless log that the laps make. */
static enum ref_status
ref_reclaimable(const struct tnf_file *f, uint64_t src, int64_t d, uint32_t *dst)
{
	int64_t v = (int64_t)src + d;
	uint64_t phys = (uint64_t)v & (((uint64_t)1 << f->generation_shift) - 1);

	if (!bytes_has(&f->bytes, phys, 4))
		return REF_BAD;
	*dst = (uint32_t)phys;
	if (src < f->data_start || phys < f->data_start)
		return REF_OK;
	struct block from = file_block(f, file_block_off(f, src));
	struct block to = file_block(f, file_block_off(f, phys));
	if (from.generation == TNF_GENERATION_TAG)
		return REF_OK;
	/* Our writers refer to definitions by permanent references only: so this block has
	   become one of definitions since. */
	if (to.generation == TNF_GENERATION_TAG)
		return f->has_ext ? REF_NULL : REF_OK;
	uint32_t expected = from.generation + (uint32_t)(v >> f->generation_shift);
	if (to.generation != expected || phys - to.off >= to.used)
		return REF_NULL;
	return REF_OK;
}

static enum ref_status
ref_step(const struct tnf_file *f, uint64_t src, uint32_t word, uint32_t *dst)
{
	int64_t d = ref_distance(word);

	if (word == 0)
		return REF_NULL;
	if (!(word & TNF_REF32_PERMANENT))
		return ref_reclaimable(f, src, d, dst);
	if (d < 0 || !bytes_has(&f->bytes, (uint64_t)d, 4))
		return REF_BAD;
	*dst = (uint32_t)d;
	return REF_OK;
}

/* Moves *dst from a forwarding word to the record; at a record it stays. */
static enum ref_status
ref_forward(const struct tnf_file *f, uint32_t *dst)
{
	enum ref_status r;

	for (unsigned n = 0; n < FORWARD_MAX; n++) {
		uint32_t word = bytes_u32(&f->bytes, *dst);
		if (word == 0 || (word & TNF_REF32_T_MASK) != TNF_REF32_T_FULL)
			return REF_OK;
		if ((r = ref_step(f, *dst, word, dst)) != REF_OK)
			return r;
	}
	return REF_BAD;
}

enum ref_status
tnf_ref_follow(const struct tnf_file *f, uint64_t src, uint32_t *dst)
{
	uint32_t word = bytes_u32(&f->bytes, src), to;
	enum ref_status r;

	switch (word & TNF_REF32_T_MASK) {
	case TNF_REF32_T_PAIR:
		return tnf_ref_pair_tag(f, src, word, dst);
	case TNF_REF32_T_RESERVED:
		return REF_BAD;
	}
	if ((r = ref_step(f, src, word, &to)) == REF_OK &&
	    (r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}

enum ref_status
tnf_ref_pair_tag(const struct tnf_file *f, uint64_t src, uint32_t word,
    uint32_t *dst)
{
	uint32_t half = word >> 16, to;
	int64_t at;
	enum ref_status r;

	switch (half & TNF_REF32_T_MASK) {
	case TNF_TAG16_ABS:
		at = half & ~TNF_REF32_T_MASK;
		break;
	case TNF_REF32_T_FULL:
		at = (int64_t)src + (int16_t)half;
		break;
	default:
		return REF_BAD;
	}
	if (at < 0 || (uint64_t)at == src || bytes_u32(&f->bytes, (uint64_t)at) == 0)
		return REF_BAD;
	to = (uint32_t)at;
	if ((r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}

enum ref_status
tnf_ref_pair_arg(const struct tnf_file *f, uint64_t src, uint32_t word,
    uint32_t *dst)
{
	int16_t d = (int16_t)(word & 0xfffc);
	enum ref_status r;
	uint32_t to;

	if (d == 0)
		return REF_NULL;
	if ((r = ref_reclaimable(f, src, d, &to)) != REF_OK)
		return r;
	if (bytes_u32(&f->bytes, to) == 0)
		return REF_NULL;
	if ((r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}
