/*
 * digits.h - numbers as text, written forward into a buffer with room.
 */
#ifndef COMMON_DIGITS_H
#define COMMON_DIGITS_H

#include <stdint.h>
#include <string.h>

static const char digits_pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

/* How many digits v has. */
static inline unsigned
digits_count(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* The last n digits of v, zeros in front; returns what is behind them. */
static inline char *
digits_last(char *p, uint64_t v, unsigned n)
{
	char *end = p + n;

	for (p = end; n >= 2; n -= 2, v /= 100)
		memcpy(p -= 2, digits_pairs + v % 100 * 2, 2);
	if (n == 1)
		p[-1] = (char)('0' + v % 10);
	return end;
}

static inline char *
digits_u64(char *p, uint64_t v)
{
	return digits_last(p, v, digits_count(v));
}

/* Right-aligned in 'width' (at most 16). */
static inline char *
digits_wide(char *p, uint64_t v, unsigned width)
{
	unsigned n = digits_count(v);

	memset(p, ' ', 16);
	return digits_last(n < width ? p + (width - n) : p, v, n);
}

/* "%16.6f" of ns / 1e6, 0 or more. */
static inline char *
digits_ms16(char *p, uint64_t ns)
{
	p = digits_wide(p, ns / 1000000, 9);
	*p++ = '.';
	return digits_last(p, ns % 1000000, 6);
}

#endif
