/*
 * defs.c - the part of the buffer that never changes: header, directory, types.
 *
 * Types refer to each other in circles.  So a type's place is remembered
 * before its members are written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/com.h>

#include "kernel-probes/catalogue.h"
#include "kernel-probes/defs.h"
#include "kernel-probes/deftypes.h"
#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

#define NAMES_MAX	10	/* slots of a struct, properties of a type */
#define PERMANENT(off)	(TNF_REF32_PERMANENT | (off))

#define TOUCHED_MAX	16	/* blocks that one definition lies in */

struct out {
	char	*base;
	uint32_t next;			/* free space in a block of definitions */
	uint32_t type[KP_TYPES_MAX];	/* where it is; 0: not written yet */
	bool	 full;
	/* While events are written and read: */
	struct kp *kp;			/* NULL: nobody looks yet */
	struct {
		uint32_t block;
		uint32_t valid;
	} touched[TOUCHED_MAX];
	unsigned n_touched;
};

static uint32_t type_at(struct out *, const char *name);

static uint32_t
tag_of(uint32_t off)
{
	return PERMANENT(off) | TNF_REF32_T_TAG;
}

static void
block_header(struct out *o, uint32_t block, uint32_t generation, uint16_t valid)
{
	struct tnf_block_header *h = (void *)(o->base + block);

	h->tag = tag_of(KP_DIRECTORY + TNF_DIR_BLOCK_HEADER);
	h->bytes_valid = valid;
	h->generation = generation;
}

/* How far a block is filled, which readers see at once or with all the rest. */
static void
fill_to(struct out *o, uint32_t block, uint32_t valid)
{
	unsigned n = o->n_touched;

	if (o->kp == NULL) {
		block_header(o, block, TNF_GENERATION_TAG, valid);
		return;
	}
	if (n == 0 || o->touched[n - 1].block != block) {
		if (n == TOUCHED_MAX) {
			o->full = true;
			return;
		}
		o->touched[o->n_touched++].block = block;
		n++;
	}
	o->touched[n - 1].valid = valid;
}

/* The block behind the one that is full, or 0: 'after' is where that ends, or
   where a new one of the reserve begins. */
static uint32_t
next_block(struct out *o, uint32_t after)
{
	uint32_t block;

	if (after < KP_DATA)
		return after;
	block = o->kp == NULL ? 0 : kp_block_take(o->kp, o->base);
	if (block != 0)
		o->next = block + KP_BLOCK_HEADER;
	return block;
}

/* Space that crosses no block; 0 when there is none. */
static uint32_t
reserve(struct out *o, uint32_t size)
{
	uint32_t at = o->next, block = at & ~(KP_BLOCK_SIZE - 1);

	size = (size + 7) & ~7u;
	if (at == block || at + size > block + KP_BLOCK_SIZE) {
		block = next_block(o, at == block ? at : block + KP_BLOCK_SIZE);
		at = block + KP_BLOCK_HEADER;
	}
	if (block == 0 || o->full) {
		o->full = true;
		return 0;
	}
	o->next = at + size;
	fill_to(o, block, at + size - block);
	return at;
}

/* Words of a record at 'at'; a record that had no room is not written. */
static void
put(struct out *o, uint32_t at, uint32_t index, uint32_t value)
{
	if (at != 0)
		((uint32_t *)(void *)(o->base + at))[index] = value;
}

static uint32_t
string_at(struct out *o, const char *type, const char *s)
{
	uint32_t n = strlen(s) + 1, self = 8 + ((n + 3) & ~3u);
	uint32_t at = reserve(o, self);

	if (at != 0) {
		put(o, at, 0, tag_of(type_at(o, type)));
		put(o, at, 1, self);
		memcpy(o->base + at + 8, s, n);
	}
	return at;
}

/* An array of references: to types (names are theirs) or to new names. */
static uint32_t
list_at(struct out *o, const char *array, char name[][TNF_NAME_MAX + 1],
    unsigned n, bool types)
{
	uint32_t at = reserve(o, 8 + n * 4);

	put(o, at, 0, tag_of(type_at(o, array)));
	put(o, at, 1, 8 + n * 4);
	for (unsigned i = 0; i < n; i++)
		put(o, at, 2 + i, PERMANENT(types ? type_at(o, name[i]) :
		    string_at(o, "tnf_name", name[i])));
	return at;
}

