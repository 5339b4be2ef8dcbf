/*
 * utf8.h - what is UTF-8.
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes (1 to 4) of the character at 's', of which n > 0 bytes are there; 0: it is
   none.  Longer forms than needed, surrogates and what is above U+10FFFF are none. */
size_t tnf_utf8_length(const unsigned char *s, size_t n);

/* Characters throughout? */
bool tnf_utf8_is_valid(const char *chars, size_t n);

#endif
