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

/* A whole number of the column; false: it does not fit 64 bits with a sign. */
static bool
column_number(const struct html_column *c, size_t i, int64_t *ret)
{
	const char *p = c->bytes.base + i * c->width;
	uint64_t bits = 0;

	memcpy(&bits, p, c->width);
	if (c->kind[0] == 'i' && c->width < 8 && bits >> (8 * c->width - 1) != 0)
		bits |= ~UINT64_C(0) << 8 * c->width;
	*ret = (int64_t)bits;
	return c->kind[0] == 'i' || *ret >= 0;
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

void
html_column_narrow(struct html_column *c)
{
	size_t n = out_size(&c->bytes) / c->width;
	int64_t v, least = 0, most = 0;

	for (size_t i = 0; i < n && c->kind[0] != 'f'; i++) {
		if (!column_number(c, i, &v))
			return;
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	const struct html_kind *to = kind_for(least, most);
	if (c->kind[0] == 'f' || to == NULL || (to->width >= c->width && to->kind[0] != 'f'))
		return;
	/* The new numbers are no wider, so they do not reach those that are not read yet.
	   Little-endian: the low bytes of 64 bits come first. */
	for (size_t i = 0; i < n; i++) {
		column_number(c, i, &v);
		double real = (double)v;
		memcpy(c->bytes.base + i * to->width, to->kind[0] == 'f' ? (const void *)&real : &v, to->width);
	}
	c->bytes.p = c->bytes.base + n * to->width;
	c->kind = to->kind;
	c->width = to->width;
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
