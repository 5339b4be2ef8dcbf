/*
 * printable.h - messages with names in them that others chose.  <stdio.h> comes with it.
 */
#ifndef COMMON_PRINTABLE_H
#define COMMON_PRINTABLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at 's', of which 'n' bytes are there, if a
   terminal shows it and does nothing else; else 0. */
size_t tnf_printable_length(const unsigned char *s, size_t n);

/*
 * As fprintf(3).  But what could act on a terminal, or is no UTF-8, is written
 * as \n, \t, \r or \xHH; a file may have any name.  A new line with which the
 * format ends stays one.
 */
void tnf_printable_printf(FILE *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void tnf_printable_vprintf(FILE *, const char *fmt, va_list)
    __attribute__((format(printf, 2, 0)));

#endif