/* Splits "a b" or "a:x b:y"; returns how many, and whether there are names. */
static unsigned
split(const char *s, char first[][TNF_NAME_MAX + 1],
    char second[][TNF_NAME_MAX + 1], bool *named)
{
	unsigned n = 0;

	*named = strchr(s, ':') != NULL;
	while (*s != '\0' && n < NAMES_MAX) {
		size_t len = strcspn(s, " "), head = strcspn(s, " :");

		snprintf(first[n], sizeof first[n], "%.*s", (int)head, s);
		if (head < len)
			snprintf(second[n], sizeof second[n], "%.*s",
			    (int)(len - head - 1), s + head + 1);
		else
			snprintf(second[n], sizeof second[n], "%s", first[n]);
		n++;
		s += len + (s[len] == ' ');
	}
	return n;
}

static uint32_t
properties(struct out *o, const char *props)
{
	char name[NAMES_MAX][TNF_NAME_MAX + 1], unused[NAMES_MAX][TNF_NAME_MAX + 1];
	bool named;
	unsigned n;

	if (props == NULL)
		return 0;
	n = split(props, name, unused, &named);
	return PERMANENT(list_at(o, "tnf_properties", name, n, true));
}

/* Members 3 and 5 of a struct's type record. */
static void
put_slots(struct out *o, uint32_t at, const char *slots, bool names)
{
	char type[NAMES_MAX][TNF_NAME_MAX + 1], name[NAMES_MAX][TNF_NAME_MAX + 1];
	bool named;
	unsigned n = split(slots, type, name, &named);

	put(o, at, 3, PERMANENT(list_at(o, "tnf_slot_types", type, n, true)));
	if (names && named)
		put(o, at, 5, PERMANENT(list_at(o, "tnf_slot_names", name, n, false)));
}

static const struct {
	const char *type;
	uint32_t size;
} meta[] = {
	[META_TYPE] = { "tnf_type", 12 },
	[META_SCALAR] = { "tnf_scalar_type", 20 },
	[META_DERIVED] = { "tnf_derived_type", 16 },
	[META_ARRAY] = { "tnf_array_type", 24 },
	[META_STRUCT] = { "tnf_struct_type", 24 },
	[META_PROBE] = { "tnf_probe_type", 28 },
};

static void
put_type(struct out *o, uint32_t at, const struct kp_type *t)
{
	uint32_t base = 0;

	put(o, at, 0, tag_of(type_at(o, meta[t->meta].type)));
	put(o, at, 1, PERMANENT(string_at(o, "tnf_name", t->name)));
	put(o, at, 2, properties(o, t->props));
	if (t->base != NULL)
		base = PERMANENT(type_at(o, t->base));
	switch (t->meta) {
	case META_SCALAR:
		put(o, at, 3, t->size);
		put(o, at, 4, t->align);
		break;
	case META_DERIVED:
		put(o, at, 3, base);
		break;
	case META_ARRAY:
		put_slots(o, at, t->slots, false);
		put(o, at, 4, 8);
		put(o, at, 5, base);
		break;
	case META_STRUCT:
		put_slots(o, at, t->slots, true);
		put(o, at, 4, t->size);
		break;
	default:
		break;
	}
}

static uint32_t
type_at(struct out *o, const char *name)
{
	const struct kp_type *t;
	unsigned i;

	t = kp_type_find(name, &i);
	if (t == NULL) {
		o->full = true;
		return 0;
	}
	if (o->type[i] == 0 && !o->full) {
		o->type[i] = reserve(o, meta[t->meta].size);
		put_type(o, o->type[i], t);
	}
	return o->type[i];
}

static void
put_directory(struct out *o, uint32_t word, uint32_t target)
{
	put(o, KP_DIRECTORY + word, 0, PERMANENT(target));
}

/* Of a member of that type; references to other records have four bytes. */
static uint32_t
member_size(const char *type)
{
	const struct kp_type *t;
	unsigned i;

	for (t = kp_type_find(type, &i); t != NULL && t->meta == META_DERIVED;)
		t = t->base == NULL ? NULL : kp_type_find(t->base, &i);
	return t != NULL && t->meta == META_SCALAR ? t->size : 4;
}

/* Of an event as C lays it out, which is how the programs write it. */
static uint32_t
event_size(const struct kp_row *row)
{
	uint32_t size = sizeof(struct kp_event), align = 4;

	for (const struct kp_member *m = row->member; m->name != NULL; m++) {
		uint32_t n = member_size(m->type);

		size = ((size + n - 1) & ~(n - 1)) + n;
		align = n > align ? n : align;
	}
	return (size + align - 1) & ~(align - 1);
}

