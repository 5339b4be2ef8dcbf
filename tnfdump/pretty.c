/*
 * pretty.c - values as people read them.
 */
#include <errno.h>

#include "tnfdump/nest.h"
#include "tnfdump/origin.h"
#include "tnfdump/pretty-names.h"
#include "tnfdump/pretty.h"
#include "tnfdump/print.h"
#include "tnfdump/units.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define ELEMENTS_MAX	64	/* of an array */

/* buf(9S): what an I/O request is. */
static const struct { uint32_t bit; const char *name; } bioflags[] = {
	{ 0x1, "BUSY" }, { 0x2, "DONE" }, { 0x4, "ERROR" }, { 0x10, "PAGEIO" },
	{ 0x20, "PHYS" }, { 0x40, "READ" }, { 0x80, "WANTED" },
	{ 0x100, "WRITE" }, { 0x400, "ASYNC" },
};

int
pretty_set(struct dump *d, const char *arg)
{
	d->pretty = true;
	return 0;
}

static uint64_t
bits(const struct tnf_value *v)
{
	return v->u.u;
}

static void
put_bioflags(struct out *o, uint32_t flags)
{
	bool first = true;
	unsigned i;

	for (i = 0; i < COUNT(bioflags); i++) {
		if ((flags & bioflags[i].bit) == 0)
			continue;
		if (!first)
			out_char(o, '|');
		out_str(o, bioflags[i].name);
		flags &= ~bioflags[i].bit;
		first = false;
	}
	if (!first && flags == 0)
		return;
	if (!first)
		out_char(o, '|');
	out_lit(o, "0x");
	out_hex(o, flags);
}

/* Linux packs 12:20 bits; Solaris 14:18, and 32:32 when it had 64. */
void
device_split(const struct tnf_event *ev, const struct tnf_type *type,
    uint64_t u, uint32_t *major, uint32_t *minor)
{
	unsigned shift = 18;

	if (tnf_file_ext(ev->file) != NULL)
		shift = 20;
	else if (type != NULL && type->size == 8)
		shift = 32;
	*major = (uint32_t)(u >> shift);
	*minor = (uint32_t)(u & ((UINT64_C(1) << shift) - 1));
}

static void
put_device(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *v)
{
	const tnf_context_t *c = origin_context(d, ev->file);
	const char *name = NULL;
	uint32_t major, minor;

	device_split(ev, v->type, bits(v), &major, &minor);
	if (c != NULL)
		name = tnf_context_device(c, major, minor);
	out_u64(&d->out, major);
	out_char(&d->out, ':');
	out_u64(&d->out, minor);
	if (name == NULL)
		return;
	out_char(&d->out, '(');
	print_chars(d, name, strlen(name));
	out_char(&d->out, ')');
}

static void
put_offset(struct out *o, uint64_t offset)
{
	if (offset == 0)
		return;
	out_lit(o, "+0x");
	out_hex(o, offset);
}

/* Kernel function, else function or object of the process, else the number. */
static void
put_symbol(struct dump *d, const struct tnf_event *ev, uint64_t addr)
{
	uint64_t offset;
	const char *name = origin_place(d, ev, addr, &offset);

	if (name == NULL) {
		out_lit(&d->out, "0x");
		out_hex(&d->out, addr);
		return;
	}
	print_chars(d, name, strlen(name));
	put_offset(&d->out, offset);
}

/* The names are Linux's; a file of the original writers has Solaris's numbers,
   which agree for the errors of old. */
static const char *
value_name(const struct tnf_event *ev, enum pretty_kind kind, int64_t i)
{
	if (tnf_file_ext(ev->file) == NULL && (kind == PRETTY_SYSCALL ||
	    (kind == PRETTY_ERRNO && i > ERANGE)))
		return NULL;
	return pretty_kind_name(kind, i);
}

static void
put_scalar(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	enum pretty_kind kind = pretty_kind(v->type, name);
	const char *text = value_name(ev, kind, v->u.i);

	if (text != NULL) {
		out_str(&d->out, text);
		return;
	}
	switch (kind) {
	case PRETTY_BIOFLAGS:
		put_bioflags(&d->out, (uint32_t)bits(v));
		break;
	case PRETTY_DEVICE:
		put_device(d, ev, v);
		break;
	case PRETTY_SIZE:
		size_put(&d->out, bits(v));
		break;
	case PRETTY_SYMBOL:
		put_symbol(d, ev, bits(v));
		break;
	default:
		print_scalar(d, v);
		break;
	}
}

static void put_at(struct dump *, const struct tnf_event *,
    const struct tnf_value *, const char *name, struct nest *);

static void
put_record(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *r, struct nest *in)
{
	const char *name;
	struct tnf_value v;
	unsigned i;

	out_lit(&d->out, "{ type: ");
	print_chars(d, r->u.r.type->name, strlen(r->u.r.type->name));
	if (nest_enter(in, r)) {
		for (i = 0; nest_item(in, ev->file, r, i, &v); i++) {
			name = r->u.r.type->members[i].name;
			out_char(&d->out, ' ');
			print_chars(d, name, strlen(name));
			out_lit(&d->out, ": ");
			put_at(d, ev, &v, name, in);
		}
		nest_leave(in);
	}
	out_lit(&d->out, " }");
}

/* A stack ends at its first zero. */
static void
put_array(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *r, struct nest *in)
{
	struct tnf_value v;
	unsigned i;

	out_char(&d->out, '[');
	for (i = 0; nest_item(in, ev->file, r, i, &v); i++) {
		if (pretty_kind(v.type, NULL) == PRETTY_SYMBOL && bits(&v) == 0)
			break;
		if (i > 0)
			out_char(&d->out, ' ');
		if (i == ELEMENTS_MAX) {
			out_lit(&d->out, "...");
			break;
		}
		put_at(d, ev, &v, NULL, in);
	}
	out_char(&d->out, ']');
}

static void
put_at(struct dump *d, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name, struct nest *in)
{
	if (v->null || v->kind == TNF_K_STRING || v->kind == TNF_K_TYPE)
		print_value(d, ev->file, v);
	else if (v->kind == TNF_K_STRUCT)
		put_record(d, ev, v, in);
	else if (v->kind == TNF_K_ARRAY && nest_enter(in, v)) {
		put_array(d, ev, v, in);
		nest_leave(in);
	} else if (v->kind == TNF_K_ARRAY)
		out_lit(&d->out, "[]");
	else
		put_scalar(d, ev, v, name);
}

void
pretty_value(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	struct nest in = { 0 };

	put_at(d, ev, v, name, &in);
	if (in.cut)
		print_cut(d, ev->file);
}
