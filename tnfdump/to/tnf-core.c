/*
 * tnf-core.c - the types that every TNF file can have: one table.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfdump/to/tnf-write.h"
#include "common/xalloc.h"

#define META	"tnf_tagged tnf_struct tnf_type"
#define INLINE	"tnf_inline tnf_scalar"
#define HEADER	"tnf_tag tnf_self_size"

static const struct core {
	const char	*name;
	enum tnfw_form	 form;
	uint32_t	 size;		/* scalars: align too */
	const char	*base;		/* derived; arrays: element */
	const char	*properties;	/* NULL: null reference */
	const char	*slots;		/* types; NULL: null reference */
	const char	*slot_names;
} core[] = {
	/* Metatypes; their order is that of enum tnfw_form. */
	{ "tnf_type", TNFW_STRUCT, 12, NULL, META,
	    "tnf_tag tnf_name tnf_properties", NULL },
	{ "tnf_scalar_type", TNFW_STRUCT, 20, NULL, META, "tnf_tag tnf_name "
	    "tnf_properties tnf_type_size tnf_align", NULL },
	{ "tnf_derived_type", TNFW_STRUCT, 16, NULL, META,
	    "tnf_tag tnf_name tnf_properties tnf_derived_base", NULL },
	{ "tnf_array_type", TNFW_STRUCT, 24, NULL, META, "tnf_tag tnf_name "
	    "tnf_properties tnf_slot_types tnf_header_size tnf_element_type",
	    NULL },
	{ "tnf_struct_type", TNFW_STRUCT, 24, NULL, META, "tnf_tag tnf_name "
	    "tnf_properties tnf_slot_types tnf_type_size tnf_slot_names",
	    NULL },
	{ "tnf_probe_type", TNFW_STRUCT, 28, NULL, META, "tnf_tag tnf_name "
	    "tnf_properties tnf_slot_types tnf_type_size tnf_slot_names "
	    "tnf_string", NULL },
	/* Properties. */
	{ "tnf_tagged", TNFW_ABSTRACT, 0, NULL, NULL, NULL, NULL },
	{ "tnf_inline", TNFW_ABSTRACT, 0, NULL, NULL, NULL, NULL },
	{ "tnf_tag_arg", TNFW_DERIVED, 0, "tnf_tagged", "tnf_derived", NULL,
	    NULL },
	{ "tnf_struct", TNFW_STRUCT, 0, NULL, "", "", NULL },
	{ "tnf_scalar", TNFW_SCALAR, 0, NULL, INLINE, NULL, NULL },
	{ "tnf_derived", TNFW_DERIVED, 0, NULL, "tnf_derived", NULL, NULL },
	{ "tnf_array", TNFW_ARRAY, 0, NULL, "tnf_array", NULL, NULL },
	/* Arrays. */
	{ "tnf_string", TNFW_ARRAY, 0, "tnf_char", TNFW_LIST, HEADER, NULL },
	{ "tnf_type_array", TNFW_ARRAY, 0, "tnf_type", TNFW_LIST, HEADER, NULL },
	{ "tnf_name_array", TNFW_ARRAY, 0, "tnf_name", TNFW_LIST, HEADER, NULL },
	/* Scalars. */
	{ "tnf_char", TNFW_SCALAR, 1, NULL, INLINE, NULL, NULL },
	{ "tnf_int8", TNFW_SCALAR, 1, NULL, INLINE, NULL, NULL },
	{ "tnf_uint8", TNFW_SCALAR, 1, NULL, INLINE, NULL, NULL },
	{ "tnf_int16", TNFW_SCALAR, 2, NULL, INLINE, NULL, NULL },
	{ "tnf_uint16", TNFW_SCALAR, 2, NULL, INLINE, NULL, NULL },
	{ "tnf_int32", TNFW_SCALAR, 4, NULL, INLINE, NULL, NULL },
	{ "tnf_uint32", TNFW_SCALAR, 4, NULL, INLINE, NULL, NULL },
	{ "tnf_int64", TNFW_SCALAR, 8, NULL, INLINE, NULL, NULL },
	{ "tnf_uint64", TNFW_SCALAR, 8, NULL, INLINE, NULL, NULL },
	{ "tnf_float32", TNFW_SCALAR, 4, NULL, INLINE, NULL, NULL },
	{ "tnf_float64", TNFW_SCALAR, 8, NULL, INLINE, NULL, NULL },
	/* Derived ones that the rest refers to. */
	{ "tnf_name", TNFW_DERIVED, 0, "tnf_string", "tnf_derived", NULL, NULL },
	{ "tnf_properties", TNFW_DERIVED, 0, "tnf_type_array", "tnf_derived",
	    NULL, NULL },
	{ "tnf_slot_types", TNFW_DERIVED, 0, "tnf_type_array", "tnf_derived",
	    NULL, NULL },
	{ "tnf_slot_names", TNFW_DERIVED, 0, "tnf_name_array", "tnf_derived",
	    NULL, NULL },
	{ "tnf_tag", TNFW_DERIVED, 0, "tnf_type", "tnf_derived", NULL, NULL },
	{ "tnf_derived_base", TNFW_DERIVED, 0, "tnf_type", "tnf_derived", NULL,
	    NULL },
	{ "tnf_element_type", TNFW_DERIVED, 0, "tnf_type", "tnf_derived", NULL,
	    NULL },
	{ "tnf_type_size", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL,
	    NULL },
	{ "tnf_align", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL, NULL },
	{ "tnf_header_size", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL,
	    NULL },
	{ "tnf_self_size", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL,
	    NULL },
	{ "tnf_opaque", TNFW_DERIVED, 0, "tnf_uint64", "tnf_derived", NULL,
	    NULL },
	{ "tnf_probe_event", TNFW_DERIVED, 0, "tnf_tag",
	    "tnf_derived tnf_tag_arg", NULL, NULL },
	{ "tnf_time_base", TNFW_DERIVED, 0, "tnf_int64", "tnf_derived", NULL,
	    NULL },
	{ "tnf_time_delta", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL,
	    NULL },
	{ "tnf_pid", TNFW_DERIVED, 0, "tnf_int32", "tnf_derived", NULL, NULL },
	{ "tnf_lwpid", TNFW_DERIVED, 0, "tnf_uint32", "tnf_derived", NULL, NULL },
	{ "tnf_kthread_id", TNFW_DERIVED, 0, "tnf_opaque", "tnf_derived", NULL,
	    NULL },
	{ "tnf_cpuid", TNFW_DERIVED, 0, "tnf_int32", "tnf_derived", NULL, NULL },
	/* Records of the file itself. */
	{ "tnf_file_header", TNFW_STRUCT, 56, NULL, TNFW_RECORD,
	    "tnf_tag tnf_uint32 tnf_uint32 tnf_uint32 tnf_uint32 tnf_uint32 "
	    "tnf_uint32 tnf_uint32 tnf_uint32",
	    "tnf_tag file_version file_header_size file_logical_size "
	    "block_header_size block_size directory_size block_count "
	    "blocks_valid" },
	{ "tnf_block_header", TNFW_STRUCT, 24, NULL, TNFW_RECORD,
	    "tnf_tag tnf_uint32 tnf_uint16 tnf_uint8 tnf_uint8 tnf_opaque",
	    "tnf_tag generation bytes_valid A_lock B_lock next_block" },
	{ "tnf_sched_rec", TNFW_STRUCT, 24, NULL, TNFW_RECORD,
	    "tnf_tag tnf_uint32 tnf_lwpid tnf_pid tnf_time_base",
	    "tnf_tag tid lwpid pid time_base" },
	{ "tnf_kernel_schedule", TNFW_STRUCT, 40, NULL, TNFW_RECORD,
	    "tnf_tag tnf_kthread_id tnf_lwpid tnf_pid tnf_time_base tnf_cpuid",
	    "tnf_tag tid lwpid pid time_base cpuid" },
};
#define CORE_COUNT ((int)(sizeof(core) / sizeof(core[0])))

