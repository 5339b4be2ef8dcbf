/*
 * data.c - classic interface: what a handle names, its type and scalars, and errors.
 */
#include <pthread.h>
#include <stdio.h>

#include "libtnf/datum.h"

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

#define T_PROPERTIES	8u

/* As datum_get_a(), for a record that describes a type; *t is the type described. */
static bool
datum_get_type(tnf_datum_t v, struct datum *d, struct type **t)
{
	if (!datum_get_a(v, PROP(TYPE), d))
		return false;
	if ((*t = tnf_type_at(d->f, d->pos)) != NULL)
		return true;
	tnf_datum_error(d, TNF_ERR_BADTNF, d->f->why);
	return false;
}

TNF_API tnf_kind_t
tnf_type_get_kind(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	return datum_get_type(v, &d, &t) ? t->pub.kind : TNF_K_UNKNOWN;
}

TNF_API char *
tnf_type_get_name(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	return datum_get_type(v, &d, &t) ?
	    (char *)(uintptr_t)t->pub.name : NULL;
}

TNF_API int
tnf_type_get_size(tnf_datum_t v)
{
	struct datum d;
	struct type *t;

	/* tnf_derived is derived from nothing. */
	if (!datum_get_type(v, &d, &t) || type_has(t, PROP(ARRAY)) ||
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

	if (!datum_get_type(v, &d, &t))
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

	return datum_get_type(v, &d, &t) && t->parent != NULL ?
	    tnf_datum_of_type(d.tnf, t->parent) : TNF_DATUM_NULL;
}

static struct {
	pthread_mutex_t lock;
	unsigned last;
} sessions = { .lock = PTHREAD_MUTEX_INITIALIZER };

TNF *tnf_datum_sessions[SESSIONS_MAX + 1];	/* 0 is no session */

static unsigned
session_add(TNF *tnf)
{
	unsigned i, n, id = 0;

	pthread_mutex_lock(&sessions.lock);
	for (n = 0; n < SESSIONS_MAX && id == 0; n++) {
		i = sessions.last % SESSIONS_MAX + 1;
		sessions.last = i;
		if (tnf_datum_sessions[i] == NULL) {
			__atomic_store_n(&tnf_datum_sessions[i], tnf,
			    __ATOMIC_RELEASE);
			id = i;
		}
	}
	pthread_mutex_unlock(&sessions.lock);
	return id;
}

TNF_API tnf_errcode_t
tnf_reader_begin(caddr_t base, size_t size, TNF **ret)
{
	TNF *tnf;
	int err;

	if ((tnf = calloc(1, sizeof *tnf)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	if ((err = tnf_file_init(&tnf->file, base, size, FILE_STRICT)) != 0) {
		free(tnf);
		return err;
	}
	if ((tnf->id = session_add(tnf)) == 0) {
		tnf_file_done(&tnf->file);
		free(tnf);
		return TNF_ERR_ALLOCFAIL;
	}
	*ret = tnf;
	return TNF_ERR_NONE;
}

TNF_API tnf_errcode_t
tnf_reader_end(TNF *tnf)
{
	if (tnf == NULL)
		return TNF_ERR_NONE;
	__atomic_store_n(&tnf_datum_sessions[tnf->id], NULL, __ATOMIC_RELEASE);
	tnf_file_done(&tnf->file);
	free(tnf);
	return TNF_ERR_NONE;
}

void
tnf_datum_error(const struct datum *d, tnf_errcode_t code, const char *text)
{
	tnf_error_raise(d->tnf, code, d->pos, text);
}

void
tnf_datum_bad(TNF *tnf, uint32_t pos)
{
	tnf_error_raise(tnf, TNF_ERR_BADDATUM, pos, NULL);
}

tnf_datum_t
tnf_datum_record(TNF *tnf, uint32_t pos)
{
	struct type *t = tnf_type_of_record(&tnf->file, pos);

	if (t != NULL)
		return datum_make(tnf, t, pos);
	tnf_error_raise(tnf, TNF_ERR_BADTNF, pos, tnf->file.why);
	return TNF_DATUM_NULL;
}

tnf_datum_t
tnf_datum_of_type(TNF *tnf, const struct type *t)
{
	return tnf_datum_record(tnf, t->pos);
}

static const char *const texts[] = {
	[TNF_ERR_NOTTNF - TNF_ERR_NOTTNF] = "not a TNF file",
	[TNF_ERR_BADDATUM - TNF_ERR_NOTTNF] =
	    "operation on bad or NULL data handle",
	[TNF_ERR_TYPEMISMATCH - TNF_ERR_NOTTNF] = "type mismatch",
	[TNF_ERR_BADINDEX - TNF_ERR_NOTTNF] = "index out of bounds",
	[TNF_ERR_BADSLOT - TNF_ERR_NOTTNF] = "no such slot",
	[TNF_ERR_BADREFTYPE - TNF_ERR_NOTTNF] = "bad reference type",
	[TNF_ERR_ALLOCFAIL - TNF_ERR_NOTTNF] = "memory allocation failure",
	[TNF_ERR_BADTNF - TNF_ERR_NOTTNF] = "bad TNF file",
	[TNF_ERR_INTERNAL - TNF_ERR_NOTTNF] = "internal error",
	[TNF_ERR_NEWER - TNF_ERR_NOTTNF] =
	    "written by a newer release: a reader of that release is needed",
};

static struct {
	pthread_mutex_t	     lock;
	tnf_error_handler_t *fn;
	void		    *arg;
} handler = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct {
	tnf_errcode_t code;
	uint64_t      offset;
	const char   *text;
} last;

TNF_API void
tnf_set_error_handler(tnf_error_handler_t *fn, void *arg)
{
	pthread_mutex_lock(&handler.lock);
	handler.fn = fn;
	handler.arg = arg;
	pthread_mutex_unlock(&handler.lock);
}

TNF_API void
tnf_default_error_handler(void *arg, TNF *tnf, tnf_errcode_t code)
{
	fprintf(stderr, "error: libtnf: %d: %s\n", code, tnf_error_message(code));
	abort();
}

TNF_API const char *
tnf_error_message(tnf_errcode_t code)
{
	unsigned i = (unsigned)code - TNF_ERR_NOTTNF;

	if (code == TNF_ERR_NONE)
		return "no error";
	if (code > 0 && code < TNF_ERR_NOTTNF)
		return strerror(code);
	if (code >= TNF_ERR_NOTTNF && i < sizeof texts / sizeof texts[0])
		return texts[i];
	return "unknown error code";
}

TNF_API tnf_errcode_t
tnf_error_last(uint64_t *offset, const char **text)
{
	tnf_errcode_t code = last.code;

	if (offset != NULL)
		*offset = last.offset;
	if (text != NULL)
		*text = last.text != NULL ? last.text : "";
	last.code = TNF_ERR_NONE;
	last.offset = 0;
	last.text = NULL;
	return code;
}

void
tnf_error_raise(TNF *tnf, tnf_errcode_t code, uint64_t offset, const char *text)
{
	last.code = code;
	last.offset = offset;
	last.text = text;
	/* Not called with the lock held: it may jump out of here. */
	pthread_mutex_lock(&handler.lock);
	tnf_error_handler_t *fn = handler.fn;
	void *arg = handler.arg;
	pthread_mutex_unlock(&handler.lock);
	if (fn != NULL)
		fn(arg, tnf, code);
}
