/*
 * datum.c - sessions and data handles of the classic interface.
 */
#include <pthread.h>
#include <stdlib.h>

#include "libtnf/datum.h"
#include "libtnf/raise.h"

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

bool
tnf_datum_get_type(tnf_datum_t v, struct datum *d, struct type **t)
{
	if (!datum_get_a(v, PROP(TYPE), d))
		return false;
	if ((*t = tnf_type_at(d->f, d->pos)) != NULL)
		return true;
	tnf_datum_error(d, TNF_ERR_BADTNF, d->f->why);
	return false;
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
