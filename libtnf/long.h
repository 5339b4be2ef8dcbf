/*
 * long.h - texts and bytes that lie in pieces: tnf(5), "Long values".
 */
#ifndef LIBTNF_LONG_H
#define LIBTNF_LONG_H

#include "libtnf/file.h"

/* 'v' is an array of pieces as value.c has read it; becomes a string.  false: see
   file->why. */
bool tnf_long_read(struct tnf_file *, struct tnf_value *v);
/* What was put together is not needed any more. */
void tnf_long_done(struct tnf_file *);

static inline void
long_forget(struct tnf_file *const *files, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (files[i]->longs != NULL)
			tnf_long_done(files[i]);
}

#endif /* LIBTNF_LONG_H */
