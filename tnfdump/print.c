/*
 * print.c - values as Solaris printed them.
 */
#include <stdio.h>

#include "tnfdump/nest.h"
#include "tnfdump/print.h"

/* Bytes of the UTF-8 character at 's' that a terminal may get; 0: none. */
static size_t
harmless(const unsigned char *s, size_t n)
{
	size_t i, len;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	/* Also refuses U+0080 to U+009F, which control terminals as well. */
	if (s[0] < 0xc2 || (s[0] == 0xc2 && n > 1 && s[1] < 0xa0) ||
	    s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > n)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static void
put_escaped(struct out *o, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	out_char(o, '\\');
	switch (c) {
	case '\n':
		out_char(o, 'n');
		break;
	case '\t':
		out_char(o, 't');
		break;
	case '\r':
		out_char(o, 'r');
		break;
	default:
		out_char(o, 'x');
		out_char(o, hex[c >> 4]);
		out_char(o, hex[c & 15]);
		break;
	}
}

void
print_escaped(struct out *o, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	size_t len;

	while (p < end) {
		if ((len = harmless(p, (size_t)(end - p))) == 0)
			put_escaped(o, *p++);
		else {
			out_bytes(o, (const char *)p, len);
			p += len;
		}
	}
}

void
print_chars_to(const struct dump *d, struct out *o, const char *s, size_t n)
{
	if (d->escape)
		print_escaped(o, s, n);
	else
		out_bytes(o, s, n);
}

void
print_chars(struct dump *d, const char *s, size_t n)
{
	print_chars_to(d, &d->out, s, n);
}

void
print_quoted(struct dump *d, const char *s, size_t n)
{
	struct out *o = &d->out;

	out_room(o);
	*o->p++ = '"';
	if (!d->escape && n <= OUT_MARGIN / 2) {
		memcpy(o->p, s, n);
		o->p += n;
	} else
		print_chars(d, s, n);
	out_char(o, '"');
}

void
print_hex_left(struct out *o, uint64_t v, unsigned width)
{
	unsigned digits = 1;

	while (digits < 16 && v >> (4 * digits) != 0)
		digits++;
	out_lit(o, "0x");
	out_hex(o, v);
	if (digits < width)
		out_pad(o, width - digits);
}

void
print_float(struct out *o, double v)
{
	char buf[340];		/* -DBL_MAX has 309 digits before the point */
	int n = snprintf(buf, sizeof buf, "%f", v);

	out_bytes(o, buf, (size_t)n);
}

void
print_null(struct out *o)
{
	out_lit(o, "0x0        <NULL>");
}

static void
print_unsigned(struct dump *d, const struct tnf_value *v)
{
	bool wide = v->kind == TNF_K_UINT32 || v->kind == TNF_K_UINT64;

	if (d->hex || (wide && v->type->opaque)) {
		out_lit(&d->out, "0x");
		out_hex(&d->out, v->u.u);
	} else
		out_u64(&d->out, v->u.u);
}

void
print_scalar(struct dump *d, const struct tnf_value *v)
{
	char c;

	switch (v->kind) {
	case TNF_K_CHAR:
		c = (char)v->u.i;
		print_chars(d, &c, 1);
		break;
	case TNF_K_INT8:
	case TNF_K_INT16:
	case TNF_K_INT32:
	case TNF_K_INT64:
		out_i64(&d->out, v->u.i);
		break;
	case TNF_K_UINT8:
	case TNF_K_UINT16:
	case TNF_K_UINT32:
	case TNF_K_UINT64:
		print_unsigned(d, v);
		break;
	case TNF_K_FLOAT32:
	case TNF_K_FLOAT64:
		print_float(&d->out, v->u.d);
		break;
	default:
		out_lit(&d->out, "unhandled scalar");
		break;
	}
}

static void
print_name(struct dump *d, const char *name)
{
	print_chars(d, name, strlen(name));
}

static void print_at(struct dump *, const struct tnf_file *,
    const struct tnf_value *, struct nest *);

static void
print_record(struct dump *d, const struct tnf_file *f,
    const struct tnf_value *r, struct nest *in)
{
	struct tnf_value v;
	unsigned i;

	out_lit(&d->out, "{ type: ");
	print_name(d, r->u.r.type->name);
	if (nest_enter(in, r)) {
		for (i = 0; nest_item(in, f, r, i, &v); i++) {
			out_char(&d->out, ' ');
			print_name(d, r->u.r.type->members[i].name);
			out_lit(&d->out, ": ");
			print_at(d, f, &v, in);
		}
		nest_leave(in);
	}
	out_lit(&d->out, " }");
}

static void
print_at(struct dump *d, const struct tnf_file *f, const struct tnf_value *v,
    struct nest *in)
{
	if (v->null) {
		print_null(&d->out);
		return;
	}
	switch (v->kind) {
	case TNF_K_STRING:
		print_quoted(d, v->u.s.chars, v->u.s.len);
		break;
	case TNF_K_STRUCT:
		print_record(d, f, v, in);
		break;
	case TNF_K_TYPE:
		print_name(d, v->u.r.type->name);
		break;
	case TNF_K_ARRAY:
		out_char(&d->out, '<');
		print_name(d, v->u.r.type->name);
		out_char(&d->out, '>');
		break;
	default:
		print_scalar(d, v);
		break;
	}
}

void
print_cut(struct dump *d, const struct tnf_file *f)
{
	if (!d->cut)
		dump_error(d, "%s: a record leads into itself, or into more than "
		    "%u others: not all of it is shown", tnf_file_name(f),
		    NEST_ITEMS_MAX);
	d->cut = true;
}

void
print_value(struct dump *d, const struct tnf_file *f, const struct tnf_value *v)
{
	struct nest in = { 0 };

	print_at(d, f, v, &in);
	if (in.cut)
		print_cut(d, f);
}
