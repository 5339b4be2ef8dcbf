/*
 * raw.c - every record of a file, in file order (-r).
 */
#include "tnfdump/input.h"
#include "tnfdump/text/print.h"
#include "tnfdump/text/raw.h"

struct raw {
	struct dump *d;
	TNF	    *tnf;
	const char  *path;
	uint32_t     block_size;
	uint32_t     data_start;
	uint64_t     told;		/* damaged block that was told last */
};

/* "%24s " */
static void
raw_put_label(struct dump *d, const char *s)
{
	size_t n = strlen(s);

	if (n < 24)
		out_pad(&d->out, 24 - (unsigned)n);
	print_chars(d, s, n);
	out_char(&d->out, ' ');
}

static void
put_name(struct dump *d, const char *s)
{
	if (s != NULL)
		print_chars(d, s, strlen(s));
}

static void
raw_put_scalar(struct dump *d, tnf_datum_t v)
{
	struct tnf_type t = { .opaque = false };
	struct tnf_value val = { .type = &t, .kind = tnf_get_kind(v) };

	if (val.kind == TNF_K_UINT32 || val.kind == TNF_K_UINT64)
		t.opaque = tnf_type_get_property(tnf_get_type(v),
		    "tnf_opaque") != TNF_DATUM_NULL;

	switch (val.kind) {
	case TNF_K_CHAR:
		val.u.i = tnf_get_char(v);
		break;
	case TNF_K_INT8:
		val.u.i = tnf_get_int8(v);
		break;
	case TNF_K_INT16:
		val.u.i = tnf_get_int16(v);
		break;
	case TNF_K_INT32:
		val.u.i = tnf_get_int32(v);
		break;
	case TNF_K_UINT8:
		val.u.u = (uint8_t)tnf_get_int8(v);
		break;
	case TNF_K_UINT16:
		val.u.u = (uint16_t)tnf_get_int16(v);
		break;
	case TNF_K_UINT32:
		val.u.u = (uint32_t)tnf_get_int32(v);
		break;
	case TNF_K_INT64:
	case TNF_K_UINT64:
		val.u.i = tnf_get_int64(v);
		break;
	case TNF_K_FLOAT32:
		val.u.d = (double)tnf_get_float32(v);
		break;
	case TNF_K_FLOAT64:
		val.u.d = tnf_get_float64(v);
		break;
	default:
		break;
	}
	print_scalar(d, &val);
}

static void
raw_put_string(struct dump *d, tnf_datum_t v)
{
	const char *s = tnf_get_chars(v);

	print_quoted(d, s == NULL ? "" : s, s == NULL ? 0 : strlen(s));
}

/* A record that is referred to: where, and what. */
static void
raw_put_reference(struct dump *d, tnf_datum_t v)
{
	print_hex_left(&d->out, tnf_get_offset(v), 8);
	out_char(&d->out, ' ');
	switch (tnf_get_kind(v)) {
	case TNF_K_TYPE:
		put_name(d, tnf_type_get_name(v));
		break;
	case TNF_K_STRING:
		raw_put_string(d, v);
		break;
	default:
		out_char(&d->out, '<');
		put_name(d, tnf_get_type_name(v));
		out_char(&d->out, '>');
		break;
	}
}

static void
put_item(struct dump *d, tnf_datum_t v)
{
	if (v == TNF_DATUM_NULL)
		print_null(&d->out);
	else if (tnf_is_inline(v))
		raw_put_scalar(d, v);
	else
		raw_put_reference(d, v);
	out_char(&d->out, '\n');
}

static void
put_slots(struct dump *d, tnf_datum_t r)
{
	unsigned i, n = tnf_get_slot_count(r);
	tnf_datum_t arg;

	for (i = 0; i < n && n != (unsigned)-1; i++) {
		raw_put_label(d, tnf_get_slot_name(r, i));
		put_item(d, tnf_get_slot_indexed(r, i));
		if (i > 0 || (arg = tnf_get_tag_arg(r)) == TNF_DATUM_NULL)
			continue;
		raw_put_label(d, "tnf_tag_arg");
		put_item(d, arg);
	}
}

static void
put_elements(struct dump *d, tnf_datum_t r)
{
	unsigned i, n;

	if (tnf_is_string(r)) {
		raw_put_label(d, "chars");
		raw_put_string(d, r);
		out_char(&d->out, '\n');
		return;
	}
	n = tnf_get_element_count(r);
	for (i = 0; i < n && n != (unsigned)-1; i++) {
		out_u64_width(&d->out, i, 24);
		out_char(&d->out, ' ');
		put_item(d, tnf_get_element(r, i));
	}
}

static void
raw_put_record(struct dump *d, tnf_datum_t r)
{
	print_hex_left(&d->out, tnf_get_offset(r), 8);
	out_lit(&d->out, ": {\n");
	put_slots(d, r);
	if (tnf_is_array(r))
		put_elements(d, r);
	out_lit(&d->out, "\t}\n");
}

/* What libtnf could not make sense of since the last call, once a block. */
static bool
raw_tell_damage(struct raw *r, uint64_t *at)
{
	const char *text;
	uint64_t offset, block;
	tnf_errcode_t code = tnf_error_last(&offset, &text);

	if (code == TNF_ERR_NONE)
		return false;
	block = offset & ~(uint64_t)(r->block_size - 1);
	*at = block;
	if (block != r->told)
		input_damage(r->d, r->path, block,
		    *text != '\0' ? text : tnf_error_message(code));
	r->told = block;
	return true;
}

/* The header of the next block that can be read, behind the one at 'off'. */
static tnf_datum_t
next_sound_block(struct raw *r, uint64_t off)
{
	unsigned n = off < r->data_start ? 0 :
	    (unsigned)((off - r->data_start) / r->block_size) + 1;
	unsigned count = (unsigned)tnf_get_block_count(r->tnf);
	tnf_datum_t v;

	for (; n < count; n++) {
		v = tnf_get_block_absolute(r->tnf, n);
		if (!raw_tell_damage(r, &off) && v != TNF_DATUM_NULL)
			return v;
	}
	return TNF_DATUM_NULL;
}

static void
raw_walk(struct raw *r)
{
	tnf_datum_t v = tnf_get_file_header(r->tnf);
	uint64_t at;

	if (raw_tell_damage(r, &at))
		v = next_sound_block(r, 0);
	while (v != TNF_DATUM_NULL && r->d->out.error == 0) {
		raw_put_record(r->d, v);
		raw_tell_damage(r, &at);
		v = tnf_get_next_record(v);
		if (raw_tell_damage(r, &at))
			v = next_sound_block(r, at);
	}
}

static void
raw_file(struct dump *d, const struct input *in)
{
	struct raw r = { .d = d, .path = in->path, .told = UINT64_MAX };
	int err;

	err = tnf_reader_begin((caddr_t)(uintptr_t)in->base, in->size, &r.tnf);
	if (err != TNF_ERR_NONE) {
		input_refused(d, in->path, err);
		return;
	}
	tnf_get_geometry(r.tnf, &r.block_size, &r.data_start);
	raw_walk(&r);
	tnf_reader_end(r.tnf);
}

void
raw_run(struct dump *d, char **paths)
{
	struct input in;

	for (; *paths != NULL; paths++) {
		if (!input_open(d, *paths, &in))
			continue;
		raw_file(d, &in);
		tnf_image_close(in.base, in.size);
	}
}
