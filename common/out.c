/*
 * out.c - buffered output with fast numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/out.h"
#include "common/xalloc.h"

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

int
tnf_out_init(struct out *o, int fd)
{
	if ((o->base = malloc(OUT_SIZE)) == NULL)
		return ENOMEM;
	/* A pipe as large: we and the reader wait less for each other. */
	fcntl(fd, F_SETPIPE_SZ, OUT_SIZE);
	o->p = o->base;
	o->limit = o->base + OUT_SIZE - OUT_MARGIN;
	o->fd = fd;
	o->error = 0;
	return 0;
}

void
tnf_out_memory(struct out *o)
{
	o->base = tnf_xcalloc(1, OUT_SIZE);
	o->p = o->base;
	o->limit = o->base + OUT_SIZE - OUT_MARGIN;
	o->fd = -1;
	o->error = 0;
}

static void
write_all(struct out *o, const char *s, size_t n)
{
	ssize_t done;

	while (n > 0 && o->error == 0) {
		done = write(o->fd, s, n);
		if (done < 0 && errno != EINTR)
			o->error = errno;
		if (done > 0) {
			s += done;
			n -= (size_t)done;
		}
	}
}

/* In memory the buffer grows instead. */
static void
out_grow(struct out *o)
{
	size_t used = (size_t)(o->p - o->base);
	size_t size = 2 * ((size_t)(o->limit - o->base) + OUT_MARGIN);

	o->base = tnf_xreallocarray(o->base, size, 1);
	o->p = o->base + used;
	o->limit = o->base + size - OUT_MARGIN;
}

void
tnf_out_flush(struct out *o)
{
	if (o->fd < 0) {
		out_grow(o);
		return;
	}
	write_all(o, o->base, (size_t)(o->p - o->base));
	o->p = o->base;
}

int
tnf_out_close(struct out *o)
{
	if (o->base == NULL)
		return 0;
	if (o->fd >= 0)
		tnf_out_flush(o);
	free(o->base);
	o->base = NULL;
	return o->error;
}

void
tnf_out_bytes(struct out *o, const char *s, size_t n)
{
	for (; n > OUT_MARGIN; s += OUT_MARGIN, n -= OUT_MARGIN) {
		out_room(o);
		memcpy(o->p, s, OUT_MARGIN);
		o->p += OUT_MARGIN;
	}
	out_room(o);
	memcpy(o->p, s, n);
	o->p += n;
}

/* Writes v backwards, ending at 'end'; returns the first digit. */
static char *
out_digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + v * 2, 2);
	} else
		*--end = (char)('0' + v);
	return end;
}

/* How many decimal digits v has: from its bits, as 1233 / 4096 is the logarithm of 2. */
static unsigned
out_digit_count(uint64_t v)
{
	static const uint64_t powers[] = {
		UINT64_C(0), UINT64_C(10), UINT64_C(100), UINT64_C(1000), UINT64_C(10000),
		UINT64_C(100000), UINT64_C(1000000), UINT64_C(10000000), UINT64_C(100000000),
		UINT64_C(1000000000), UINT64_C(10000000000), UINT64_C(100000000000),
		UINT64_C(1000000000000), UINT64_C(10000000000000), UINT64_C(100000000000000),
		UINT64_C(1000000000000000), UINT64_C(10000000000000000),
		UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= powers[n]);
}

void
tnf_out_pad(struct out *o, unsigned n)
{
	out_room(o);
	if (n > OUT_MARGIN)
		n = OUT_MARGIN;
	memset(o->p, ' ', n);
	o->p += n;
}

void
tnf_out_u64_width(struct out *o, uint64_t v, unsigned width)
{
	char buf[24], *end = buf + sizeof(buf), *s = out_digits(end, v);
	size_t n = (size_t)(end - s);

	if (n < width)
		tnf_out_pad(o, width - (unsigned)n);
	tnf_out_bytes(o, s, n);
}

void
tnf_out_u64(struct out *o, uint64_t v)
{
	unsigned n = out_digit_count(v);

	out_room(o);
	o->p += n;
	out_digits(o->p, v);
}

void
tnf_out_i64(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	tnf_out_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
tnf_out_hex(struct out *o, uint64_t v)
{
	char *s;

	out_room(o);
	s = o->p += (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
	do {
		*--s = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v != 0);
}

void
tnf_out_format(struct out *o, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	out_str(o, text);
	free(text);
}

void
tnf_out_double(struct out *o, double v)
{
	char buf[40];
	int precision = 15;

	do
		snprintf(buf, sizeof(buf), "%.*g", precision, v);
	while (strtod(buf, NULL) != v && precision++ < 17);
	out_str(o, buf);
	if (strpbrk(buf, ".e") == NULL)
		out_lit(o, ".0");	/* still a floating-point number */
}

/* ns with 'decimals' digits behind the point. */
static void
out_fixed(struct out *o, int64_t ns, unsigned decimals, uint64_t unit, unsigned width)
{
	char buf[32], *end = buf + sizeof(buf), *s = end;
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t fraction = v % unit;

	for (unsigned i = 0; i < decimals; i++, fraction /= 10)
		*--s = (char)('0' + fraction % 10);
	*--s = '.';
	s = out_digits(s, v / unit);
	if (ns < 0)
		*--s = '-';
	if ((size_t)(end - s) < width)
		tnf_out_pad(o, width - (unsigned)(end - s));
	tnf_out_bytes(o, s, (size_t)(end - s));
}

void
tnf_out_ms(struct out *o, int64_t ns, unsigned width)
{
	out_fixed(o, ns, 6, 1000000, width);
}

void
tnf_out_us(struct out *o, int64_t ns)
{
	out_fixed(o, ns, 3, 1000, 0);
}
