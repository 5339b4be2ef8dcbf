/*
 * raw.c - every record of a file, in file order (-r).
 *
 * Facts of types and texts of references are remembered, since most records are of few types
 * and refer to the same few others.
 */
#include <tnf/tnf.h>

#include "common/map.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/pretty.h"

#define LABEL		24u	/* columns of a member's name */
#define TEXT_MAX	64u	/* of a reference that is kept as text */
#define RAW_USED	64u	/* a power of two */

/* Facts that hold for all values of one type.  The library keeps one name for a type, so
   the name's address identifies the type. */
struct raw_type {
	const char *name;
	size_t	    len;
	bool	    is_inline;
	bool	    opaque;
	bool	    ask;	/* whether it is opaque must be asked each time: there is
				   something wrong, which is told each time */
	tnf_kind_t  kind;
};

/* A reference and its text when it was printed last: most events of a block name one
   schedule record, and all events of a probe its definition. */
struct raw_text {
	tnf_datum_t v;
	unsigned len;
	char	 text[TEXT_MAX];
};

struct raw_slot {
	const char *name;
	size_t	 len;
	char	 label[LABEL + 1];	/* the name with blanks, if it is no longer */
	const struct raw_type *type;	/* of the value before; or NULL */
	struct raw_text text;
};

/* How records of a type are printed. */
struct raw_plan {
	unsigned n;
	struct raw_slot *slots;
	const struct raw_type *arg_type;	/* of the tag's argument before; or NULL */
	struct raw_text arg;
	bool	 is_array, made;
};

struct raw_records {
	struct dump *d;
	struct map   types;		/* by the address of their names: struct raw_type */
	struct map   plans;		/* by the same: struct raw_plan */
	/* Most records are of few types: the plans that were used last. */
	struct { const char *name; struct raw_plan *plan; } used[RAW_USED];
};

/* "%24s " */
static void
raw_put_label(struct dump *d, const char *s, size_t n)
{
	if (n < LABEL)
		tnf_out_pad(&d->out, LABEL - (unsigned)n);
	print_chars(&d->out, s, n);
	out_char(&d->out, ' ');
}

static bool
raw_is_opaque(tnf_datum_t v)
{
	return tnf_type_get_property(tnf_get_type(v), "tnf_opaque") != TNF_DATUM_NULL;
}

static void
raw_learn(struct raw_type *t, const char *name, tnf_datum_t v)
{
	t->name = name;
	t->len = strlen(name);
	t->is_inline = tnf_is_inline(v);
	t->kind = tnf_get_kind(v);
	if (t->is_inline && (t->kind == TNF_K_UINT32 || t->kind == TNF_K_UINT64)) {
		tnf_datum_t type = tnf_get_type(v);
		t->ask = type == TNF_DATUM_NULL || !tnf_is_type(type);
		t->opaque = !t->ask && raw_is_opaque(v);
	}
}

/* The type of 'v'; 'last' is tried first. */
static const struct raw_type *
raw_type_of(struct raw_records *r, tnf_datum_t v, const struct raw_type *last)
{
	const char *name = tnf_get_type_name(v);
	bool fresh;

	if (last != NULL && last->name == name)
		return last;
	struct raw_type *t = tnf_xmap_put(&r->types, &name, sizeof(name), &fresh);
	if (fresh)
		raw_learn(t, name, v);
	return t;
}

static void
raw_put_scalar(struct dump *d, tnf_datum_t v, const struct raw_type *type)
{
	struct tnf_type t = { .opaque = type->ask ? raw_is_opaque(v) : type->opaque };
	struct tnf_value val = { .type = &t, .kind = type->kind };

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
	print_scalar(d, &d->out, &val);
}

static void
raw_put_string(struct dump *d, tnf_datum_t v)
{
	const char *s = tnf_get_chars(v);

	print_quoted(&d->out, s == NULL ? "" : s, s == NULL ? 0 : strlen(s));
}

/* Prints the place and the name of the record that is referred to.  false: something is
   wrong, which is told each time. */
