/*
 * raise.h - how the classic interface tells errors.
 */
#ifndef LIBTNF_RAISE_H
#define LIBTNF_RAISE_H

#include <tnf/tnf.h>

/* 'text' is static, or NULL.  May not return: the handler may jump away. */
void tnf_error_raise(TNF *, tnf_errcode_t, uint64_t offset, const char *text);

#endif /* LIBTNF_RAISE_H */
