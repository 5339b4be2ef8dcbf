/*
 * tnf-define.c - definitions, written when something first refers to them.
 */
#include <string.h>

#include "tnfdump/to/tnf-write.h"
#include "common/xalloc.h"

int
tnfw_new_def(struct tnf_writer *w, const char *name, enum tnf_core meta)
{
	if (w->n_defs == w->max_defs) {
		w->max_defs = w->max_defs == 0 ? 128 : w->max_defs * 2;
		w->defs = tnf_xreallocarray(w->defs, w->max_defs,
		    sizeof(*w->defs));
	}
	struct tnfw_def *d = &w->defs[w->n_defs];
	memset(d, 0, sizeof(*d));
	d->name = name;
	d->meta = meta;
	return (int)w->n_defs++;
}

/* Room in the blocks of definitions. */
static uint32_t *
tnfw_definer_room(void *arg, uint32_t size, uint32_t *offset)
{
	struct tnf_writer *w = arg;
	char *p = tnfw_tag_room(w, size, offset);

	if (p == NULL) {
		*offset = 0;
		p = w->nowhere;
	}
	return (uint32_t *)(void *)p;
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
		tnfw_new_def(w, c->name, c->meta);
		struct tnfw_def *d = &w->defs[i];
		d->base = c->base;
		d->size = c->size;
	}
	for (unsigned i = 0; i < 3; i++)
		w->directory[w->n_directory++] =
		    tnf_define_core(&w->definer, first[i]);
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

/* A definition larger than a block has no place, and is of no use. */
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
			r[TNF_WORD_PROBE_ATTRS] = tnf_define_text(&w->definer,
			    TNF_CORE_string, tnf_define_chars(w, d->attrs));
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

/* The place is taken before what it refers to: definitions form circles. */
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
