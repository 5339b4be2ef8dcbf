/*
 * html-columns.c - columns of an HTML report: numbers, and numbered texts.
 */
#include "analysis/json.h"
#include "common/xalloc.h"
#include "tnfdump/to/html.h"

void
html_column_init(struct html_column *c, const char *kind, size_t width)
{
	c->kind = kind;
	c->width = width;
	tnf_out_memory(&c->bytes);
}

void
html_column_free(struct html_column *c)
{
	tnf_out_close(&c->bytes);
}

void
html_columns_init(struct html_column *c, const struct html_kind *kinds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		html_column_init(&c[i], kinds[i].kind, kinds[i].width);
}

void
html_columns_free(struct html_column *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		html_column_free(&c[i]);
}

void
html_columns_json(struct html_column *c, const struct html_kind *kinds, unsigned n, struct out *o,
    html_put_fn *put, void *arg)
{
	for (unsigned i = 0; i < n; i++) {
		tnf_out_format(o, "%s\"%s\":", i > 0 ? "," : "", kinds[i].name);
		put(arg, o, &c[i]);
	}
}

/* The first kind in which numbers from 'least' to 'most' have room; NULL: none of them. */
static const struct html_kind *
kind_for(int64_t least, int64_t most)
{
	static const struct { struct html_kind kind; int64_t least, most; } rows[] = {
		{ { NULL, "u8", 1 }, 0, UINT8_MAX }, { { NULL, "i8", 1 }, INT8_MIN, INT8_MAX },
		{ { NULL, "u16", 2 }, 0, UINT16_MAX }, { { NULL, "i16", 2 }, INT16_MIN, INT16_MAX },
		{ { NULL, "u32", 4 }, 0, UINT32_MAX }, { { NULL, "i32", 4 }, INT32_MIN, INT32_MAX },
		{ { NULL, "f64", 8 }, -(INT64_C(1) << 53), INT64_C(1) << 53 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (least >= rows[i].least && most <= rows[i].most)
			return &rows[i].kind;
	return NULL;
}

/* A number of a column.  Little-endian: its low bytes come first. */
static inline int64_t
column_number(const char *p, size_t width, bool sign)
{
	unsigned shift = 64 - 8 * (unsigned)width;
	uint64_t bits = 0;

	memcpy(&bits, p, width);
	return sign ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

/* The compiler makes loops of its own for each width that html_column_narrow() passes. */
static inline __attribute__((always_inline)) void
column_narrow(struct html_column *c, size_t width, bool sign)
{
	char *put = c->bytes.base;
	int64_t v, least = 0, most = 0;

	for (const char *p = put; p < c->bytes.p; p += width) {
		v = column_number(p, width, sign);
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	/* Without a sign, a number of 64 bits may be too large for one with a sign. */
	const struct html_kind *to = !sign && least < 0 ? NULL : kind_for(least, most);
	if (to == NULL || (to->width >= width && to->kind[0] != 'f'))
		return;
	/* The new numbers are no wider, so they do not reach those that are not read yet. */
	for (const char *p = put; p < c->bytes.p; p += width, put += to->width) {
		v = column_number(p, width, sign);
		double real = (double)v;
		memcpy(put, to->kind[0] == 'f' ? (const void *)&real : &v, to->width);
	}
	c->bytes.p = put;
	c->kind = to->kind;
	c->width = to->width;
}

void
html_column_narrow(struct html_column *c)
{
	bool sign = c->kind[0] == 'i';

	if (c->kind[0] == 'f')
		return;
	switch (c->width) {
	case 2: column_narrow(c, 2, sign); break;
	case 4: column_narrow(c, 4, sign); break;
	case 8: column_narrow(c, 8, sign); break;
	}
}

void
html_strings_init(struct html_strings *s)
{
	tnf_map_init(&s->numbers, sizeof(uint32_t));
	tnf_out_memory(&s->json);
}

void
html_strings_free(struct html_strings *s)
{
	tnf_map_free(&s->numbers);
	tnf_out_close(&s->json);
}

uint32_t
html_strings_number(struct html_strings *s, const char *chars, size_t n)
{
	bool fresh;
	uint32_t *number = tnf_xmap_put(&s->numbers, chars, n, &fresh);

	if (fresh) {
		*number = (uint32_t)s->numbers.n;
		if (*number > 1)
			out_char(&s->json, ',');
		json_text(&s->json, chars, n);
	}
	return *number;
}
