/*
 * text.h - text of others: UTF-8, messages with such text in them, and the word that
 * somebody meant.  <stdio.h> comes with it.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes (1 to 4) of the character at 's', of which n > 0 bytes are there; 0: it is
   none.  Longer forms than needed, surrogates and what is above U+10FFFF are none. */
size_t tnf_utf8_length(const unsigned char *s, size_t n);

/* Characters throughout? */
bool tnf_utf8_is_valid(const char *chars, size_t n);

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

/* The word of a NULL-ended list that is only a slip away, or NULL. */
const char *tnf_word_guess(const char *const *words, const char *text);

#endif
