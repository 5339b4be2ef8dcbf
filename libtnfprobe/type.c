/*
 * type.c - writes the definitions of built-in types, each when it is needed.
 *
 * Types refer to each other in circles.  So the place of a type is remembered
 * before its members are written.
 */
#include <string.h>

#include "libtnfprobe/internal.h"
#include "libtnfprobe/type.h"

struct core_type {
	const char	*name;
	uint8_t		 meta;		/* enum core */
	uint8_t		 base;		/* derived base, element */
	uint8_t		 size;
	uint8_t		 align;
};

#define ROW_A(id)	{ "tnf_" #id, CORE_type, 0, 0, 0 },
#define ROW_S(id, s, a)	{ "tnf_" #id, CORE_scalar_type, 0, s, a },
#define ROW_D(id, b)	{ "tnf_" #id, CORE_derived_type, CORE_##b, 0, 0 },
#define ROW_R(id, e)	{ "tnf_" #id, CORE_array_type, CORE_##e, 0, 0 },
#define ROW_T(id, s)	{ "tnf_" #id, CORE_struct_type, 0, s, 0 },

static const struct core_type types[CORE_COUNT] = {
	CORE_TYPES(ROW_A, ROW_S, ROW_D, ROW_R, ROW_T)
};

#define SLOTS_MAX	9
struct struct_slots {
	uint8_t		 type;		/* enum core */
	uint8_t		 metatype;
	uint8_t		 n;
	uint8_t		 slot[SLOTS_MAX];
	const char	*name[SLOTS_MAX];	/* NULL: those of the types */
};

#define META3	CORE_tag, CORE_name, CORE_properties
#define U32	CORE_uint32

static const struct struct_slots structs[] = {
	{ CORE_type, 1, 3, { META3 }, { NULL } },
	{ CORE_scalar_type, 1, 5, { META3, CORE_type_size, CORE_align },
	    { NULL } },
	{ CORE_derived_type, 1, 4, { META3, CORE_derived_base }, { NULL } },
	{ CORE_array_type, 1, 6, { META3, CORE_slot_types, CORE_header_size,
	    CORE_element_type }, { NULL } },
	{ CORE_struct_type, 1, 6, { META3, CORE_slot_types, CORE_type_size,
	    CORE_slot_names }, { NULL } },
	{ CORE_probe_type, 1, 7, { META3, CORE_slot_types, CORE_type_size,
	    CORE_slot_names, CORE_string }, { NULL } },
	{ CORE_struct, 0, 0, { 0 }, { NULL } },
	{ CORE_file_header, 0, 9, { CORE_tag, U32, U32, U32, U32, U32, U32,
	    U32, U32 }, { "tnf_tag", "file_version", "file_header_size",
	    "file_logical_size", "block_header_size", "block_size",
	    "directory_size", "block_count", "blocks_valid" } },
	{ CORE_block_header, 0, 6, { CORE_tag, U32, CORE_uint16, CORE_uint8,
	    CORE_uint8, CORE_opaque }, { "tnf_tag", "generation",
	    "bytes_valid", "A_lock", "B_lock", "next_block" } },
	{ CORE_sched_rec, 0, 5, { CORE_tag, U32, CORE_lwpid, CORE_pid,
	    CORE_time_base }, { "tnf_tag", "tid", "lwpid", "pid",
	    "time_base" } },
};

/* Where each type is in the file; 0: not written yet. */
static uint32_t where[CORE_COUNT], saved[CORE_COUNT];

void
tnf_core_save(void)
{
	memcpy(saved, where, sizeof(saved));
}

void
tnf_core_restore(void)
{
	memcpy(where, saved, sizeof(where));
}

void
tnf_core_forget(void)
{
	memset(where, 0, sizeof(where));
}

enum core
tnf_core_find(const char *name)
{
	unsigned i;

	for (i = CORE_type_none + 1; i < CORE_COUNT; i++)
		if (strcmp(types[i].name, name) == 0)
			return i;
	return CORE_type_none;
}

uint32_t
tnf_core_tag(enum core i)
{
	return tnf_core(i) | TNF_REF32_T_TAG;
}