int
tnfw_new_def(struct tnf_writer *w, const char *name, enum tnfw_form form)
{
	struct tnfw_def *d;

	if (w->n_defs == w->max_defs) {
		w->max_defs = w->max_defs == 0 ? 128 : w->max_defs * 2;
		w->defs = xreallocarray(w->defs, w->max_defs,
		    sizeof(*w->defs));
	}
	d = &w->defs[w->n_defs];
	memset(d, 0, sizeof(*d));
	d->name = name;
	d->form = form;
	d->base = -1;
	return (int)w->n_defs++;
}

/* The next word of *p, cut off at the blank into buf; NULL: no more. */
const char *
tnfw_word(const char **p, char buf[64])
{
	size_t n = strcspn(*p, " ");

	if (n == 0 || n > 63)
		return NULL;
	memcpy(buf, *p, n);
	buf[n] = '\0';
	*p += n + strspn(*p + n, " ");
	return buf;
}

static unsigned
count_words(const char *p)
{
	char buf[64];
	unsigned n = 0;

	while (tnfw_word(&p, buf) != NULL)
		n++;
	return n;
}

int
tnfw_core(const char *name)
{
	int i;

	for (i = 0; i < CORE_COUNT; i++) {
		if (strcmp(core[i].name, name) == 0)
			return i;
	}
	return -1;
}

