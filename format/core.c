/*
 * core.c - what core.h's table of types (TNF_CORE_TYPES) means, as C data; the header of a file;
 * and the writing of definitions.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "format/core.h"

#define ROW_A(id)	{ "tnf_" #id, TNF_CORE_type, 0, 0 },
#define ROW_S(id, s)	{ "tnf_" #id, TNF_CORE_scalar_type, 0, s },
#define ROW_D(id, b)	{ "tnf_" #id, TNF_CORE_derived_type, TNF_CORE_##b, 0 },
#define ROW_R(id, e)	{ "tnf_" #id, TNF_CORE_array_type, TNF_CORE_##e, 0 },
#define ROW_T(id, s)	{ "tnf_" #id, TNF_CORE_struct_type, 0, s },

const struct tnf_core_type tnf_core_types[TNF_CORE_COUNT] = {
	TNF_CORE_TYPES(ROW_A, ROW_S, ROW_D, ROW_R, ROW_T)
};

#define ID(id)	TNF_CORE_##id
#define META3	ID(tag), ID(name), ID(properties)
#define U32	ID(uint32)

static const struct tnf_core_slots core_structs[] = {
	{ ID(type), 3, { META3 }, { NULL } },
	{ ID(scalar_type), 5, { META3, ID(type_size), ID(align) }, { NULL } },
	{ ID(derived_type), 4, { META3, ID(derived_base) }, { NULL } },
	{ ID(array_type), 6, { META3, ID(slot_types), ID(header_size),
	    ID(element_type) }, { NULL } },
	{ ID(struct_type), 6, { META3, ID(slot_types), ID(type_size),
	    ID(slot_names) }, { NULL } },
	{ ID(probe_type), 7, { META3, ID(slot_types), ID(type_size),
	    ID(slot_names), ID(string) }, { NULL } },
	{ ID(struct), 0, { 0 }, { NULL } },
	{ ID(file_header), 9, { ID(tag), U32, U32, U32, U32, U32, U32, U32, U32 },
	    { "tnf_tag", "file_version", "file_header_size", "file_logical_size",
	    "block_header_size", "block_size", "directory_size", "block_count",
	    "blocks_valid" } },
	{ ID(block_header), 6, { ID(tag), U32, ID(uint16), ID(uint8), ID(uint8),
	    ID(opaque) }, { "tnf_tag", "generation", "bytes_valid", "A_lock",
	    "B_lock", "next_block" } },
	{ ID(sched_rec), 6, { ID(tag), U32, ID(lwpid), ID(pid), ID(time_base), ID(cpuid) },
	    { "tnf_tag", "tid", "lwpid", "pid", "time_base", "cpuid" } },
	{ ID(kernel_schedule), 6, { ID(tag), ID(kthread_id), ID(lwpid), ID(pid),
	    ID(time_base), ID(cpuid) }, { "tnf_tag", "tid", "lwpid", "pid",
	    "time_base", "cpuid" } },
};

enum tnf_core
tnf_core_find(const char *name)
{
	for (unsigned i = TNF_CORE_type_none + 1; i < TNF_CORE_COUNT; i++)
		if (strcmp(tnf_core_types[i].name, name) == 0)
			return i;
	return TNF_CORE_type_none;
}

const struct tnf_core_slots *
tnf_core_slots(enum tnf_core i)
{
	const struct tnf_core_slots *s = core_structs;

	while (s->type != i)
		s++;
	return s;
}

uint32_t
tnf_core_slot_size(enum tnf_core i)
{
	while (tnf_core_types[i].meta == TNF_CORE_derived_type)
		i = tnf_core_types[i].base;
	return tnf_core_types[i].meta == TNF_CORE_scalar_type ?
	    tnf_core_types[i].size : 4;
}

/* The header of a file is also written at the first hit of a probe: nothing from here on
   allocates. */
void
tnf_header_set(struct tnf_file_header *h, uint32_t block_size,
    uint32_t directory_end, uint64_t size)
{
	h->tag = TNF_HEADER_TAG(block_size);
	h->file_version = TNF_FILE_VERSION;
	h->file_header_size = TNF_FILE_HEADER_SIZE;
	h->block_header_size = sizeof(struct tnf_block_header);
	h->block_size = block_size;
	h->directory_size = directory_end;
	h->block_count = (uint32_t)(size / block_size);
	for (h->file_logical_size = 0; 1ull << h->file_logical_size < size;)
		h->file_logical_size++;
}

