/*
 * tnf-define.c - defines types and probes of the input when something first refers to them.
 */
#include "tnfdump/to/tnf-write.h"

static int
new_def(struct tnf_writer *w, const char *name, enum tnf_core meta)
{
	w->defs = tnf_xgrow(w->defs, w->n_defs, sizeof(*w->defs));
	w->defs[w->n_defs] = (struct tnfw_def){ .name = name, .meta = meta };
	return (int)w->n_defs++;
}

/* Returns the number of the definition of a type with t's name, derived from 'base'; of an array
   'base' is the element.  Makes the definition if it is new. */
static int
def_from(struct tnf_writer *w, const struct tnf_type *t, enum tnf_core meta, int base)
{
	for (unsigned i = 0; i < w->n_defs; i++)
		if (w->defs[i].meta == meta && w->defs[i].base == base &&
		    strcmp(w->defs[i].name, t->name) == 0)
			return (int)i;
	int i = new_def(w, t->name, meta);
	w->defs[i].base = base;
	return i;
}

static int
tnf_types_derived(struct tnf_writer *w, const struct tnf_type *t, int base)
{
	return def_from(w, t, TNF_CORE_derived_type, base);
}

static int
tnf_types_scalar(struct tnf_writer *w, const struct tnf_type *t)
{
	static const struct tnf_type opaque = { .name = "tnf_opaque" };
	int i = tnf_core_find(t->base);

	if (w->defs[i].meta != TNF_CORE_scalar_type)
		i = TNF_CORE_uint32;
	if (strcmp(t->name, w->defs[i].name) == 0)
		return i;
	if (t->opaque)
		i = tnf_types_derived(w, &opaque, i);
	if (strcmp(t->name, w->defs[i].name) == 0)
		return i;
	return tnf_types_derived(w, t, i);
}

static bool
same_record(const struct tnf_type *a, const struct tnf_type *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n_members != b->n_members)
		return false;
	for (unsigned i = 0; i < a->n_members; i++) {
		if (strcmp(a->members[i].name, b->members[i].name) != 0 ||
		    strcmp(a->members[i].type->name,
		    b->members[i].type->name) != 0 ||
		    strcmp(a->members[i].type->base,
		    b->members[i].type->base) != 0)
			return false;
	}
	return true;
}

static void
tnf_types_remember(struct tnf_writer *w, const struct tnf_type *t, int def)
{
	*(int *)tnf_xmap_put(&w->types, &t, sizeof(t), NULL) = def;
}

/* Adds slots to a record; computes its size as C would. */
static void
add_members(struct tnf_writer *w, int def, const enum tnf_core *head,
    unsigned n_head, const struct tnf_member *members, unsigned n)
{
	int *slots = tnf_xcalloc(n_head + n, sizeof(*slots));
	const char **names = tnf_xcalloc(n_head + n, sizeof(*names));
	uint32_t size = 0, align = 4, a;

	for (unsigned i = 0; i < n_head + n; i++) {
		if (i < n_head) {
			slots[i] = head[i];
			names[i] = i == 0 ? "tnf_tag" : "time_delta";
		} else {
			slots[i] = tnfw_type(w, members[i - n_head].type);
			names[i] = members[i - n_head].name;
		}
		a = tnfw_slot_align(w, slots[i]);
		align = a > align ? a : align;
		size = tnfw_round(size, a) + tnfw_slot_size(w, slots[i]);
	}
	w->defs[def].slots = slots;
	w->defs[def].slot_names = names;
	w->defs[def].n_slots = n_head + n;
	w->defs[def].size = tnfw_round(size, align);
}

static int
tnf_types_record(struct tnf_writer *w, const struct tnf_type *t)
{
	static const enum tnf_core head[] = { TNF_CORE_tag };

	for (unsigned i = 0; i < w->n_defs; i++)
		if (w->defs[i].meta == TNF_CORE_struct_type && w->defs[i].source != NULL &&
		    same_record(w->defs[i].source, t)) {
			tnf_types_remember(w, t, (int)i);
			return (int)i;
		}
	int i = new_def(w, t->name, TNF_CORE_struct_type);
	w->defs[i].source = t;
	tnf_types_remember(w, t, i);
	add_members(w, i, head, 1, t->members, t->n_members);
	return i;
}

