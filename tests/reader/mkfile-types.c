/*
 * mkfile-types.c - makes trace files: header, directory, definitions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reader/mkfile-impl.h"


/*
 * Letters: M metatype and root, a abstract, s scalar, d derived (rest: base),
 * A array (rest: element), T struct (rest: slots).  '?' in front of a type
 * stands for 32 or 64 bits of the writer.
 */
static const struct { char meta; const char *name, *rest; } core[] = {
	{ 'M', "tnf_struct_type", "tnf_tag tnf_name tnf_properties "
	    "tnf_slot_types tnf_type_size tnf_slot_names" },
	{ 'M', "tnf_type", "tnf_tag tnf_name tnf_properties" },
	{ 'M', "tnf_scalar_type", "tnf_tag tnf_name tnf_properties "
	    "tnf_type_size tnf_align" },
	{ 'M', "tnf_derived_type", "tnf_tag tnf_name tnf_properties "
	    "tnf_derived_base" },
	{ 'M', "tnf_array_type", "tnf_tag tnf_name tnf_properties "
	    "tnf_slot_types tnf_header_size tnf_element_type" },
	{ 'M', "tnf_probe_type", "tnf_tag tnf_name tnf_properties "
	    "tnf_slot_types tnf_type_size tnf_slot_names tnf_string" },
	{ 'a', "tnf_inline", "" }, { 'a', "tnf_tagged", "" },
	{ 'a', "tnf_scalar", "" }, { 'a', "tnf_derived", "" },
	{ 'a', "tnf_array", "" }, { 'a', "tnf_struct", "" },
	{ 's', "tnf_char", "1" }, { 's', "tnf_int8", "1" },
	{ 's', "tnf_uint8", "1" }, { 's', "tnf_int16", "2" },
	{ 's', "tnf_uint16", "2" }, { 's', "tnf_int32", "4" },
	{ 's', "tnf_uint32", "4" }, { 's', "tnf_int64", "8" },
	{ 's', "tnf_uint64", "8" }, { 's', "tnf_float32", "4" },
	{ 's', "tnf_float64", "8" },
	{ 'd', "tnf_align", "tnf_uint32" },
	{ 'd', "tnf_header_size", "tnf_uint32" },
	{ 'd', "tnf_self_size", "tnf_uint32" },
	{ 'd', "tnf_type_size", "tnf_uint32" },
	{ 'd', "tnf_derived_base", "tnf_type" },
	{ 'd', "tnf_element_type", "tnf_type" },
	{ 'd', "tnf_tag", "tnf_type" }, { 'd', "tnf_tag_arg", "tnf_tagged" },
	{ 'A', "tnf_string", "tnf_char" }, { 'A', "tnf_type_array", "tnf_type" },
	{ 'd', "tnf_name", "tnf_string" },
	{ 'A', "tnf_name_array", "tnf_name" },
	{ 'd', "tnf_properties", "tnf_type_array" },
	{ 'd', "tnf_slot_types", "tnf_type_array" },
	{ 'd', "tnf_slot_names", "tnf_name_array" },
	{ 'd', "tnf_opaque", "?" }, { 'd', "tnf_size", "?" },
	{ 'd', "tnf_probe_event", "tnf_tag" },
	{ 'd', "tnf_time_base", "tnf_int64" },
	{ 'd', "tnf_time_delta", "tnf_uint32" },
	{ 'd', "tnf_pid", "tnf_int32" }, { 'd', "tnf_lwpid", "tnf_uint32" },
	{ 'd', "tnf_kthread_id", "tnf_opaque" },
	{ 'd', "tnf_symbol", "tnf_opaque" },
	{ 'd', "tnf_cpuid", "tnf_int32" },
	{ 'A', "tnf_symbols", "tnf_symbol" },
	{ 'A', "tnf_uint8_array", "tnf_uint8" },
	{ 'T', "tnf_file_header", "tnf_tag:tnf_tag file_version:tnf_uint32 "
	    "file_header_size:tnf_uint32 file_logical_size:tnf_uint32 "
	    "block_header_size:tnf_uint32 block_size:tnf_uint32 "
	    "directory_size:tnf_uint32 block_count:tnf_uint32 "
	    "blocks_valid:tnf_uint32" },
	{ 'T', "tnf_block_header", "tnf_tag:tnf_tag generation:tnf_uint32 "
	    "bytes_valid:tnf_uint16 A_lock:tnf_uint8 B_lock:tnf_uint8 "
	    "next_block:tnf_opaque" },
	{ 'T', "tnf_sched_rec", "tnf_tag:tnf_tag tid:tnf_uint32 "
	    "lwpid:tnf_lwpid pid:tnf_pid time_base:tnf_time_base" },
	{ 'T', "tnf_kernel_schedule", "tnf_tag:tnf_tag tid:tnf_kthread_id "
	    "lwpid:tnf_lwpid pid:tnf_pid time_base:tnf_time_base "
	    "cpuid:tnf_cpuid" },
};