static int64_t
header_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int
header_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
tnf_boot_id(uint8_t ret[TNF_BOOT_ID_SIZE])
{
	char text[64];
	ssize_t len, i;
	int n = 0, fd;

	memset(ret, 0, TNF_BOOT_ID_SIZE);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	len = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < len && n < 2 * TNF_BOOT_ID_SIZE; i++)
		if (header_hex(text[i]) >= 0) {
			ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | header_hex(text[i]));
			n++;
		}
	return n == 2 * TNF_BOOT_ID_SIZE;
}

void
tnf_boot_id_text(const uint8_t id[TNF_BOOT_ID_SIZE], char ret[TNF_BOOT_ID_TEXT])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned i = 0; i < TNF_BOOT_ID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*ret++ = '-';
		*ret++ = hex[id[i] >> 4];
		*ret++ = hex[id[i] & 15];
	}
	*ret = '\0';
}

void
tnf_ext_begin(struct tnf_ext *x, enum tnf_ext_kind kind)
{
	x->size = sizeof(*x);
	x->kind = kind;
	x->start_mono = header_clock(CLOCK_MONOTONIC);
	x->start_wall = header_clock(CLOCK_REALTIME);
	tnf_boot_id(x->boot_id);
}

/* The writing of definitions. */

#define PERMANENT(offset)	((offset) == 0 ? 0 : (offset) | TNF_REF32_PERMANENT)

static uint32_t *
define_room(struct tnf_definer *d, uint32_t size, uint32_t *offset)
{
	uint32_t *r = d->room(d->arg, size, offset);

	if (*offset == 0)
		d->failed = true;
	return r;
}

uint32_t
tnf_define_tag_of(uint32_t ref)
{
	return ref == 0 ? 0 : ref | TNF_REF32_T_TAG;
}

uint32_t
tnf_define_core_tag(struct tnf_definer *d, enum tnf_core i)
{
	return tnf_define_tag_of(tnf_define_core(d, i));
}

uint32_t
tnf_define_text(struct tnf_definer *d, enum tnf_core type, struct tnf_text text)
{
	uint32_t *r, at, size = (uint32_t)(8 + text.len + 1 + 3) & ~3u;

	r = define_room(d, size, &at);
	r[1] = size;
	memcpy(r + 2, text.chars, text.len);
	r[0] = tnf_define_core_tag(d, type);
	return PERMANENT(at);
}

uint32_t
tnf_define_array(struct tnf_definer *d, enum tnf_core type, unsigned n,
    uint32_t **cells)
{
	uint32_t *r, at;

	r = define_room(d, 8 + 4 * n, &at);
	r[1] = 8 + 4 * n;
	*cells = r + 2;
	r[0] = tnf_define_core_tag(d, type);
	return PERMANENT(at);
}

static uint32_t
define_core_list(struct tnf_definer *d, enum tnf_core type, const uint8_t *ids,
    unsigned n)
{
	uint32_t ref, *cells;

	ref = tnf_define_array(d, type, n, &cells);
	for (unsigned i = 0; i < n; i++)
		cells[i] = tnf_define_core(d, ids[i]);
	return ref;
}

static uint32_t
define_properties(struct tnf_definer *d, enum tnf_properties p)
{
	static const struct { uint8_t n, id[3]; } list[] = {
		[TNF_PROPERTIES_SCALAR] = { 2, { TNF_CORE_inline, TNF_CORE_scalar } },
		[TNF_PROPERTIES_DERIVED] = { 1, { TNF_CORE_derived } },
		[TNF_PROPERTIES_TAG_ARG] = { 2, { TNF_CORE_derived, TNF_CORE_tag_arg } },
		[TNF_PROPERTIES_ARRAY] = { 1, { TNF_CORE_array } },
		[TNF_PROPERTIES_TAGGED_ARRAY] = { 2, { TNF_CORE_array, TNF_CORE_tagged } },
		[TNF_PROPERTIES_STRUCT] = { 2, { TNF_CORE_tagged, TNF_CORE_struct } },
		[TNF_PROPERTIES_METATYPE] = { 3, { TNF_CORE_tagged, TNF_CORE_struct,
		    TNF_CORE_type } },
	};

	return p == TNF_PROPERTIES_NULL ? 0 :
	    define_core_list(d, TNF_CORE_properties, list[p].id, list[p].n);
}