/* A string or name; what is longer than max is cut. */
uint32_t
tnf_put_text(enum core type, const char *text, size_t len, size_t max)
{
	uint32_t *r, size;

	if (len > max)
		len = max;
	size = (uint32_t)(8 + len + 1 + 3) & ~3u;
	r = tnf_tag_alloc(size);
	r[0] = tnf_core_tag(type);
	r[1] = size;
	memcpy(r + 2, text, len);
	return PERMANENT(tnf_tag_offset(r));
}

/* An array of n references, to be stored by the caller in (*cells)[]. */
uint32_t
tnf_put_array(enum core type, unsigned n, uint32_t **cells)
{
	uint32_t *r = tnf_tag_alloc(8 + 4 * n);

	r[0] = tnf_core_tag(type);
	r[1] = 8 + 4 * n;
	*cells = r + 2;
	return PERMANENT(tnf_tag_offset(r));
}

static uint32_t
put_types(enum core type, const uint8_t *ids, unsigned n)
{
	uint32_t ref, *cells;
	unsigned i;

	ref = tnf_put_array(type, n, &cells);
	for (i = 0; i < n; i++)
		cells[i] = tnf_core(ids[i]);
	return ref;
}

uint32_t
tnf_put_struct_properties(void)
{
	static const uint8_t ids[] = { CORE_tagged, CORE_struct };

	return put_types(CORE_properties, ids, 2);
}

static const struct struct_slots *
find_struct(enum core i)
{
	const struct struct_slots *s = structs;

	while (s->type != i)
		s++;
	return s;
}

/* What readers classify a type by. */
static uint32_t
put_properties(enum core i)
{
	static const uint8_t scalar[] = { CORE_inline, CORE_scalar },
	    derived[] = { CORE_derived, CORE_tag_arg },
	    array[] = { CORE_array, CORE_tagged },
	    strukt[] = { CORE_tagged, CORE_struct, CORE_type };

	switch (types[i].meta) {
	case CORE_scalar_type:
		return put_types(CORE_properties, scalar, 2);
	case CORE_derived_type:
		return put_types(CORE_properties, derived,
		    i == CORE_probe_event ? 2 : 1);
	case CORE_array_type:
		return put_types(CORE_properties, array,
		    i == CORE_array ? 1 : 2);
	case CORE_struct_type:
		return put_types(CORE_properties, strukt,
		    i == CORE_struct ? 0 : find_struct(i)->metatype ? 3 : 2);
	default:
		return 0;
	}
}

static uint32_t
put_slot_names(const struct struct_slots *s)
{
	uint32_t ref, *cells;
	unsigned i;

	if (s->name[0] == NULL)
		return 0;
	ref = tnf_put_array(CORE_slot_names, s->n, &cells);
	for (i = 0; i < s->n; i++)
		cells[i] = tnf_put_text(CORE_string, s->name[i],
		    strlen(s->name[i]), TNF_NAME_MAX);
	return ref;
}

/* The members behind tag, name and properties. */
static void
put_rest(enum core i, uint32_t *r)
{
	static const uint8_t array_slots[] = { CORE_tag, CORE_self_size };
	const struct core_type *c = &types[i];
	const struct struct_slots *s;

	switch (c->meta) {
	case CORE_scalar_type:
		r[3] = c->size;
		r[4] = c->align;
		break;
	case CORE_derived_type:
		r[3] = tnf_core(c->base);
		break;
	case CORE_array_type:
		r[3] = i == CORE_array ? 0 :
		    put_types(CORE_slot_types, array_slots, 2);
		r[4] = 8;
		r[5] = tnf_core(c->base);
		break;
	case CORE_struct_type:
		s = find_struct(i);
		r[3] = put_types(CORE_slot_types, s->slot, s->n);
		r[4] = c->size;
		r[5] = put_slot_names(s);
		break;
	}
}

uint32_t
tnf_core(enum core i)
{
	const struct core_type *c = &types[i];
	uint32_t *r;

	if (i == CORE_type_none)
		return 0;
	if (where[i] == 0) {
		r = tnf_tag_alloc(types[c->meta].size);
		where[i] = PERMANENT(tnf_tag_offset(r));
		r[0] = tnf_core_tag(c->meta);
		r[1] = tnf_put_text(CORE_name, c->name, strlen(c->name),
		    TNF_NAME_MAX);
		r[2] = put_properties(i);
		put_rest(i, r);
	}
	return where[i];
}
