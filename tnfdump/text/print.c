/*
 * print.c - prints values as Solaris did.
 */
#include "common/text.h"
#include "tnfdump/text/pretty.h"

#define BLOB_SHOWN	32	/* bytes, with --pretty */

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
		if ((len = tnf_printable_length(p, (size_t)(end - p))) == 0)
			put_escaped(o, *p++);
		else {
			tnf_out_bytes(o, (const char *)p, len);
			p += len;
		}
	}
}

void
print_chars(struct out *o, const char *s, size_t n)
{
	if (o->escape)
		print_escaped(o, s, n);
	else
		tnf_out_bytes(o, s, n);
}

void
print_quoted(struct out *o, const char *s, size_t n)
{
	out_room(o);
	*o->p++ = '"';
	if (!o->escape && n <= OUT_MARGIN / 2) {
		memcpy(o->p, s, n);
		o->p += n;
	} else
		print_chars(o, s, n);
	out_char(o, '"');
}

void
print_hex_left(struct out *o, uint64_t v, unsigned width)
{
	unsigned digits = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	tnf_out_0x(o, v);
	if (digits < width)
		tnf_out_pad(o, width - digits);
}

void
print_when_and_who(const struct dump *d, struct out *o, const struct tnf_event *ev)
{
	tnf_out_ms(o, ev->time - d->first, 16);
	tnf_out_u64_width(o, (uint64_t)ev->pid, 7);
	tnf_out_u64_width(o, ev->lwpid, 7);
	if (ev->cpu < 0)
		out_lit(o, "   -");
	else
		tnf_out_u64_width(o, (uint64_t)ev->cpu, 4);
}

static void
print_float(struct out *o, double v)
{
	char buf[340];		/* -DBL_MAX has 309 digits before the point */
	int n = snprintf(buf, sizeof buf, "%f", v);

	tnf_out_bytes(o, buf, (size_t)n);
}

void
print_null(struct out *o)
{
	out_lit(o, "0x0        <NULL>");
}

static void
print_unsigned(const struct dump *d, struct out *o, const struct tnf_value *v)
{
	bool wide = v->kind == TNF_K_UINT32 || v->kind == TNF_K_UINT64;

	if (d->hex || (wide && v->type->opaque))
		tnf_out_0x(o, v->u.u);
	else
		tnf_out_u64(o, v->u.u);
}

void
print_scalar(const struct dump *d, struct out *o, const struct tnf_value *v)
{
	char c;

	switch (v->kind) {
	case TNF_K_CHAR:
		c = (char)v->u.i;
		print_chars(o, &c, 1);
		break;
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		tnf_out_i64(o, v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		print_unsigned(d, o, v);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		print_float(o, v->u.d);
		break;
	default:
		out_lit(o, "unhandled scalar");
		break;
	}
}

void
print_name(struct out *o, const char *name)
{
	print_chars(o, name, strlen(name));
}

void
print_record(struct dump *d, struct out *o, const struct tnf_event *ev,
    const struct tnf_value *r, struct nest *in, print_item_fn *put)
{
	struct tnf_value v;

	out_lit(o, "{ type: ");
	print_name(o, r->u.r.type->name);
	if (nest_enter(in, r)) {
		for (unsigned i = 0; nest_item(in, ev->file, r, i, &v); i++) {
			const char *name = r->u.r.type->members[i].name;
			out_char(o, ' ');
			print_name(o, name);
			out_lit(o, ": ");
			put(d, o, ev, &v, name, in);
		}
		nest_leave(in);
	}
	out_lit(o, " }");
}

/* Prints a blob; --pretty shows only its beginning. */
static void
print_blob(const struct dump *d, struct out *o, const struct tnf_value *v)
{
	size_t n = v->u.s.len, shown = d->pretty && n > BLOB_SHOWN ?
	    BLOB_SHOWN : n;
	static const char hex[] = "0123456789abcdef";

	out_lit(o, "0x");
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)v->u.s.chars[i];
		out_char(o, hex[c >> 4]);
		out_char(o, hex[c & 15]);
	}
	if (shown < n || v->cut)
		out_lit(o, "...");
	if (shown < n) {
		out_lit(o, " (");
		tnf_out_u64(o, n);
		out_lit(o, v->cut ? " bytes, cut)" : " bytes)");
	}
}

static void
print_string(const struct dump *d, struct out *o, const struct tnf_value *v)
{
	if (v->type->blob) {
		print_blob(d, o, v);
		return;
	}
	print_quoted(o, v->u.s.chars, v->u.s.len);
	if (v->cut)
		out_lit(o, "...");
}

static void
print_at(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name, struct nest *in)
{
	if (v->null) {
		print_null(o);
		return;
	}
	switch (v->kind) {
	case TNF_K_STRING:
		print_string(d, o, v);
		break;
	case TNF_K_STRUCT:
		print_record(d, o, ev, v, in, print_at);
		break;
	case TNF_K_TYPE:
		print_name(o, v->u.r.type->name);
		break;
	case TNF_K_ARRAY:
		out_char(o, '<');
		print_name(o, v->u.r.type->name);
		out_char(o, '>');
		break;
	default:
		print_scalar(d, o, v);
		break;
	}
}

const char *
print_marked(struct dump *d, const struct tnf_value *v, size_t *ret_len)
{
	struct out *o = &d->scratch;

	*ret_len = v->u.s.len;
	if (!v->cut)
		return v->u.s.chars;
	tnf_out_again(o);
	tnf_out_bytes(o, v->u.s.chars, v->u.s.len);
	out_lit(o, "...");
	*ret_len = out_size(o);
	return o->base;
}

void
tell_partial(struct dump *d, const struct tnf_file *f)
{
	if (!d->partial_told && d->follow == NULL && d->nest_budget == 0)
		dump_error(d, "%s: records lead into each other more often than "
		    "they have bytes: not all of it is shown", tnf_file_name(f));
	else if (!d->partial_told)
		dump_error(d, "%s: a record leads into itself, or into more than "
		    "%u others: not all of it is shown", tnf_file_name(f),
		    NEST_ITEMS_MAX);
	d->partial_told = true;
}

struct nest
print_nest(struct dump *d)
{
	/* A stream that is being followed has no end, so its budget is not limited. */
	return (struct nest){ .budget = d->follow == NULL ? &d->nest_budget :
	    NULL };
}

void
print_value(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v)
{
	struct nest in = print_nest(d);

	print_at(d, o, ev, v, NULL, &in);
	if (in.partial)
		tell_partial(d, ev->file);
}
