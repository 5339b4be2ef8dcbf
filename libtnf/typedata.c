/*
 * typedata.c - classic interface: type records.
 */
#include <string.h>

#include "libtnf/datum.h"
#include "libtnf/ref.h"
#include "libtnf/slot.h"

#define T_PROPERTIES	8u

TNF_API tnf_kind_t
tnf_type_get_kind(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	return tnf_datum_get_type(v, &d, &t) ? t->pub.kind : TNF_K_UNKNOWN;
}

TNF_API char *
tnf_type_get_name(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	return tnf_datum_get_type(v, &d, &t) ?
	    (char *)(uintptr_t)t->pub.name : NULL;
}

TNF_API int
tnf_type_get_size(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	/* tnf_derived is derived from nothing. */
	if (!tnf_datum_get_type(v, &d, &t) || type_has(t, PROP(ARRAY)) ||
	    t->root->meta == META_ABSTRACT || t->root->meta == META_DERIVED)
		return -1;
	return (int)t->pub.size;
}

/* The property of that name that the record of 't' lists; NULL: none. */
static struct type *
typedata_listed(struct tnf_file *f, const struct type *t, const char *name)
{
	uint32_t first = 0, pos;
	unsigned i, n;
	struct type *p;

	if (!tnf_type_refs(f, t->pos + T_PROPERTIES, &first, &n))
		return NULL;
	for (i = 0; i < n; i++)
		if (tnf_ref_follow(f, first + 4 * i, &pos) == REF_OK &&
		    (p = tnf_type_at(f, pos)) != NULL &&
		    strcmp(p->pub.name, name) == 0)
			return p;
	return NULL;
}

TNF_API tnf_datum_t
tnf_type_get_property(tnf_datum_t v, const char *name)
{
	struct datum d;
	struct type *t, *p;

	if (!tnf_datum_get_type(v, &d, &t))
		return TNF_DATUM_NULL;
	for (; t != NULL; t = t->parent) {
		if (strcmp(t->pub.name, name) == 0)
			return tnf_datum_of_type(d.tnf, t);
		if ((p = typedata_listed(d.f, t, name)) != NULL)
			return tnf_datum_of_type(d.tnf, p);
	}
	return TNF_DATUM_NULL;
}

TNF_API tnf_datum_t
tnf_type_get_base(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	return tnf_datum_get_type(v, &d, &t) && t->parent != NULL ?
	    tnf_datum_of_type(d.tnf, t->parent) : TNF_DATUM_NULL;
}
