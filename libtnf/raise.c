/*
 * raise.c - what went wrong: texts, the last error, the handler.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnf/raise.h"
#include "libtnf/file.h"

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