static void
core_slots(struct tnfw_def *d, const struct core *c)
{
	const char *types = c->slots, *names = c->slot_names;
	char buf[64];
	unsigned i;

	d->no_slots = types == NULL;
	if (d->no_slots)
		return;
	d->n_slots = count_words(types);
	d->slots = xcalloc(d->n_slots, sizeof(*d->slots));
	if (names != NULL)
		d->slot_names = xcalloc(d->n_slots, sizeof(*d->slot_names));
	for (i = 0; i < d->n_slots; i++) {
		d->slots[i] = tnfw_core(tnfw_word(&types, buf));
		if (names != NULL)
			d->slot_names[i] = xstrdup(tnfw_word(&names, buf));
	}
}

/* The names of built-in slots are copies; the rest belongs to the input. */
void
tnfw_free_core(struct tnf_writer *w)
{
	unsigned i, k;

	for (i = 0; i < (unsigned)CORE_COUNT && i < w->n_defs; i++) {
		for (k = 0; w->defs[i].slot_names != NULL &&
		    k < w->defs[i].n_slots; k++)
			free((char *)(uintptr_t)w->defs[i].slot_names[k]);
	}
}

int
tnfw_define_core(struct tnf_writer *w)
{
	static const char *const first[] = { "tnf_file_header",
	    "tnf_block_header", "tnf_struct_type" };
	const struct core *c;
	struct tnfw_def *d;
	int i;

	for (c = core; c < core + CORE_COUNT; c++) {
		i = tnfw_new_def(w, c->name, c->form);
		d = &w->defs[i];
		d->properties = c->properties;
		d->size = d->align = c->size;
		if (c->base != NULL)
			d->base = tnfw_core(c->base);
		core_slots(d, c);
	}
	for (i = 0; i < 3; i++) {
		w->directory[w->n_directory++] = TNF_REF32_PERMANENT |
		    tnfw_place(w, tnfw_core(first[i]));
	}
	return w->error;
}

uint32_t
tnfw_slot_size(const struct tnf_writer *w, int def)
{
	while (w->defs[def].form == TNFW_DERIVED && w->defs[def].base >= 0)
		def = w->defs[def].base;
	return w->defs[def].form == TNFW_SCALAR ? w->defs[def].size : 4;
}

uint32_t
tnfw_slot_align(const struct tnf_writer *w, int def)
{
	uint32_t size = tnfw_slot_size(w, def);

	return size == 0 ? 1 : size;
}
