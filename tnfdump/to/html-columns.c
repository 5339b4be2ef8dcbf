/*
 * html-columns.c - columns of numbers, and texts by number.
 */
#include "tnfdump/to/html-columns.h"
#include "analysis/json.h"
#include "common/xalloc.h"

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
