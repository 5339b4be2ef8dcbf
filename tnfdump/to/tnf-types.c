/*
 * tnf-types.c - types and probes of the input, as definitions.
 */
#include <string.h>

#include "tnfdump/to/tnf-write.h"
#include "common/xalloc.h"

static int
find_def(const struct tnf_writer *w, const struct tnf_type *t, int base)
{
	for (unsigned i = 0; i < w->n_defs; i++) {
		if (w->defs[i].meta == TNF_CORE_derived_type &&
		    w->defs[i].base == base &&
		    strcmp(w->defs[i].name, t->name) == 0)
			return (int)i;
	}
	return -1;
}

static int
tnf_types_derived(struct tnf_writer *w, const struct tnf_type *t, int base)
{
	int i = find_def(w, t, base);

	if (i >= 0)
		return i;
	i = tnfw_new_def(w, t->name, TNF_CORE_derived_type);
	w->defs[i].base = base;
	w->defs[i].source = t;
	return i;
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

static int
find_record(const struct tnf_writer *w, const struct tnf_type *t)
{
	for (unsigned i = 0; i < w->n_defs; i++) {
		if (w->defs[i].meta == TNF_CORE_struct_type &&
		    w->defs[i].source != NULL &&
		    same_record(w->defs[i].source, t))
			return (int)i;
	}
	return -1;
}

static void
tnf_types_remember(struct tnf_writer *w, const struct tnf_type *t, int def)
{
	w->types = tnf_xreallocarray(w->types, w->n_types + 1, sizeof(*w->types));
	w->types[w->n_types].type = t;
	w->types[w->n_types++].def = def;
}

/* Slots of a record behind those already there; sizes it as C would. */
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
	int i = find_record(w, t);

	if (i >= 0) {
		tnf_types_remember(w, t, i);
		return i;
	}
	i = tnfw_new_def(w, t->name, TNF_CORE_struct_type);
	w->defs[i].source = t;
	tnf_types_remember(w, t, i);
	add_members(w, i, head, 1, t->members, t->n_members);
	return i;
}

static int
tnf_types_array(struct tnf_writer *w, const struct tnf_type *t)
{
	int element = tnfw_type(w, t->element), i;

	for (i = 0; i < (int)w->n_defs; i++) {
		if (w->defs[i].meta == TNF_CORE_array_type &&
		    w->defs[i].base == element &&
		    strcmp(w->defs[i].name, t->name) == 0)
			return i;
	}
	i = tnfw_new_def(w, t->name, TNF_CORE_array_type);
	w->defs[i].base = element;
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
		i = TNF_CORE_string;
		return strcmp(t->name, "tnf_string") == 0 ? i :
		    tnf_types_derived(w, t, i);
	case TNF_K_ARRAY:
		if (t->element == NULL)
			return TNF_CORE_array;
		return tnf_types_array(w, t);
	case TNF_K_TYPE:
		i = TNF_CORE_type;
		return strcmp(t->name, "tnf_type") == 0 ? i : tnf_types_derived(w, t, i);
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
	for (unsigned i = 0; i < w->n_types; i++)
		if (w->types[i].type == t)
			return w->types[i].def;
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
	int i = tnfw_new_def(w, p->name, p->attrs != NULL ? TNF_CORE_probe_type :
	    TNF_CORE_struct_type);

	w->defs[i].attrs = p->attrs;
	add_members(w, i, head, 2, p->members, p->n_members);
	return i;
}
