/*
 * utf8.c - what is UTF-8.
 */
#include <stdint.h>

#include "common/utf8.h"

size_t
tnf_utf8_length(const unsigned char *s, size_t n)
{
	uint32_t c = s[0], code, min;
	size_t len;

	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c < 0xe0)
		len = 2, code = c & 0x1f, min = 0x80;
	else if (c >= 0xe0 && c < 0xf0)
		len = 3, code = c & 0x0f, min = 0x800;
	else if (c >= 0xf0 && c < 0xf5)
		len = 4, code = c & 0x07, min = 0x10000;
	else
		return 0;
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < min || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

bool
tnf_utf8_is_valid(const char *chars, size_t n)
{
	const unsigned char *s = (const unsigned char *)chars;
	size_t len;

	for (; n > 0; s += len, n -= len)
		if ((len = tnf_utf8_length(s, n)) == 0)
			return false;
	return true;
}