static bool
raw_put_reference(struct dump *d, tnf_datum_t v, const struct raw_type *t)
{
	const char *name;

	print_hex_left(&d->out, tnf_get_offset(v), 8);
	out_char(&d->out, ' ');
	switch (t->kind) {
	case TNF_K_TYPE:
		if ((name = tnf_type_get_name(v)) == NULL)
			return false;
		print_name(&d->out, name);
		break;
	case TNF_K_STRING:
		raw_put_string(d, v);
		break;
	default:
		out_char(&d->out, '<');
		print_chars(&d->out, t->name, t->len);
		out_char(&d->out, '>');
		break;
	}
	return true;
}

/* As raw_put_reference(), but the text is reused for the next reference to the same place.
   Strings are not remembered: a writer may put another string at the same place. */
static void
raw_put_remembered(struct dump *d, tnf_datum_t v, const struct raw_type *t,
    struct raw_text *m)
{
	struct out *o = &d->out;

	if (m->v == v && v != TNF_DATUM_NULL) {
		tnf_out_bytes(o, m->text, m->len);
		return;
	}
	out_room(o);
	const char *start = o->p;
	m->v = TNF_DATUM_NULL;
	if (raw_put_reference(d, v, t) && t->kind != TNF_K_STRING && o->p > start && (size_t)(o->p - start) <= TEXT_MAX) {
		m->v = v;
		m->len = (unsigned)(o->p - start);
		memcpy(m->text, start, m->len);
	}
}

static const struct raw_type *
put_item(struct raw_records *r, tnf_datum_t v, const struct raw_type *last, struct raw_text *m)
{
	struct dump *d = r->d;

	if (v == TNF_DATUM_NULL)
		print_null(&d->out);
	else {
		last = raw_type_of(r, v, last);
		if (last->is_inline)
			raw_put_scalar(d, v, last);
		else
			raw_put_remembered(d, v, last, m);
	}
	out_char(&d->out, '\n');
	return last;
}

static void
put_slots(struct raw_records *r, tnf_datum_t rec, struct raw_plan *plan)
{
	struct out *o = &r->d->out;
	tnf_datum_t arg;

	for (unsigned i = 0; i < plan->n; i++) {
		struct raw_slot *s = &plan->slots[i];

		if (s->len <= LABEL && !o->escape) {
			out_room(o);
			memcpy(o->p, s->label, sizeof(s->label));
			o->p += sizeof(s->label);
		} else
			raw_put_label(r->d, s->name, s->len);
		s->type = put_item(r, tnf_get_slot_indexed(rec, i), s->type, &s->text);
		if (i > 0 || (arg = tnf_get_tag_arg(rec)) == TNF_DATUM_NULL)
			continue;
		raw_put_label(r->d, "tnf_tag_arg", 11);
		plan->arg_type = put_item(r, arg, plan->arg_type, &plan->arg);
	}
}

static void
put_elements(struct raw_records *r, tnf_datum_t rec)
{
	const struct raw_type *type = NULL;
	struct dump *d = r->d;
	struct raw_text text;

	if (tnf_is_string(rec)) {
		raw_put_label(d, "chars", 5);
		raw_put_string(d, rec);
		out_char(&d->out, '\n');
		return;
	}
	text.v = TNF_DATUM_NULL;
	unsigned n = tnf_get_element_count(rec);
	for (unsigned i = 0; i < n && n != (unsigned)-1; i++) {
		tnf_out_u64_width(&d->out, i, 24);
		out_char(&d->out, ' ');
		type = put_item(r, tnf_get_element(rec, i), type, &text);
	}
}

static void
raw_make_plan(struct raw_plan *p, tnf_datum_t rec)
{
	unsigned i, n = tnf_get_slot_count(rec);

	p->made = n != (unsigned)-1;
	p->is_array = tnf_is_array(rec);
	p->n = n == (unsigned)-1 ? 0 : n;
	p->slots = p->n == 0 ? NULL : tnf_xcalloc(p->n, sizeof(*p->slots));
	for (i = 0; i < p->n; i++) {
		struct raw_slot *s = &p->slots[i];

		s->name = tnf_get_slot_name(rec, i);
		s->len = strlen(s->name);
		memset(s->label, ' ', sizeof(s->label));
		if (s->len <= LABEL)
			memcpy(s->label + LABEL - s->len, s->name, s->len);
	}
}

