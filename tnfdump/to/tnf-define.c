/*
 * tnf-define.c - definitions, written when something first refers to them.
 */
#include <string.h>

#include "tnfdump/to/tnf-write.h"

#define PROPERTIES_MAX 8

static const uint32_t meta_sizes[] = { 12, 20, 16, 24, 24, 28 };

static void
tnf_define_put32(char *to, uint32_t v)
{
	memcpy(to, &v, 4);
}

/* A definition in the words of a tag slot and of any other. */
static uint32_t
tag_to(struct tnf_writer *w, int def)
{
	uint32_t offset = tnfw_place(w, def);

	return offset == 0 ? 0 : offset | TNF_REF32_PERMANENT | TNF_REF32_T_TAG;
}

static uint32_t
full_to(uint32_t offset)
{
	return offset == 0 ? 0 : offset | TNF_REF32_PERMANENT;
}

static uint32_t
place_string(struct tnf_writer *w, const char *type, const char *s)
{
	uint32_t offset, size = tnfw_round(8 + (uint32_t)strlen(s) + 1, 4);
	char *p = tnfw_tag_room(w, size, &offset);

	if (p == NULL)
		return 0;
	memcpy(p + 8, s, strlen(s));
	tnf_define_put32(p + 4, size);
	tnf_define_put32(p, tag_to(w, tnfw_core(type)));
	return offset;
}

static uint32_t
place_array(struct tnf_writer *w, const char *type, const int *defs,
    const char *const *names, unsigned n)
{
	uint32_t offset;
	char *p = tnfw_tag_room(w, 8 + 4 * n, &offset);
	unsigned i;

	if (p == NULL)
		return 0;
	tnf_define_put32(p + 4, 8 + 4 * n);
	tnf_define_put32(p, tag_to(w, tnfw_core(type)));
	for (i = 0; i < n; i++)
		tnf_define_put32(p + 8 + 4 * i, full_to(names != NULL ?
		    place_string(w, "tnf_string", names[i]) :
		    tnfw_place(w, defs[i])));
	return offset;
}

static uint32_t
place_properties(struct tnf_writer *w, const char *words)
{
	int defs[PROPERTIES_MAX];
	char buf[64];
	const char *word;
	unsigned n = 0;

	if (words == NULL)
		return 0;
	while (n < PROPERTIES_MAX && (word = tnfw_word(&words, buf)) != NULL)
		defs[n++] = tnfw_core(word);
	return place_array(w, "tnf_properties", defs, NULL, n);
}

static uint32_t
place_slots(struct tnf_writer *w, int def)
{
	/* The array of definitions may move while it grows. */
	int *slots = w->defs[def].slots;

	if (w->defs[def].no_slots)
		return 0;
	return place_array(w, "tnf_slot_types", slots, NULL,
	    w->defs[def].n_slots);
}

static void
fill_struct(struct tnf_writer *w, int def, char *p)
{
	const struct tnfw_def *d = &w->defs[def];

	tnf_define_put32(p + 12, full_to(place_slots(w, def)));
	tnf_define_put32(p + 16, d->size);
	if (d->slot_names != NULL)
		tnf_define_put32(p + 20, full_to(place_array(w, "tnf_slot_names", NULL,
		    d->slot_names, d->n_slots)));
	if (d->attrs != NULL)
		tnf_define_put32(p + 24, full_to(place_string(w, "tnf_string",
		    d->attrs)));
}

static void
tnf_define_fill(struct tnf_writer *w, int def, char *p)
{
	const struct tnfw_def *d = &w->defs[def];

	switch (d->form) {
	case TNFW_SCALAR:
		tnf_define_put32(p + 12, d->size);
		tnf_define_put32(p + 16, d->align);
		break;
	case TNFW_DERIVED:
		if (d->base >= 0)
			tnf_define_put32(p + 12, full_to(tnfw_place(w, d->base)));
		break;
	case TNFW_ARRAY:
		tnf_define_put32(p + 12, full_to(place_slots(w, def)));
		tnf_define_put32(p + 16, 8);
		if (d->base >= 0)
			tnf_define_put32(p + 20, full_to(tnfw_place(w, d->base)));
		break;
	case TNFW_STRUCT:
		fill_struct(w, def, p);
		break;
	case TNFW_ABSTRACT:
		break;
	}
}

/* The place is taken before what it refers to: definitions form circles. */
uint32_t
tnfw_place(struct tnf_writer *w, int def)
{
	int meta = w->defs[def].attrs != NULL ? TNFW_META_PROBE :
	    (int)w->defs[def].form;
	bool before = w->too_large;
	uint32_t offset;
	char *p;

	if (w->defs[def].offset != 0) {
		w->too_large |= w->defs[def].too_large;
		return w->defs[def].offset;
	}
	p = tnfw_tag_room(w, meta_sizes[meta], &offset);
	if (p == NULL)
		return 0;
	w->defs[def].offset = offset;
	w->too_large = false;
	tnf_define_put32(p, tag_to(w, meta));
	tnf_define_put32(p + 4, full_to(place_string(w, "tnf_name", w->defs[def].name)));
	tnf_define_put32(p + 8, full_to(place_properties(w, w->defs[def].properties)));
	tnf_define_fill(w, def, p);
	w->defs[def].too_large = w->too_large;
	w->too_large |= before;
	return offset;
}