#define N_CORE	(sizeof core / sizeof core[0])

static uint32_t
up(uint32_t v, uint32_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static void
impossible(const char *what, const char *name)
{
	fprintf(stderr, "mkfile: %s: %s\n", name, what);
	abort();
}

struct mk_type *
mk_find(struct mk *m, const char *name)
{
	unsigned i;

	for (i = 0; i < m->n_types; i++)
		if (strcmp(m->types[i].name, name) == 0)
			return &m->types[i];
	impossible("no such type", name);
	return NULL;
}

uint32_t
mk_type_pos(struct mk *m, const char *name)
{
	return mk_find(m, name)->pos;
}

static uint32_t
tag_alloc(struct mk *m, uint32_t n)
{
	uint32_t *block = &m->tag_block, at;
	uint16_t *used = &m->used[*block / m->o.block_size];

	n = up(n, 8);
	if (*used + n > m->o.block_size) {
		*block += m->o.block_size;
		if (*block >= m->data_start &&
		    (*block = mk_take_block(m)) == 0)
			impossible("no room for definitions", "tags");
		mk_block_header(m, *block, 0xffffffff);
		used = &m->used[*block / m->o.block_size];
		*used = (uint16_t)m->header_size;
	}
	at = *block + *used;
	*used = (uint16_t)(*used + n);
	mk_put16(m, *block + 8, *used);
	return at;
}

static uint32_t
put_chars(struct mk *m, const char *s, const char *type)
{
	uint32_t size = up(8 + (uint32_t)strlen(s) + 1, 4);
	uint32_t at = tag_alloc(m, size);

	mk_put32(m, at, 0x80000002 | mk_type_pos(m, type));
	mk_put32(m, at + 4, size);
	memcpy(m->p + at + 8, s, strlen(s));
	return 0x80000000 | at;
}

static uint32_t
begin_array(struct mk *m, unsigned n, const char *type, uint32_t *at)
{
	*at = tag_alloc(m, 8 + 4 * n);
	mk_put32(m, *at, 0x80000002 | mk_type_pos(m, type));
	mk_put32(m, *at + 4, 8 + 4 * n);
	return 0x80000000 | *at;
}

/* The properties of a type, after its letter. */
static uint32_t
put_properties(struct mk *m, const struct mk_type *t)
{
	static const struct { char meta; const char *props[4]; } table[] = {
		{ 'M', { "tnf_tagged", "tnf_struct", "tnf_type" } },
		{ 's', { "tnf_inline", "tnf_scalar" } },
		{ 'd', { "tnf_derived" } },
		{ 'A', { "tnf_array", "tnf_tagged" } },
		{ 'T', { "tnf_tagged", "tnf_struct" } },
		{ 'P', { "tnf_tagged", "tnf_struct" } },
	};
	unsigned i, j, n;
	uint32_t ref, at;

	for (i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (table[i].meta != t->meta)
			continue;
		for (n = 0; table[i].props[n] != NULL; n++)
			;
		ref = begin_array(m, n, "tnf_properties", &at);
		for (j = 0; j < n; j++)
			mk_put32(m, at + 8 + 4 * j, 0x80000000 |
			    mk_type_pos(m, table[i].props[j]));
		return ref;
	}
	return 0;
}

/* "name:type ..."; "type" alone is both. */
static void
parse_slots(struct mk *m, struct mk_type *t, const char *text)
{
	char word[128], *colon;
	const struct mk_type *type;
	struct mk_slot *s;
	uint32_t off = 0, align;
	int n;

	t->slots = calloc(32, sizeof *t->slots);
	for (; sscanf(text, " %127s%n", word, &n) == 1; text += n) {
		s = &t->slots[t->n++];
		colon = strchr(word, ':');
		type = mk_find(m, colon != NULL ? colon + 1 : word);
		if (colon != NULL)
			*colon = '\0';
		snprintf(s->name, sizeof s->name, "%.63s", word);
		align = type->tagged ? 4 : type->align;
		s->type = (unsigned)(type - m->types);
		s->size = type->tagged ? 4 : type->size;
		s->offset = off = up(off, align);
		s->how = type->how;
		off += s->size;
	}
	t->size = up(off, 4);	/* of the C struct that begins with a tag */
	for (n = 0; (unsigned)n < t->n; n++)
		if (!m->types[t->slots[n].type].tagged &&
		    m->types[t->slots[n].type].align == 8)
			t->size = up(off, 8);
}

static uint32_t
put_slot_types(struct mk *m, const struct mk_type *t)
{
	uint32_t at, ref = begin_array(m, t->n, "tnf_slot_types", &at);
	unsigned i;

	for (i = 0; i < t->n; i++)
		mk_put32(m, at + 8 + 4 * i, 0x80000000 |
		    m->types[t->slots[i].type].pos);
	return ref;
}

static uint32_t
put_slot_names(struct mk *m, const struct mk_type *t)
{
	uint32_t at, ref = begin_array(m, t->n, "tnf_slot_names", &at);
	unsigned i;

	for (i = 0; i < t->n; i++)
		mk_put32(m, at + 8 + 4 * i,
		    put_chars(m, t->slots[i].name, "tnf_name"));
	return ref;
}

static const char *
base_of(const struct mk *m, const char *rest)
{
	if (strcmp(rest, "?") != 0)
		return rest;
	return m->o.narrow ? "tnf_uint32" : "tnf_uint64";
}

/* Reserves the record; the records to which it refers perhaps have no place yet. */
static struct mk_type *
reserve(struct mk *m, char meta, const char *name, const char *rest)
{
	static const char letters[] = "MasdATP";
	static const uint32_t sizes[] = { 24, 12, 20, 16, 24, 24, 28 };
	struct mk_type *t = &m->types[m->n_types++], *base;

	if (m->n_types == MK_TYPES_MAX)
		impossible("too many types", name);
	snprintf(t->name, sizeof t->name, "%.63s", name);
	t->meta = meta;
	t->pos = tag_alloc(m, sizes[strchr(letters, meta) - letters]);
	t->tagged = meta != 's';
	t->how = meta == 'A' && strcmp(name, "tnf_string") == 0 ? 's' : 'r';
	t->align = 4;
	if (meta == 's') {
		t->size = t->align = (uint32_t)atoi(rest);
		t->how = strncmp(name, "tnf_float", 9) == 0 ? 'f' : 'i';
		if (t->align == 8 && m->o.align4)
			t->align = 4;
	} else if (meta == 'd') {
		base = mk_find(m, base_of(m, rest));
		t->size = base->size;
		t->align = base->align;
		t->tagged = base->tagged;
		t->how = base->how;
	}
	return t;
}

static void
fill_struct(struct mk *m, struct mk_type *t, const char *rest)
{
	parse_slots(m, t, rest);
	mk_put32(m, t->pos + 12, put_slot_types(m, t));
	mk_put32(m, t->pos + 16, t->size);
	if (t->meta != 'M')
		mk_put32(m, t->pos + 20, put_slot_names(m, t));
}

static void
fill(struct mk *m, struct mk_type *t, const char *rest)
{
	static const struct { char letter; const char *meta; } metas[] = {
		{ 'M', "tnf_struct_type" }, { 'a', "tnf_type" },
		{ 's', "tnf_scalar_type" }, { 'd', "tnf_derived_type" },
		{ 'A', "tnf_array_type" }, { 'T', "tnf_struct_type" },
		{ 'P', "tnf_probe_type" },
	};
	unsigned i;

	for (i = 0; metas[i].letter != t->meta; i++)
		;
	mk_put32(m, t->pos, 0x80000002 | mk_type_pos(m, metas[i].meta));
	mk_put32(m, t->pos + 4, put_chars(m, t->name, "tnf_name"));
	mk_put32(m, t->pos + 8, put_properties(m, t));
	switch (t->meta) {
	case 's':
		mk_put32(m, t->pos + 12, t->size);
		mk_put32(m, t->pos + 16, t->align);
		break;
	case 'd':
		mk_put32(m, t->pos + 12, 0x80000000 |
		    mk_type_pos(m, base_of(m, rest)));
		break;
	case 'A':
		mk_put32(m, t->pos + 16, 8);
		mk_put32(m, t->pos + 20, 0x80000000 | mk_type_pos(m, rest));
		break;
	case 'M':
	case 'T':
	case 'P':
		fill_struct(m, t, rest);
		break;
	default:
		break;
	}
}

unsigned
mk_probe(struct mk *m, const char *name, const char *attrs, const char *slots)
{
	char text[1024];
	struct mk_type *t = reserve(m, 'P', name, "");
	unsigned id = m->n_probes++;

	if (m->n_probes == MK_PROBES_MAX)
		impossible("too many probes", name);
	snprintf(text, sizeof text,
	    "tnf_tag:tnf_probe_event time_delta:tnf_time_delta %s", slots);
	fill(m, t, text);
	mk_put32(m, t->pos + 24, put_chars(m, attrs, "tnf_string"));
	m->probes[id].type = t;
	m->probes[id].word = m->directory_next;
	mk_put32(m, m->directory_next, 0x80000000 | t->pos);
	m->directory_next += 4;
	return id;
}

void
mk_record_type(struct mk *m, const char *name, const char *slots)
{
	char text[1024];

	snprintf(text, sizeof text, "tnf_tag:tnf_tag %s", slots);
	fill(m, reserve(m, 'T', name, ""), text);
}

void
mk_derived_type(struct mk *m, const char *name, const char *base)
{
	fill(m, reserve(m, 'd', name, base), base);
}

static void
put_file_header(struct mk *m, uint32_t directory_size)
{
	const uint32_t words[] = { 0x544e4600, 0x80000002 | m->o.block_size,
	    1, 36, 0, m->header_size, m->o.block_size, directory_size,
	    (uint32_t)(m->size / m->o.block_size), 0 };
	uint32_t shift = 0, i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		mk_put32(m, 4 * i, words[i]);
	while (((uint64_t)1 << shift) < m->size)
		shift++;
	mk_put32(m, 16, shift);
	m->directory_next = m->o.block_size + 12;
}

static void
put_directory(struct mk *m)
{
	static const char *const first[] = { "tnf_file_header",
	    "tnf_block_header", "tnf_struct_type" };
	uint32_t i;

	for (i = 0; i < 3; i++)
		mk_put32(m, m->o.block_size + 4 * i,
		    0x80000000 | mk_type_pos(m, first[i]));
}

struct mk *
mk_new(const struct mk_opts *o)
{
	struct mk *m = calloc(1, sizeof *m);
	uint32_t directory = o->kernel ? 0x1000 : 0x10000;
	unsigned i;

	m->o = *o;
	if (m->o.block_size == 0)
		m->o.block_size = 512;
	if (m->o.data_blocks == 0)
		m->o.data_blocks = 64;
	if (m->o.tag_reserve == 0)
		m->o.tag_reserve = 0x8000;
	if (directory < 2 * m->o.block_size)
		directory = 2 * m->o.block_size;
	m->header_size = o->narrow ? 16 : 24;
	m->data_start = directory + m->o.tag_reserve;
	m->generation = 1;
	m->size = m->data_start + (size_t)m->o.data_blocks * m->o.block_size;
	m->p = calloc(1, m->size);
	m->used = calloc(m->size / m->o.block_size, sizeof *m->used);
	m->held = calloc(m->size / m->o.block_size, sizeof *m->held);
	m->tag_block = directory;
	put_file_header(m, directory);
	mk_block_header(m, directory, 0xffffffff);
	m->used[directory / m->o.block_size] = (uint16_t)m->header_size;
	for (i = 0; i < N_CORE; i++)
		reserve(m, core[i].meta, core[i].name, core[i].rest);
	for (i = 0; i < N_CORE; i++)
		fill(m, &m->types[i], core[i].rest);
	put_directory(m);
	m->string_type = mk_type_pos(m, "tnf_string");
	m->sched_type = mk_find(m, o->kernel ?
	    "tnf_kernel_schedule" : "tnf_sched_rec");
	return m;
}
