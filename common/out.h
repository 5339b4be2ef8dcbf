/*
 * out.h - buffered output with fast numbers.  <string.h> comes with it.
 *
 * Every format writes through one struct out.  Nothing fails until the buffer
 * is flushed, or until the buffer behind it is if a thread writes; the first error of write(2) is
 * kept and the rest thrown away, so a caller looks at what tnf_out_close() returns, or at 'error'
 * to stop early.
 */
#ifndef COMMON_OUT_H
#define COMMON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Numbers as text, written forward into a buffer with room for 8 bytes more than these take. */

/* The eight decimal digits of v, below 100,000,000, in the bytes of a number: the first in the
   lowest.  Two halves, then four quarters, then all digits are divided at once. */
static inline uint64_t
digits_eight(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t tens = (x * 5243 >> 19) & UINT64_C(0x7f0000007f);

	x = tens | (x - tens * 100) << 16;
	tens = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	return tens | (x - tens * 10) << 8;
}

/* Stores eight digits; those that count are the first ones. */
static inline void
digits_store(char *p, uint64_t digits)
{
	digits |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(p, &digits, sizeof(digits));
}

/* How many decimal digits v has: from its bits, as 1233 / 4096 is the logarithm of 2. */
static inline unsigned
digits_count(uint64_t v)
{
#define POWERS(n) n, n * 10, n * 100, n * 1000, n * 10000
	static const uint64_t powers[] = { 0, 10, 100, 1000, 10000, POWERS(UINT64_C(100000)),
		POWERS(UINT64_C(10000000000)), POWERS(UINT64_C(1000000000000000)) };
#undef POWERS
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= powers[n]);
}

#define DIGITS_8	UINT64_C(100000000)

/* The last n digits of v, zeros in front; returns what is behind them. */
static inline char *
digits_last(char *p, uint64_t v, unsigned n)
{
	if (n > 16) {
		digits_store(p, digits_eight((uint32_t)(v / DIGITS_8 / DIGITS_8)) >> 8 * (24 - n));
		p += n - 16;
		n = 16;
	}
	if (n > 8) {
		digits_store(p, digits_eight((uint32_t)(v / DIGITS_8 % DIGITS_8)) >> 8 * (16 - n));
		p += n - 8;
		n = 8;
	}
	if (n > 0)
		digits_store(p, digits_eight((uint32_t)(v % DIGITS_8)) >> 8 * (8 - n));
	return p + n;
}

static inline char *
digits_u64(char *p, uint64_t v)
{
	if (v < 10) {		/* flags, descriptors, CPUs */
		*p = (char)('0' + v);
		return p + 1;
	}
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
	if (ns >= 1000000)
		p = digits_wide(p, ns / 1000000, 9);
	else
		p = (char *)memcpy(p, "        0", 9) + 9;
	*p++ = '.';
	return digits_last(p, ns % 1000000, 6);
}

#define OUT_SIZE	(512u << 10)
#define OUT_FIRST	(4u << 10)	/* in memory, where it grows: most texts are short */
#define OUT_MARGIN	512u	/* what the small ones below may write unasked */

struct out_thread;

struct out {
	char	*p;		/* next byte */
	char	*limit;		/* past it, make room */
	char	*base;
	int	 fd;		/* -1: keeps everything in memory */
	int	 error;		/* errno of the first failure, or 0 */
	bool	 escape;	/* a terminal shows this: text of others is written printable */
	bool	 beside;	/* a thread may write full buffers while the next is filled */
	struct out_thread *thread;	/* that thread; NULL: none yet */
};

int  tnf_out_init(struct out *, int fd);	/* 0 or an errno */
void tnf_out_memory(struct out *);		/* fd -1, or the end of the program */
void tnf_out_again(struct out *);		/* in memory: empty; all zero becomes such an output */
void tnf_out_full(struct out *);		/* makes room for OUT_MARGIN bytes */
void tnf_out_flush(struct out *);		/* all is written then, or 'error' says why not */
int  tnf_out_close(struct out *);		/* flushes, frees; 0 or the errno */

/* Room for OUT_MARGIN bytes; called by the functions that write. */
static inline void
out_room(struct out *o)
{
	if (__builtin_expect(o->p > o->limit, 0))
		tnf_out_full(o);
}

static inline void
out_char(struct out *o, char c)
{
	out_room(o);
	*o->p++ = c;
}

void tnf_out_bytes(struct out *, const char *, size_t);

/* The number of bytes that an output in memory has. */
static inline size_t
out_size(const struct out *o)
{
	return (size_t)(o->p - o->base);
}

static inline void
out_str(struct out *o, const char *s)
{
	tnf_out_bytes(o, s, strlen(s));
}

/* A text that was made once and is written for each event: it is copied 16 bytes at a time, so
   OUT_BEHIND bytes behind its end must be readable. */
#define OUT_BEHIND	15u

static inline void
out_made(struct out *o, const char *s, size_t n)
{
	if (__builtin_expect(n > OUT_MARGIN - OUT_BEHIND, 0)) {
		tnf_out_bytes(o, s, n);
		return;
	}
	out_room(o);
	for (size_t i = 0; i < n; i += OUT_BEHIND + 1)
		memcpy(o->p + i, s + i, OUT_BEHIND + 1);
	o->p += n;
}

/* For constant strings up to OUT_MARGIN bytes. */
#define out_lit(o, s)	do {						\
	_Static_assert(sizeof(s) <= OUT_MARGIN, "literal too long");	\
	out_room(o);							\
	memcpy((o)->p, s, sizeof(s) - 1);				\
	(o)->p += sizeof(s) - 1;					\
} while (0)

void tnf_out_u64(struct out *, uint64_t);
void tnf_out_i64(struct out *, int64_t);
void tnf_out_hex(struct out *, uint64_t);		/* digits only */
void tnf_out_0x(struct out *, uint64_t);		/* 0x and the digits */
void tnf_out_double(struct out *, double);	/* shortest that reads back equal; finite */
/* Right-aligned in width, filled with blanks. */
void tnf_out_u64_width(struct out *, uint64_t, unsigned width);
/* ns as milliseconds with six decimals, "%*.6f" of ns / 1e6. */
void tnf_out_ms(struct out *, int64_t ns, unsigned width);
/* ns as microseconds with three decimals. */
void tnf_out_us(struct out *, int64_t ns);
void tnf_out_pad(struct out *, unsigned blanks);
/* As printf(3); the others are many times as fast. */
void tnf_out_format(struct out *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