static struct raw_plan *
raw_plan_of(struct raw_records *r, tnf_datum_t rec)
{
	const char *name = tnf_get_type_name(rec);
	unsigned i = (unsigned)((uintptr_t)name >> 4) % RAW_USED;

	if (r->used[i].name == name && name != NULL)
		return r->used[i].plan;
	struct raw_plan *p = tnf_xmap_put(&r->plans, &name, sizeof(name), NULL);
	if (!p->made)
		raw_make_plan(p, rec);
	if (p->made) {
		r->used[i].name = name;
		r->used[i].plan = p;
	}
	return p;
}

/* Prints the record, which is not NULL, with its members.  tnf_error_last() then tells any
   error in it. */
static void
raw_record_put(struct raw_records *r, tnf_datum_t rec)
{
	struct raw_plan *plan = raw_plan_of(r, rec);
	struct dump *d = r->d;

	print_hex_left(&d->out, tnf_get_offset(rec), 8);
	out_lit(&d->out, ": {\n");
	put_slots(r, rec, plan);
	if (plan->is_array)
		put_elements(r, rec);
	out_lit(&d->out, "\t}\n");
}

static struct raw_records *
raw_records_new(struct dump *d)
{
	struct raw_records *r = tnf_xcalloc(1, sizeof(*r));

	r->d = d;
	tnf_map_init(&r->types, sizeof(struct raw_type));
	tnf_map_init(&r->plans, sizeof(struct raw_plan));
	return r;
}

static void
raw_records_free(struct raw_records *r)
{
	struct raw_plan *p;
	size_t at = 0;

	while ((p = tnf_map_next(&r->plans, &at, NULL, NULL)) != NULL)
		free(p->slots);
	tnf_map_free(&r->plans);
	tnf_map_free(&r->types);
	free(r);
}

struct raw {
	struct dump *d;
	TNF	    *tnf;
	const char  *path;
	struct raw_records *records;
	uint32_t     block_size;
	uint32_t     data_start;
	uint64_t     blocks_end;	/* offset behind the last block */
	uint64_t     told;		/* damaged block reported last */
};

/* Tells, once for each block, about damage that libtnf has met since the last call.
   *ret_block is the offset of the damaged block. */
static bool
raw_tell_damage(struct raw *r, uint64_t *ret_block)
{
	const char *text;
	uint64_t offset, block;
	tnf_errcode_t code = tnf_error_last(&offset, &text);

	if (code == TNF_ERR_NONE)
		return false;
	block = offset & ~(uint64_t)(r->block_size - 1);
	*ret_block = block;
	if (block != r->told)
		input_damage(r->d, r->path, block, *text != '\0' ? text : tnf_error_message(code));
	r->told = block;
	return true;
}

/* The header of the next readable block after the one at 'off'. */
static tnf_datum_t
next_sound_block(struct raw *r, uint64_t off)
{
	uint64_t at;

	off = off < r->data_start ? r->data_start : off + r->block_size;
	for (; off < r->blocks_end; off += r->block_size) {
		unsigned n = (unsigned)((off - r->data_start) / r->block_size);
		tnf_datum_t v = tnf_get_block_absolute(r->tnf, n);
		if (!raw_tell_damage(r, &at) && v != TNF_DATUM_NULL)
			return v;
	}
	return TNF_DATUM_NULL;
}

static void
raw_walk(struct raw *r)
{
	uint64_t at;
	tnf_datum_t v = tnf_get_file_header(r->tnf);

	if (raw_tell_damage(r, &at))
		v = next_sound_block(r, 0);
	while (v != TNF_DATUM_NULL && r->d->out.error == 0) {
		raw_record_put(r->records, v);
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
	int err = tnf_reader_begin((caddr_t)(uintptr_t)in->base, in->size, &r.tnf);

	if (err != TNF_ERR_NONE) {
		input_refused(d, in->path, err);
		return;
	}
	tnf_get_geometry(r.tnf, &r.block_size, &r.data_start);
	r.blocks_end = r.data_start + (uint64_t)tnf_get_block_count(r.tnf) * r.block_size;
	r.records = raw_records_new(d);
	raw_walk(&r);
	raw_records_free(r.records);
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
