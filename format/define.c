/*
 * define.c - writes definitions.
 */
#include <string.h>

#include <tnf/com.h>

#include "format/define.h"

#define PERMANENT(offset)	((offset) == 0 ? 0 : (offset) | TNF_REF32_PERMANENT)

static uint32_t *
define_room(struct tnf_definer *d, uint32_t size, uint32_t *offset)
{
	uint32_t *r = d->room(d->arg, size, offset);

	if (*offset == 0)
		d->failed = true;
	return r;
}

uint32_t
tnf_define_tag_of(uint32_t ref)
{
	return ref == 0 ? 0 : ref | TNF_REF32_T_TAG;
}

uint32_t
tnf_define_core_tag(struct tnf_definer *d, enum tnf_core i)
{
	return tnf_define_tag_of(tnf_define_core(d, i));
}

uint32_t
tnf_define_text(struct tnf_definer *d, enum tnf_core type, struct tnf_text text)
{
	uint32_t *r, at, size = (uint32_t)(8 + text.len + 1 + 3) & ~3u;

	r = define_room(d, size, &at);
	r[1] = size;
	memcpy(r + 2, text.chars, text.len);
	r[0] = tnf_define_core_tag(d, type);
	return PERMANENT(at);
}

uint32_t
tnf_define_array(struct tnf_definer *d, enum tnf_core type, unsigned n,
    uint32_t **cells)
{
	uint32_t *r, at;

	r = define_room(d, 8 + 4 * n, &at);
	r[1] = 8 + 4 * n;
	*cells = r + 2;
	r[0] = tnf_define_core_tag(d, type);
	return PERMANENT(at);
}

static uint32_t
define_core_list(struct tnf_definer *d, enum tnf_core type, const uint8_t *ids,
    unsigned n)
{
	uint32_t ref, *cells;

	ref = tnf_define_array(d, type, n, &cells);
	for (unsigned i = 0; i < n; i++)
		cells[i] = tnf_define_core(d, ids[i]);
	return ref;
}

static uint32_t
define_properties(struct tnf_definer *d, enum tnf_properties p)
{
	static const struct { uint8_t n, id[3]; } list[] = {
		[TNF_PROPERTIES_SCALAR] = { 2, { TNF_CORE_inline, TNF_CORE_scalar } },
		[TNF_PROPERTIES_DERIVED] = { 1, { TNF_CORE_derived } },
		[TNF_PROPERTIES_TAG_ARG] = { 2, { TNF_CORE_derived, TNF_CORE_tag_arg } },
		[TNF_PROPERTIES_ARRAY] = { 1, { TNF_CORE_array } },
		[TNF_PROPERTIES_TAGGED_ARRAY] = { 2, { TNF_CORE_array, TNF_CORE_tagged } },
		[TNF_PROPERTIES_STRUCT] = { 2, { TNF_CORE_tagged, TNF_CORE_struct } },
		[TNF_PROPERTIES_METATYPE] = { 3, { TNF_CORE_tagged, TNF_CORE_struct,
		    TNF_CORE_type } },
	};

	return p == TNF_PROPERTIES_NULL ? 0 :
	    define_core_list(d, TNF_CORE_properties, list[p].id, list[p].n);
}

uint32_t *
tnf_define_type(struct tnf_definer *d, enum tnf_core meta, struct tnf_text name,
    enum tnf_properties properties, uint32_t *where)
{
	uint32_t *r = define_room(d, tnf_core_types[meta].size, where);

	r[0] = tnf_define_core_tag(d, meta);
	r[1] = tnf_define_text(d, TNF_CORE_name, name);
	r[2] = define_properties(d, properties);
	return r;
}

void
tnf_define_array_rest(struct tnf_definer *d, uint32_t *r, uint32_t element)
{
	static const uint8_t header[] = { TNF_CORE_tag, TNF_CORE_self_size };

	r[TNF_WORD_SLOT_TYPES] = define_core_list(d, TNF_CORE_slot_types, header, 2);
	r[TNF_WORD_ARRAY_HEADER] = 8;
	r[TNF_WORD_ARRAY_ELEMENT] = element;
}

static uint32_t
define_core_slot_names(struct tnf_definer *d, const struct tnf_core_slots *s)
{
	uint32_t ref, *cells;

	if (s->name[0] == NULL)
		return 0;
	ref = tnf_define_array(d, TNF_CORE_slot_names, s->n, &cells);
	for (unsigned i = 0; i < s->n; i++)
		cells[i] = tnf_define_text(d, TNF_CORE_string,
		    (struct tnf_text){ s->name[i], strlen(s->name[i]) });
	return ref;
}

static enum tnf_properties
core_properties(enum tnf_core i)
{
	switch (tnf_core_types[i].meta) {
	case TNF_CORE_scalar_type:
		return TNF_PROPERTIES_SCALAR;
	case TNF_CORE_derived_type:
		return i == TNF_CORE_probe_event ? TNF_PROPERTIES_TAG_ARG :
		    TNF_PROPERTIES_DERIVED;
	case TNF_CORE_array_type:
		return i == TNF_CORE_array ? TNF_PROPERTIES_ARRAY :
		    TNF_PROPERTIES_TAGGED_ARRAY;
	case TNF_CORE_struct_type:
		return i == TNF_CORE_struct ? TNF_PROPERTIES_NONE :
		    i <= TNF_CORE_probe_type ? TNF_PROPERTIES_METATYPE :
		    TNF_PROPERTIES_STRUCT;
	default:
		return TNF_PROPERTIES_NULL;
	}
}

/* The members behind tag, name and properties. */
static void
define_core_rest(struct tnf_definer *d, enum tnf_core i, uint32_t *r)
{
	const struct tnf_core_type *c = &tnf_core_types[i];
	const struct tnf_core_slots *s;

	switch (c->meta) {
	case TNF_CORE_scalar_type:
		r[TNF_WORD_SCALAR_SIZE] = r[TNF_WORD_SCALAR_ALIGN] = c->size;
		break;
	case TNF_CORE_derived_type:
		r[TNF_WORD_DERIVED_BASE] = tnf_define_core(d, c->base);
		break;
	case TNF_CORE_array_type:
		if (i == TNF_CORE_array)	/* the property has no slots */
			r[TNF_WORD_ARRAY_HEADER] = 8;
		else
			tnf_define_array_rest(d, r, tnf_define_core(d, c->base));
		break;
	case TNF_CORE_struct_type:
		s = tnf_core_slots(i);
		r[TNF_WORD_SLOT_TYPES] = define_core_list(d, TNF_CORE_slot_types,
		    s->slot, s->n);
		r[TNF_WORD_STRUCT_SIZE] = c->size;
		r[TNF_WORD_SLOT_NAMES] = define_core_slot_names(d, s);
		break;
	}
}

uint32_t
tnf_define_core(struct tnf_definer *d, enum tnf_core i)
{
	const struct tnf_core_type *c = &tnf_core_types[i];
	uint32_t *r;

	if (i == TNF_CORE_type_none)
		return 0;
	/* After a failure nothing is begun: types in circles would never end. */
	if (d->core[i] == 0 && !d->failed) {
		r = tnf_define_type(d, c->meta, (struct tnf_text){ c->name,
		    strlen(c->name) }, core_properties(i), &d->core[i]);
		define_core_rest(d, i, r);
	}
	return PERMANENT(d->core[i]);
}