uint32_t *
tnf_define_type(struct tnf_definer *d, enum tnf_core meta, struct tnf_text name,
    enum tnf_properties properties, uint32_t *where)
{
	uint32_t *r = define_room(d, tnf_core_types[meta].size, where);

	r[0] = tnf_define_core_tag(d, meta);
	r[1] = tnf_define_text(d, TNF_CORE_name, name);
	r[2] = define_properties(d, properties);
	return r;
}

void
tnf_define_array_rest(struct tnf_definer *d, uint32_t *r, uint32_t element)
{
	static const uint8_t header[] = { TNF_CORE_tag, TNF_CORE_self_size };

	r[TNF_WORD_SLOT_TYPES] = define_core_list(d, TNF_CORE_slot_types, header, 2);
	r[TNF_WORD_ARRAY_HEADER] = 8;
	r[TNF_WORD_ARRAY_ELEMENT] = element;
}

static uint32_t
define_core_slot_names(struct tnf_definer *d, const struct tnf_core_slots *s)
{
	uint32_t ref, *cells;

	if (s->name[0] == NULL)
		return 0;
	ref = tnf_define_array(d, TNF_CORE_slot_names, s->n, &cells);
	for (unsigned i = 0; i < s->n; i++)
		cells[i] = tnf_define_text(d, TNF_CORE_string,
		    (struct tnf_text){ s->name[i], strlen(s->name[i]) });
	return ref;
}

static enum tnf_properties
core_properties(enum tnf_core i)
{
	switch (tnf_core_types[i].meta) {
	case TNF_CORE_scalar_type:
		return TNF_PROPERTIES_SCALAR;
	case TNF_CORE_derived_type:
		return i == TNF_CORE_probe_event ? TNF_PROPERTIES_TAG_ARG :
		    TNF_PROPERTIES_DERIVED;
	case TNF_CORE_array_type:
		return i == TNF_CORE_array ? TNF_PROPERTIES_ARRAY :
		    TNF_PROPERTIES_TAGGED_ARRAY;
	case TNF_CORE_struct_type:
		return i == TNF_CORE_struct ? TNF_PROPERTIES_NONE :
		    i <= TNF_CORE_probe_type ? TNF_PROPERTIES_METATYPE :
		    TNF_PROPERTIES_STRUCT;
	default:
		return TNF_PROPERTIES_NULL;
	}
}

/* The members behind tag, name and properties. */
static void
define_core_rest(struct tnf_definer *d, enum tnf_core i, uint32_t *r)
{
	const struct tnf_core_type *c = &tnf_core_types[i];
	const struct tnf_core_slots *s;

	switch (c->meta) {
	case TNF_CORE_scalar_type:
		r[TNF_WORD_SCALAR_SIZE] = r[TNF_WORD_SCALAR_ALIGN] = c->size;
		break;
	case TNF_CORE_derived_type:
		r[TNF_WORD_DERIVED_BASE] = tnf_define_core(d, c->base);
		break;
	case TNF_CORE_array_type:
		if (i == TNF_CORE_array)	/* the property has no slots */
			r[TNF_WORD_ARRAY_HEADER] = 8;
		else
			tnf_define_array_rest(d, r, tnf_define_core(d, c->base));
		break;
	case TNF_CORE_struct_type:
		s = tnf_core_slots(i);
		r[TNF_WORD_SLOT_TYPES] = define_core_list(d, TNF_CORE_slot_types,
		    s->slot, s->n);
		r[TNF_WORD_STRUCT_SIZE] = c->size;
		r[TNF_WORD_SLOT_NAMES] = define_core_slot_names(d, s);
		break;
	}
}

uint32_t
tnf_define_core(struct tnf_definer *d, enum tnf_core i)
{
	const struct tnf_core_type *c = &tnf_core_types[i];
	uint32_t *r;

	if (i == TNF_CORE_type_none)
		return 0;
	/* After a failure nothing is begun: types in circles would never end. */
	if (d->core[i] == 0 && !d->failed) {
		r = tnf_define_type(d, c->meta, (struct tnf_text){ c->name,
		    strlen(c->name) }, core_properties(i), &d->core[i]);
		define_core_rest(d, i, r);
	}
	return PERMANENT(d->core[i]);
}
