/*
 * bytes.h - the one door through which bytes of a trace file come in.
 *
 * A stranger wrote the file, or is writing it just now.  Every read is
 * checked against the end, happens once, and knows the file's byte order.  A
 * read that does not fit gives 0: in this format the null reference, the block
 * never used, the record without size.  No other code looks behind 'base'.
 * bytes_u32_inside() is for callers that have made the check for many reads at once.
 */
#ifndef FORMAT_BYTES_H
#define FORMAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const unsigned char *base;
	uint64_t size;
	bool	 swap;		/* the file has the other byte order */
};

/* At any address; volatile, so that it is one load. */
typedef uint16_t bytes_any16 __attribute__((aligned(1), may_alias));
typedef uint32_t bytes_any32 __attribute__((aligned(1), may_alias));
typedef uint64_t bytes_any64 __attribute__((aligned(1), may_alias));

static inline bool
bytes_has(const struct bytes *b, uint64_t off, uint64_t n)
{
	return n <= b->size && off <= b->size - n;
}

/* NULL: not in the file. */
static inline const unsigned char *
bytes_at(const struct bytes *b, uint64_t off, uint64_t n)
{
	return bytes_has(b, off, n) ? b->base + off : NULL;
}

/* They will be read soon. */
static inline void
bytes_expect(const struct bytes *b, uint64_t off)
{
	if (off < b->size)
		__builtin_prefetch(b->base + off);
}

static inline uint8_t
bytes_u8(const struct bytes *b, uint64_t off)
{
	return bytes_has(b, off, 1) ?
	    *(const volatile uint8_t *)(b->base + off) : 0;
}

static inline uint16_t
bytes_u16(const struct bytes *b, uint64_t off)
{
	uint16_t v;

	if (!bytes_has(b, off, sizeof v))
		return 0;
	v = *(const volatile bytes_any16 *)(b->base + off);
	return b->swap ? __builtin_bswap16(v) : v;
}

/* The caller knows that the bytes are there. */
static inline uint32_t
bytes_u32_inside(const struct bytes *b, uint64_t off)
{
	uint32_t v = *(const volatile bytes_any32 *)(b->base + off);

	return b->swap ? __builtin_bswap32(v) : v;
}

static inline uint32_t
bytes_u32(const struct bytes *b, uint64_t off)
{
	return bytes_has(b, off, sizeof(uint32_t)) ? bytes_u32_inside(b, off) : 0;
}

static inline uint64_t
bytes_u64(const struct bytes *b, uint64_t off)
{
	uint64_t v;

	if (!bytes_has(b, off, sizeof v))
		return 0;
	v = *(const volatile bytes_any64 *)(b->base + off);
	return b->swap ? __builtin_bswap64(v) : v;
}

static inline float
bytes_f32(const struct bytes *b, uint64_t off)
{
	uint32_t v = bytes_u32(b, off);
	float f;

	memcpy(&f, &v, sizeof f);
	return f;
}

static inline double
bytes_f64(const struct bytes *b, uint64_t off)
{
	uint64_t v = bytes_u64(b, off);
	double d;

	memcpy(&d, &v, sizeof d);
	return d;
}

/* Length of the string at 'off': to its NUL, at most 'max' or the end. */
static inline size_t
bytes_strlen(const struct bytes *b, uint64_t off, uint64_t max)
{
	if (off >= b->size)
		return 0;
	if (max > b->size - off)
		max = b->size - off;
	return strnlen((const char *)b->base + off, max);
}

#endif /* FORMAT_BYTES_H */