static int
make_type(struct tnf_writer *w, const struct tnf_type *t)
{
	int i;

	switch (t->kind) {
	case TNF_K_STRUCT:
		if (t->n_members == 0 && (i = tnf_core_find(t->name)) != TNF_CORE_type_none)
			return i;
		return tnf_types_record(w, t);
	case TNF_K_STRING:
		return strcmp(t->name, "tnf_string") == 0 ? TNF_CORE_string :
		    tnf_types_derived(w, t, TNF_CORE_string);
	case TNF_K_ARRAY:
		return t->element == NULL ? TNF_CORE_array :
		    def_from(w, t, TNF_CORE_array_type, tnfw_type(w, t->element));
	case TNF_K_TYPE:
		return strcmp(t->name, "tnf_type") == 0 ? TNF_CORE_type :
		    tnf_types_derived(w, t, TNF_CORE_type);
	case TNF_K_UNKNOWN:
	case TNF_K_SCALAR:
		i = tnf_core_find(t->name);
		return i != TNF_CORE_type_none ? i : TNF_CORE_tagged;
	default:
		return tnf_types_scalar(w, t);
	}
}

int
tnfw_type(struct tnf_writer *w, const struct tnf_type *t)
{
	const int *known = tnf_map_get(&w->types, &t, sizeof(t));

	if (known != NULL)
		return *known;
	if (w->depth == TNFW_DEPTH_MAX)
		return TNF_CORE_tagged;
	w->depth++;
	int def = make_type(w, t);
	w->depth--;
	if (t->kind != TNF_K_STRUCT)
		tnf_types_remember(w, t, def);
	return def;
}

int
tnfw_probe_def(struct tnf_writer *w, const struct tnf_probe *p)
{
	static const enum tnf_core head[] = { TNF_CORE_probe_event,
	    TNF_CORE_time_delta };
	int i = new_def(w, p->name, p->attrs != NULL ? TNF_CORE_probe_type :
	    TNF_CORE_struct_type);

	w->defs[i].attrs = p->attrs;
	add_members(w, i, head, 2, p->members, p->n_members);
	return i;
}

/* Returns memory for 'size' bytes in the blocks of definitions; w->nowhere and offset 0 if there
   is none, so that callers need not look. */
static uint32_t *
tnfw_definer_room(void *arg, uint32_t size, uint32_t *offset)
{
	struct tnf_writer *w = arg;
	char *p = tnfw_tag_room(w, size, offset);

	if (p == NULL)
		*offset = 0;
	return (uint32_t *)(void *)(p != NULL ? p : w->nowhere);
}

int
tnfw_define_core(struct tnf_writer *w)
{
	static const enum tnf_core first[] = { TNF_CORE_file_header,
	    TNF_CORE_block_header, TNF_CORE_struct_type };
	const struct tnf_core_type *c = tnf_core_types;

	w->definer.room = tnfw_definer_room;
	w->definer.arg = w;
	for (unsigned i = 0; i < TNF_CORE_COUNT; i++, c++) {
		new_def(w, c->name, c->meta);
		w->defs[i].base = c->base;
		w->defs[i].size = c->size;
	}
	for (unsigned i = 0; i < 3; i++)
		w->directory[w->n_directory++] = tnf_define_core(&w->definer, first[i]);
	return w->error;
}

uint32_t
tnfw_slot_size(const struct tnf_writer *w, int def)
{
	while (w->defs[def].meta == TNF_CORE_derived_type)
		def = w->defs[def].base;
	return w->defs[def].meta == TNF_CORE_scalar_type ? w->defs[def].size : 4;
}

uint32_t
tnfw_slot_align(const struct tnf_writer *w, int def)
{
	uint32_t size = tnfw_slot_size(w, def);

	return size == 0 ? 1 : size;
}

static uint32_t
full_to(uint32_t offset)
{
	return offset == 0 ? 0 : offset | TNF_REF32_PERMANENT;
}