static void
put_probe(struct out *o, unsigned id)
{
	const struct kp_row *row = &kp_catalogue[id];
	char slots[256], attrs[TNF_STRING_MAX + 1];
	uint32_t at = reserve(o, meta[META_PROBE].size);
	int n;

	n = snprintf(slots, sizeof slots,
	    "tnf_probe_event:tnf_tag tnf_time_delta:time_delta");
	for (const struct kp_member *m = row->member; m->name != NULL; m++)
		n += snprintf(slots + n, sizeof slots - n, " %s:%s", m->type, m->name);
	snprintf(attrs, sizeof attrs, "keys %s;file kernel-probes/%s;line %d;",
	    row->keys, row->file, row->line);
	put(o, at, 0, tag_of(type_at(o, "tnf_probe_type")));
	put(o, at, 1, PERMANENT(string_at(o, "tnf_name", row->name)));
	put(o, at, 2, properties(o, "tnf_tagged tnf_struct"));
	put_slots(o, at, slots, true);
	put(o, at, 4, event_size(row));
	put(o, at, 6, PERMANENT(string_at(o, "tnf_string", attrs)));
	put_directory(o, TNF_DIR_STRUCT_TYPE + 4 * id, at);
}

static int64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void
read_boot_id(uint8_t id[16])
{
	char text[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned digit = 0;

	if (fd == -1 || read(fd, text, sizeof text - 1) == -1)
		text[0] = '\0';
	if (fd != -1)
		close(fd);
	for (const char *p = text; *p != '\0' && digit < 32; p++) {
		unsigned v;

		if (*p == '-' || sscanf(p, "%1x", &v) != 1)
			continue;
		id[digit / 2] |= v << (digit % 2 ? 0 : 4);
		digit++;
	}
}

static void
put_extension(struct out *o, uint64_t cookie)
{
	struct tnf_ext *x = (void *)(o->base + TNF_EXT_OFFSET);

	x->version = TNF_EXT_VERSION;
	x->size = sizeof *x;
	x->kind = TNF_EXT_KERNEL;
	x->tag_cursor = (o->next - KP_TAGS + KP_BLOCK_SIZE - 1) / KP_BLOCK_SIZE;
	x->dir_cursor = KP_IMPORT_AT(0);
	x->data_start = KP_DATA;
	x->start_mono = now(CLOCK_MONOTONIC);
	x->start_wall = now(CLOCK_REALTIME);
	read_boot_id(x->boot_id);
	x->cookie = cookie;
	x->magic = TNF_EXT_MAGIC;
}

static void
put_header(struct out *o, size_t size)
{
	struct tnf_file_header *h = (void *)o->base;

	while ((size_t)1 << h->file_logical_size < size)
		h->file_logical_size++;
	h->tag = tag_of(KP_DIRECTORY + TNF_DIR_FILE_HEADER);
	h->file_version = TNF_FILE_VERSION;
	h->file_header_size = TNF_FILE_HEADER_SIZE;
	h->block_header_size = KP_BLOCK_HEADER;
	h->block_size = KP_BLOCK_SIZE;
	h->directory_size = KP_TAGS;
	h->block_count = size / KP_BLOCK_SIZE;
	h->magic = TNF_MAGIC;
}

/* So that the pages are found in the memory of a crashed machine. */
static void
put_page_ids(struct out *o, size_t size, uint64_t cookie)
{
	struct tnf_page_id *id;
	struct tnf_block_header *h;

	for (size_t at = KP_DIRECTORY; at < KP_TAGS; at += KP_BLOCK_SIZE) {
		id = (void *)(o->base + at + KP_BLOCK_SIZE - sizeof *id);
		id->magic = TNF_PAGE_ID_MAGIC;
		id->cookie = cookie;
		id->number = at / KP_BLOCK_SIZE;
	}
	for (size_t at = KP_TAGS; at < size; at += KP_BLOCK_SIZE) {
		h = (void *)(o->base + at);
		if (h->generation == TNF_GENERATION_FREE)
			block_header(o, at, TNF_GENERATION_FREE, KP_BLOCK_HEADER);
		h->next_block = cookie;
		h->pad = at / KP_BLOCK_SIZE;
	}
}

static const char *const records[KP_RECORDS] = {
	[KP_R_STRING] = "tnf_string",
	[KP_R_INT8] = "tnf_int8_array", [KP_R_UINT8] = "tnf_uint8_array",
	[KP_R_INT16] = "tnf_int16_array", [KP_R_UINT16] = "tnf_uint16_array",
	[KP_R_INT32] = "tnf_int32_array", [KP_R_UINT32] = "tnf_uint32_array",
	[KP_R_INT64] = "tnf_int64_array", [KP_R_UINT64] = "tnf_uint64_array",
};

/* What members of imported probes may be besides. */
static const char *const plain[] = { "tnf_opaque", "tnf_pid" };

int
kp_defs_record(const char *type)
{
	for (int i = 0; i < KP_RECORDS; i++)
		if (strcmp(records[i], type) == 0)
			return i;
	return -1;
}

uint32_t
kp_defs_scalar(const char *type)
{
	return kp_defs_record(type) >= 0 ? 0 : member_size(type);
}

/* References to new strings, or to types. */
static uint32_t
member_list(struct out *o, const struct kp_import *imp, const char *array, bool types)
{
	static const char *const head[2][2] = {
		{ "tnf_tag", "time_delta" }, { "tnf_probe_event", "tnf_time_delta" },
	};
	uint32_t n = imp->members + 2, at = reserve(o, 8 + n * 4), word;
	const char *text;

	put(o, at, 0, tag_of(type_at(o, array)));
	put(o, at, 1, 8 + n * 4);
	for (uint32_t i = 0; i < n; i++) {
		text = i < 2 ? head[types][i] : types ? imp->member[i - 2].type :
		    imp->member[i - 2].name;
		word = types ? type_at(o, text) : string_at(o, "tnf_name", text);
		put(o, at, 2 + i, PERMANENT(word));
	}
	return at;
}

/* The type of an imported probe's events; returns where it is. */
static uint32_t
import_at(struct out *o, const struct kp_import *imp)
{
	char attrs[TNF_STRING_MAX + 1];
	uint32_t at = reserve(o, meta[META_PROBE].size);

	snprintf(attrs, sizeof attrs, "keys %s;%s", imp->keys,
	    imp->attrs != NULL ? imp->attrs : "");
	put(o, at, 0, tag_of(type_at(o, "tnf_probe_type")));
	put(o, at, 1, PERMANENT(string_at(o, "tnf_name", imp->name)));
	put(o, at, 2, properties(o, "tnf_tagged tnf_struct"));
	put(o, at, 3, PERMANENT(member_list(o, imp, "tnf_slot_types", true)));
	put(o, at, 4, imp->row.size);
	put(o, at, 5, PERMANENT(member_list(o, imp, "tnf_slot_names", false)));
	put(o, at, 6, PERMANENT(string_at(o, "tnf_string", attrs)));
	return at;
}

/* Blocks first, then the word that leads there. */
static void
publish(struct out *o, uint32_t before, uint32_t word, uint32_t at)
{
	struct tnf_ext *x = (void *)(o->base + TNF_EXT_OFFSET);
	struct tnf_block_header *h;

	for (unsigned i = 0; i < o->n_touched; i++) {
		h = (void *)(o->base + o->touched[i].block);
		h->tag = tag_of(KP_DIRECTORY + TNF_DIR_BLOCK_HEADER);
		__atomic_store_n(&h->generation, TNF_GENERATION_TAG, __ATOMIC_RELEASE);
		__atomic_store_n(&h->bytes_valid, (uint16_t)o->touched[i].valid,
		    __ATOMIC_RELEASE);
		if (o->touched[i].block != ((before - 1) & ~(KP_BLOCK_SIZE - 1)))
			x->tag_cursor++;
	}
	__atomic_store_n((uint32_t *)(void *)(o->base + word), PERMANENT(at),
	    __ATOMIC_RELEASE);
	if (x->dir_cursor < word + 4)
		x->dir_cursor = word + 4;
}

int
kp_defs_add(struct kp *kp, char *buf, const struct kp_import *imp)
{
	struct out o = { .base = buf, .next = kp->state->tag_next, .kp = kp };
	uint32_t at;

	memcpy(o.type, kp->state->type, sizeof o.type);
	at = import_at(&o, imp);
	if (o.full)
		return -ENOSPC;
	publish(&o, kp->state->tag_next, KP_IMPORT_AT(imp->slot), at);
	kp->state->tag_next = o.next;
	return 0;
}

int
kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret)
{
	struct out o = { .base = buf, .next = KP_TAGS };

	put_directory(&o, TNF_DIR_STRUCT_TYPE, type_at(&o, "tnf_struct_type"));
	put_directory(&o, TNF_DIR_FILE_HEADER, type_at(&o, "tnf_file_header"));
	put_directory(&o, TNF_DIR_BLOCK_HEADER, type_at(&o, "tnf_block_header"));
	for (unsigned id = 1; id < KP_PROBES; id++)
		put_probe(&o, id);
	ret->sched_tag = tag_of(type_at(&o, "tnf_kernel_schedule"));
	ret->symbols_tag = tag_of(type_at(&o, "tnf_symbols"));
	for (unsigned i = 0; i < KP_RECORDS; i++)
		ret->record_tag[i] = tag_of(type_at(&o, records[i]));
	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
		type_at(&o, plain[i]);
	ret->next = o.next;
	memcpy(ret->type, o.type, sizeof ret->type);
	if (o.full)
		return -ENOSPC;
	put_extension(&o, cookie);
	put_page_ids(&o, size, cookie);
	put_header(&o, size);
	return 0;
}
