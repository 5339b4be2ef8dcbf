/*
 * copy.h - what a file held at one moment, while it is written.
 */
#ifndef LIBTNF_COPY_H
#define LIBTNF_COPY_H

#include "libtnf/file.h"

/* Fills f->whole bytes of zeros at 'to'; 0 or TNF_ERR_*. */
int tnf_copy_live(const struct tnf_file *f, unsigned char *to);

#endif /* LIBTNF_COPY_H */