/* A definition larger than a block cannot be written, and cannot be used. */
static bool
tnf_define_fits(struct tnf_writer *w, uint64_t size)
{
	if (size <= TNFW_ROOM)
		return true;
	w->too_large = true;
	return false;
}

static struct tnf_text
tnf_define_chars(struct tnf_writer *w, const char *chars)
{
	size_t len = strlen(chars);

	return (struct tnf_text){ chars, tnf_define_fits(w, 8 + (uint64_t)len + 1) ? len : 0 };
}

static uint32_t
place_slot_types(struct tnf_writer *w, int def)
{
	/* The array of definitions may move while it grows. */
	const int *slots = w->defs[def].slots;
	unsigned i, n = w->defs[def].n_slots;
	uint32_t ref, *cells;

	if (!tnf_define_fits(w, 8 + 4 * (uint64_t)n))
		return 0;
	ref = tnf_define_array(&w->definer, TNF_CORE_slot_types, n, &cells);
	for (i = 0; i < n; i++)
		cells[i] = full_to(tnfw_place(w, slots[i]));
	return ref;
}

static uint32_t
place_slot_names(struct tnf_writer *w, int def)
{
	const struct tnfw_def *d = &w->defs[def];
	uint32_t ref, *cells;

	if (!tnf_define_fits(w, 8 + 4 * (uint64_t)d->n_slots))
		return 0;
	ref = tnf_define_array(&w->definer, TNF_CORE_slot_names, d->n_slots, &cells);
	for (unsigned i = 0; i < d->n_slots; i++)
		cells[i] = tnf_define_text(&w->definer, TNF_CORE_string,
		    tnf_define_chars(w, d->slot_names[i]));
	return ref;
}

static void
tnf_define_rest(struct tnf_writer *w, int def, uint32_t *r)
{
	const struct tnfw_def *d = &w->defs[def];
	int base = d->base;

	switch (d->meta) {
	case TNF_CORE_derived_type:
		r[TNF_WORD_DERIVED_BASE] = full_to(tnfw_place(w, base));
		break;
	case TNF_CORE_array_type:
		tnf_define_array_rest(&w->definer, r, full_to(tnfw_place(w, base)));
		break;
	default:
		r[TNF_WORD_SLOT_TYPES] = place_slot_types(w, def);
		d = &w->defs[def];
		r[TNF_WORD_STRUCT_SIZE] = d->size;
		r[TNF_WORD_SLOT_NAMES] = place_slot_names(w, def);
		if (d->meta == TNF_CORE_probe_type)
			r[TNF_WORD_PROBE_ATTRS] = tnf_define_text(&w->definer, TNF_CORE_string,
			    w->redacted != NULL ? redact_attrs(d->attrs) : tnf_define_chars(w, d->attrs));
		break;
	}
}

static void
place_new(struct tnf_writer *w, int def)
{
	struct tnfw_def *d = &w->defs[def];
	enum tnf_properties p = d->meta == TNF_CORE_derived_type ?
	    TNF_PROPERTIES_DERIVED : d->meta == TNF_CORE_array_type ?
	    TNF_PROPERTIES_TAGGED_ARRAY : TNF_PROPERTIES_STRUCT;
	uint32_t *r = tnf_define_type(&w->definer, d->meta, tnf_define_chars(w, d->name),
	    p, &d->offset);

	tnf_define_rest(w, def, r);
}

/* Returns the offset of the definition, and writes it if that was not done.  It takes its offset
   before its members are placed: definitions refer to each other in circles. */
uint32_t
tnfw_place(struct tnf_writer *w, int def)
{
	bool before = w->too_large;

	if (def < TNF_CORE_COUNT)
		return tnf_define_core(&w->definer, def) & ~TNF_REF32_PERMANENT;
	if (w->defs[def].offset != 0) {
		w->too_large |= w->defs[def].too_large;
		return w->defs[def].offset;
	}
	w->too_large = false;
	place_new(w, def);
	w->defs[def].too_large = w->too_large;
	w->too_large |= before;
	return w->defs[def].offset;
}
