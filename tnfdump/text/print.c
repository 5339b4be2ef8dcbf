/*
 * print.c - prints values as Solaris did.
 */
#include "common/text.h"
#include "tnfdump/text/print.h"

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
print_chars_to(const struct dump *d, struct out *o, const char *s, size_t n)
{
	if (d->escape)
		print_escaped(o, s, n);
	else
		tnf_out_bytes(o, s, n);
}

void
print_chars(struct dump *d, const char *s, size_t n)
{
	print_chars_to(d, &d->out, s, n);
}

void
printer_chars(const struct printer *p, const char *s, size_t n)
{
	if (p->escape)
		print_escaped(p->o, s, n);
	else
		tnf_out_bytes(p->o, s, n);
}

static void
printer_quoted(const struct printer *p, const char *s, size_t n)
{
	struct out *o = p->o;

	out_room(o);
	*o->p++ = '"';
	if (!p->escape && n <= OUT_MARGIN / 2) {
		memcpy(o->p, s, n);
		o->p += n;
	} else
		printer_chars(p, s, n);
	out_char(o, '"');
}

void
print_quoted(struct dump *d, const char *s, size_t n)
{
	struct printer p = printer_of(d);

	printer_quoted(&p, s, n);
}

void
print_hex_left(struct out *o, uint64_t v, unsigned width)
{
	unsigned digits = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	out_lit(o, "0x");
	tnf_out_hex(o, v);
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
printer_unsigned(const struct printer *p, const struct tnf_value *v)
{
	bool wide = v->kind == TNF_K_UINT32 || v->kind == TNF_K_UINT64;

	if (p->d->hex || (wide && v->type->opaque)) {
		out_lit(p->o, "0x");
		tnf_out_hex(p->o, v->u.u);
	} else
		tnf_out_u64(p->o, v->u.u);
}

void
printer_scalar(const struct printer *p, const struct tnf_value *v)
{
	char c;

	switch (v->kind) {
	case TNF_K_CHAR:
		c = (char)v->u.i;
		printer_chars(p, &c, 1);
		break;
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		tnf_out_i64(p->o, v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		printer_unsigned(p, v);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		print_float(p->o, v->u.d);
		break;
	default:
		out_lit(p->o, "unhandled scalar");
		break;
	}
}

void
print_scalar(struct dump *d, const struct tnf_value *v)
{
	struct printer p = printer_of(d);

	printer_scalar(&p, v);
}

static void
printer_name(const struct printer *p, const char *name)
{
	printer_chars(p, name, strlen(name));
}

static void printer_at(const struct printer *, const struct tnf_file *,
    const struct tnf_value *, struct nest *);

static void
printer_record(const struct printer *p, const struct tnf_file *f,
    const struct tnf_value *r, struct nest *in)
{
	struct tnf_value v;

	out_lit(p->o, "{ type: ");
	printer_name(p, r->u.r.type->name);
	if (nest_enter(in, r)) {
		for (unsigned i = 0; nest_item(in, f, r, i, &v); i++) {
			out_char(p->o, ' ');
			printer_name(p, r->u.r.type->members[i].name);
			out_lit(p->o, ": ");
			printer_at(p, f, &v, in);
		}
		nest_leave(in);
	}
	out_lit(p->o, " }");
}

/* Prints a blob; --pretty shows only its beginning. */
static void
printer_blob(const struct printer *p, const struct tnf_value *v)
{
	size_t n = v->u.s.len, shown = p->d->pretty && n > BLOB_SHOWN ?
	    BLOB_SHOWN : n;
	static const char hex[] = "0123456789abcdef";

	out_lit(p->o, "0x");
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)v->u.s.chars[i];
		out_char(p->o, hex[c >> 4]);
		out_char(p->o, hex[c & 15]);
	}
	if (shown < n || v->cut)
		out_lit(p->o, "...");
	if (shown < n) {
		out_lit(p->o, " (");
		tnf_out_u64(p->o, n);
		out_lit(p->o, v->cut ? " bytes, cut)" : " bytes)");
	}
}

static void
printer_string(const struct printer *p, const struct tnf_value *v)
{
	if (v->type->blob) {
		printer_blob(p, v);
		return;
	}
	printer_quoted(p, v->u.s.chars, v->u.s.len);
	if (v->cut)
		out_lit(p->o, "...");
}

static void
printer_at(const struct printer *p, const struct tnf_file *f,
    const struct tnf_value *v, struct nest *in)
{
	if (v->null) {
		print_null(p->o);
		return;
	}
	switch (v->kind) {
	case TNF_K_STRING:
		printer_string(p, v);
		break;
	case TNF_K_STRUCT:
		printer_record(p, f, v, in);
		break;
	case TNF_K_TYPE:
		printer_name(p, v->u.r.type->name);
		break;
	case TNF_K_ARRAY:
		out_char(p->o, '<');
		printer_name(p, v->u.r.type->name);
		out_char(p->o, '>');
		break;
	default:
		printer_scalar(p, v);
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
	if (o->base == NULL)
		tnf_out_memory(o);
	o->p = o->base;
	tnf_out_bytes(o, v->u.s.chars, v->u.s.len);
	out_lit(o, "...");
	*ret_len = (size_t)(o->p - o->base);
	return o->base;
}

void
print_cut(struct dump *d, const struct tnf_file *f)
{
	if (!d->cut && d->follow == NULL && d->nest_budget == 0)
		dump_error(d, "%s: records lead into each other more often than "
		    "they have bytes: not all of it is shown", tnf_file_name(f));
	else if (!d->cut)
		dump_error(d, "%s: a record leads into itself, or into more than "
		    "%u others: not all of it is shown", tnf_file_name(f),
		    NEST_ITEMS_MAX);
	d->cut = true;
}

struct nest
print_nest(struct dump *d)
{
	/* A stream that is being followed has no end, so its budget is not limited. */
	return (struct nest){ .budget = d->follow == NULL ? &d->nest_budget :
	    NULL };
}

void
printer_value(const struct printer *p, const struct tnf_file *f,
    const struct tnf_value *v)
{
	struct nest in = print_nest(p->d);

	printer_at(p, f, v, &in);
	if (in.cut)
		print_cut(p->d, f);
}

void
print_value(struct dump *d, const struct tnf_file *f, const struct tnf_value *v)
{
	struct printer p = printer_of(d);

	printer_value(&p, f, v);
}
