/*
 * data.c - classic interface: what a handle names, scalars.
 */
#include "libtnf/datum.h"
#include "libtnf/raise.h"
#include "libtnf/walk.h"

#define IS(what, prop)							\
TNF_API int								\
tnf_is_##what(tnf_datum_t v)						\
{									\
	struct datum d;							\
									\
	return datum_get(v, &d) && type_has(d.type, PROP(prop));	\
}

IS(inline, INLINE)
IS(scalar, SCALAR)
IS(record, TAGGED)
IS(array, ARRAY)
IS(struct, STRUCT)
IS(type, TYPE)

TNF_API int
tnf_is_string(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) && d.type->pub.kind == TNF_K_STRING;
}

TNF_API tnf_kind_t
tnf_get_kind(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) ? d.type->pub.kind : TNF_K_UNKNOWN;
}

TNF_API size_t
tnf_get_size(tnf_datum_t v)
{
	struct datum d;

	if (!datum_get(v, &d))
		return 0;
	return type_has(d.type, PROP(ARRAY)) ?
	    bytes_u32(&d.f->bytes, (uint64_t)d.pos + 4) : d.type->pub.size;
}

TNF_API tnf_datum_t
tnf_get_type(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) ? tnf_datum_of_type(d.tnf, d.type) : TNF_DATUM_NULL;
}

TNF_API char *
tnf_get_type_name(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) ? (char *)(uintptr_t)d.type->pub.name : NULL;
}

TNF_API caddr_t
tnf_get_raw(tnf_datum_t v)
{
	struct datum d;

	if (!datum_get(v, &d))
		return NULL;
	uint32_t size = type_has(d.type, PROP(TAGGED)) ?
	    walk_size(d.f, d.type, d.pos) : d.type->pub.size;
	return (caddr_t)(uintptr_t)bytes_at(&d.f->bytes, d.pos, size);
}

TNF_API uint64_t
tnf_get_offset(tnf_datum_t v)
{
	struct datum d;

	return datum_get(v, &d) ? d.pos : 0;
}

/* Raises an error unless 'v' is a scalar of 'size' bytes. */
static bool
get_scalar(tnf_datum_t v, uint32_t size, struct datum *d)
{
	if (!datum_get_a(v, PROP(SCALAR), d))
		return false;
	if (d->type->pub.size == size)
		return true;
	tnf_datum_error(d, TNF_ERR_TYPEMISMATCH, NULL);
	return false;
}

#define GET(name, type, size, read)					\
TNF_API type								\
tnf_get_##name(tnf_datum_t v)						\
{									\
	struct datum d;							\
									\
	return get_scalar(v, size, &d) ? (type)read(&d.f->bytes, d.pos) : 0; \
}

GET(char, char, 1, bytes_u8)
GET(int8, tnf_int8_t, 1, bytes_u8)
GET(int16, tnf_int16_t, 2, bytes_u16)
GET(int32, tnf_int32_t, 4, bytes_u32)
GET(int64, tnf_int64_t, 8, bytes_u64)
GET(float32, tnf_float32_t, 4, bytes_f32)
GET(float64, tnf_float64_t, 8, bytes_f64)
