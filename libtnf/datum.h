/*
 * datum.h - data handles of the classic interface.
 *
 * A handle packs three numbers: session (12 bits, from 1), type (20 bits, its
 * index) and file offset (32 bits).  All three are looked up again at each
 * use, so that a wrong or outlived handle is an error and nothing else.
 */
#ifndef LIBTNF_DATUM_H
#define LIBTNF_DATUM_H

#include <tnf/tnf.h>

#include "libtnf/file.h"

#define SESSIONS_MAX	4095u

struct TNF {
	struct tnf_file file;
	unsigned	id;
};

/* A handle taken apart. */
struct datum {
	TNF	    *tnf;
	struct tnf_file *f;
	struct type *type;
	uint32_t     pos;
};

/* The sessions by number, from 1. */
extern TNF *tnf_datum_sessions[SESSIONS_MAX + 1] __attribute__((visibility("hidden")));
/* Raises that a handle names nothing. */
void	    tnf_datum_bad(TNF *, uint32_t pos);

/* false: bad handle, error raised. */
static inline bool
datum_get(tnf_datum_t v, struct datum *d)
{
	TNF *tnf = __atomic_load_n(&tnf_datum_sessions[v >> 52], __ATOMIC_ACQUIRE);
	uint32_t pos = (uint32_t)v;
	struct type *type;

	if (tnf == NULL) {
		tnf_datum_bad(NULL, 0);
		return false;
	}
	type = table_at(tnf->file.types, (uint32_t)(v >> 32) & 0xfffff);
	if (type == NULL || type->bad || pos >= tnf->file.bytes.size) {
		tnf_datum_bad(tnf, pos);
		return false;
	}
	d->tnf = tnf;
	d->f = &tnf->file;
	d->type = type;
	d->pos = pos;
	return true;
}

/* Raises an error about 'd'. */
void	    tnf_datum_error(const struct datum *d, tnf_errcode_t, const char *text);

/* As above, and the type must have one of these properties. */
static inline bool
datum_get_a(tnf_datum_t v, uint32_t props, struct datum *d)
{
	if (!datum_get(v, d))
		return false;
	if (type_has(d->type, props))
		return true;
	tnf_datum_error(d, TNF_ERR_TYPEMISMATCH, NULL);
	return false;
}

static inline tnf_datum_t
datum_make(TNF *tnf, const struct type *t, uint32_t pos)
{
	return (tnf_datum_t)tnf->id << 52 | (tnf_datum_t)t->index << 32 | pos;
}

/* The record at 'pos'; null and an error if it is none. */
tnf_datum_t tnf_datum_record(TNF *, uint32_t pos);
/* The handle of a type: its record. */
tnf_datum_t tnf_datum_of_type(TNF *, const struct type *);

/* 'text' is static, or NULL.  May not return: the handler may jump away. */
void tnf_error_raise(TNF *, tnf_errcode_t, uint64_t offset, const char *text);

#endif /* LIBTNF_DATUM_H */
