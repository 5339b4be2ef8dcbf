/*
 * defs.c - the part of the buffer that never changes: header, directory, types.
 */
#include "kernel-probes/handle.h"

#define TOUCHED_MAX	16	/* blocks that one definition lies in */

struct out {
	struct tnf_definer definer;
	char	*base;
	uint32_t next;			/* free space in a block of definitions */
	/* While events are written and read: */
	struct kp *kp;			/* NULL: there are no readers yet */
	struct {
		uint32_t block;
		uint32_t valid;
	} touched[TOUCHED_MAX];
	unsigned n_touched;
	/* Scratch target once there is no room, so that callers need no checks. */
	uint32_t nowhere[KP_BLOCK_SIZE / sizeof(uint32_t)];
};

_Static_assert(TNF_CORE_COUNT <= KP_TYPES_MAX, "record.h");

static void
block_header(struct out *o, uint32_t block, uint32_t generation, uint16_t valid)
{
	struct tnf_block_header *h = (void *)(o->base + block);

	h->tag = TNF_BLOCK_HEADER_TAG(KP_BLOCK_SIZE);
	h->bytes_valid = valid;
	h->generation = generation;
}

/* Notes how far a block is filled.  Readers see that at once, or with the whole definition.
   False: the definition lies in too many blocks. */
static bool
fill_to(struct out *o, uint32_t block, uint32_t valid)
{
	unsigned n = o->n_touched;

	if (o->kp == NULL) {
		block_header(o, block, TNF_GENERATION_TAG, valid);
		return true;
	}
	if (n == 0 || o->touched[n - 1].block != block) {
		if (n == TOUCHED_MAX)
			return false;
		o->touched[o->n_touched++].block = block;
		n++;
	}
	o->touched[n - 1].valid = valid;
	return true;
}

/* The block to go on in, or 0.  'after' is the end of the full block, or the beginning of a
   new one of the reserve. */
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

/* Space that crosses no block. */
static uint32_t *
defs_room(void *arg, uint32_t size, uint32_t *offset)
{
	struct out *o = arg;
	uint32_t at = o->next, block = at & ~(KP_BLOCK_SIZE - 1);

	size = (size + 7) & ~7u;
	if (at == block || at + size > block + KP_BLOCK_SIZE) {
		block = next_block(o, at == block ? at : block + KP_BLOCK_SIZE);
		at = block + KP_BLOCK_HEADER;
	}
	if (block == 0 || o->definer.failed || !fill_to(o, block, at + size - block)) {
		*offset = 0;
		return o->nowhere;
	}
	o->next = at + size;
	*offset = at;
	return (uint32_t *)(void *)(o->base + at);
}

static struct tnf_text
defs_text(const char *chars)
{
	return (struct tnf_text){ chars, strlen(chars) };
}

/* The catalogue says tnf_long for C's long, which is 64 bits here. */
static enum tnf_core
member_type(const char *name)
{
	if (strcmp(name, "tnf_long") == 0)
		return TNF_CORE_int64;
	return strcmp(name, "tnf_ulong") == 0 ? TNF_CORE_uint64 : tnf_core_find(name);
}

static uint32_t
defs_type(struct out *o, const char *name)
{
	enum tnf_core type = member_type(name);

	if (type == TNF_CORE_type_none)
		o->definer.failed = true;
	return tnf_define_core(&o->definer, type);
}

/* A probe's slots: an event's two, then members. */
struct slots {
	uint32_t *types, *names;
};

static struct slots
put_slots(struct out *o, uint32_t *r, unsigned members)
{
	struct tnf_definer *d = &o->definer;
	struct slots s;

	r[TNF_WORD_SLOT_TYPES] = tnf_define_array(d, TNF_CORE_slot_types,
	    members + 2, &s.types);
	*s.types++ = tnf_define_core(d, TNF_CORE_probe_event);
	*s.types++ = tnf_define_core(d, TNF_CORE_time_delta);
	r[TNF_WORD_SLOT_NAMES] = tnf_define_array(d, TNF_CORE_slot_names,
	    members + 2, &s.names);
	*s.names++ = tnf_define_text(d, TNF_CORE_string, defs_text("tnf_tag"));
	*s.names++ = tnf_define_text(d, TNF_CORE_string, defs_text("time_delta"));
	return s;
}

static void
put_slot(struct out *o, struct slots *s, const char *type, const char *name)
{
	*s->types++ = defs_type(o, type);
	*s->names++ = tnf_define_text(&o->definer, TNF_CORE_string, defs_text(name));
}

/* The caller adds the slots. */
static uint32_t *
put_probe(struct out *o, const char *name, const char *attrs, uint32_t size,
    uint32_t *where)
{
	uint32_t *r = tnf_define_type(&o->definer, TNF_CORE_probe_type, defs_text(name),
	    TNF_PROPERTIES_STRUCT, where);

	r[TNF_WORD_STRUCT_SIZE] = size;
	r[TNF_WORD_PROBE_ATTRS] = tnf_define_text(&o->definer, TNF_CORE_string,
	    defs_text(attrs));
	return r;
}

static void
put_directory(struct out *o, uint32_t word, uint32_t ref)
{
	*(uint32_t *)(void *)(o->base + KP_DIRECTORY + word) = ref;
}

/* The end of an event's members as C lays them out, which is how the programs write them. */
static uint32_t
event_end(const struct kp_row *row, unsigned *members, uint32_t *align)
{
	uint32_t size = sizeof(struct kp_event);

	*members = 0;
	*align = 4;
	for (const struct kp_member *m = row->member; m->name != NULL; m++) {
		uint32_t n = tnf_core_slot_size(member_type(m->type));

		size = ((size + n - 1) & ~(n - 1)) + n;
		*align = n > *align ? n : *align;
		++*members;
	}
	return size;
}

uint32_t
kp_defs_stacks_at(const struct kp_row *row)
{
	uint32_t align;
	unsigned n;

	return (event_end(row, &n, &align) + 3) & ~3u;
}

/* Defines the type of a row's events; returns its offset. */
static uint32_t
put_row(struct out *o, unsigned id, bool stacks)
{
	const struct kp_row *row = &kp_catalogue[id];
	char attrs[TNF_STRING_MAX + 1];
	uint32_t *r, where, size, align;
	struct slots slots;
	unsigned n;

	snprintf(attrs, sizeof attrs, "keys %s;file kernel-probes/%s;line %d;",
	    row->keys, row->file, row->line);
	size = event_end(row, &n, &align);
	if (stacks)
		size = kp_defs_stacks_at(row) + 2 * sizeof(tnf_ref32_t);
	r = put_probe(o, row->name, attrs, (size + align - 1) & ~(align - 1), &where);
	slots = put_slots(o, r, n + (stacks ? 2 : 0));
	for (const struct kp_member *m = row->member; m->name != NULL; m++)
		put_slot(o, &slots, m->type, m->name);
	if (stacks) {
		put_slot(o, &slots, "tnf_symbols", "stack");
		put_slot(o, &slots, "tnf_symbols", "user");
	}
	return where;
}

static void
put_extension(struct out *o, uint64_t cookie)
{
	struct tnf_ext *x = (void *)(o->base + TNF_EXT_OFFSET);

	tnf_ext_begin(x, TNF_EXT_KERNEL);
	x->version = TNF_EXT_VERSION;
	x->tag_cursor = (o->next - KP_TAGS + KP_BLOCK_SIZE - 1) / KP_BLOCK_SIZE;
	x->dir_cursor = KP_IMPORT_AT(0);
	x->data_start = KP_DATA;
	x->cookie = cookie;
	x->magic = TNF_EXT_MAGIC;
}

static void
put_header(struct out *o, size_t size)
{
	struct tnf_file_header *h = (void *)o->base;

	tnf_header_set(h, KP_BLOCK_SIZE, KP_TAGS, size);
	h->magic = TNF_MAGIC;
}

/* FNV-1a: the same bytes have the same sum, and others hardly ever do. */
static uint64_t
sum_of(const char *bytes, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3;
	return sum;
}

/* Repeats the facts of block 0, a word in the tail of each block of events (<tnf/com.h>). */
static void
put_tails(struct out *o, size_t size, uint64_t sum)
{
	const struct tnf_ext *x = (const void *)(o->base + TNF_EXT_OFFSET);
	uint64_t word[TNF_TAIL_WORDS] = {
		[TNF_TAIL_SIZE] = size,
		[TNF_TAIL_BLOCKS] = KP_BLOCK_SIZE | (uint64_t)KP_TAGS << 32,
		[TNF_TAIL_MONO] = (uint64_t)x->start_mono,
		[TNF_TAIL_WALL] = (uint64_t)x->start_wall,
		[TNF_TAIL_START] = x->data_start,
		[TNF_TAIL_DEFINITIONS] = sum,
	};

	memcpy(&word[TNF_TAIL_BOOT], x->boot_id, sizeof x->boot_id);
	for (size_t at = KP_DATA; at < size; at += KP_BLOCK_SIZE)
		memcpy(o->base + at + KP_BLOCK_END, &word[at / KP_BLOCK_SIZE % TNF_TAIL_WORDS],
		    sizeof word[0]);
}

/* By these, the pages are found in the memory of a crashed machine. */
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

/* By enum kp_record. */
static const enum tnf_core records[KP_RECORDS] = {
	[KP_R_STRING] = TNF_CORE_string,
	[KP_R_INT8] = TNF_CORE_int8_array, [KP_R_UINT8] = TNF_CORE_uint8_array,
	[KP_R_INT16] = TNF_CORE_int16_array, [KP_R_UINT16] = TNF_CORE_uint16_array,
	[KP_R_INT32] = TNF_CORE_int32_array, [KP_R_UINT32] = TNF_CORE_uint32_array,
	[KP_R_INT64] = TNF_CORE_int64_array, [KP_R_UINT64] = TNF_CORE_uint64_array,
};

/* Other types that members of imported probes may have. */
static const enum tnf_core plain[] = { TNF_CORE_opaque, TNF_CORE_pid };

int
kp_defs_record(const char *type)
{
	for (int i = 0; i < KP_RECORDS; i++)
		if (strcmp(tnf_core_types[records[i]].name, type) == 0)
			return i;
	return -1;
}

uint32_t
kp_defs_scalar(const char *type)
{
	return kp_defs_record(type) >= 0 ? 0 : tnf_core_slot_size(member_type(type));
}

/* Defines the type of an imported probe's events; returns its offset. */
static uint32_t
import_at(struct out *o, const struct kp_import *imp)
{
	char attrs[TNF_STRING_MAX + 1];
	struct slots slots;
	uint32_t *r, where;

	snprintf(attrs, sizeof attrs, "keys %s;%s", imp->keys,
	    imp->attrs != NULL ? imp->attrs : "");
	r = put_probe(o, imp->name, attrs, imp->row.size, &where);
	slots = put_slots(o, r, imp->members);
	for (unsigned i = 0; i < imp->members; i++)
		put_slot(o, &slots, imp->member[i].type, imp->member[i].name);
	return where;
}

/* Shows readers the blocks first, then the word that leads there. */
static void
defs_publish(struct out *o, uint32_t before, uint32_t word, uint32_t at)
{
	struct tnf_ext *x = (void *)(o->base + TNF_EXT_OFFSET);
	struct tnf_block_header *h;

	for (unsigned i = 0; i < o->n_touched; i++) {
		h = (void *)(o->base + o->touched[i].block);
		h->tag = TNF_BLOCK_HEADER_TAG(KP_BLOCK_SIZE);
		__atomic_store_n(&h->generation, TNF_GENERATION_TAG, __ATOMIC_RELEASE);
		__atomic_store_n(&h->bytes_valid, (uint16_t)o->touched[i].valid,
		    __ATOMIC_RELEASE);
		if (o->touched[i].block != ((before - 1) & ~(KP_BLOCK_SIZE - 1)))
			x->tag_cursor++;
	}
	__atomic_store_n((uint32_t *)(void *)(o->base + word), at | TNF_REF32_PERMANENT,
	    __ATOMIC_RELEASE);
	if (x->dir_cursor < word + 4)
		x->dir_cursor = word + 4;
}

static void
defs_begin(struct out *o, char *buf, struct kp *kp, uint32_t next)
{
	memset(o, 0, sizeof *o);
	o->definer.room = defs_room;
	o->definer.arg = o;
	o->base = buf;
	o->kp = kp;
	o->next = next;
}

static void
defs_resume(struct out *o, struct kp *kp, char *buf)
{
	defs_begin(o, buf, kp, kp->state->tag_next);
	memcpy(o->definer.core, kp->state->type, sizeof o->definer.core);
}

/* The definition at 'at' is whole: the directory's word leads to it from now on. */
static int
defs_done(struct out *o, struct kp *kp, uint32_t word, uint32_t at)
{
	if (o->definer.failed)
		return -ENOSPC;
	defs_publish(o, kp->state->tag_next, word, at);
	kp->state->tag_next = o->next;
	return 0;
}

int
kp_defs_add(struct kp *kp, char *buf, const struct kp_import *imp)
{
	struct out o;
	uint32_t at;

	defs_resume(&o, kp, buf);
	at = import_at(&o, imp);
	return defs_done(&o, kp, KP_IMPORT_AT(imp->slot), at);
}

int
kp_defs_add_stacked(struct kp *kp, char *buf, unsigned id)
{
	uint32_t word = TNF_DIR_STRUCT_TYPE + 4 * KP_STACKED(id), at;
	struct out o;

	if (*(uint32_t *)(void *)(buf + KP_DIRECTORY + word) != 0)
		return 0;
	defs_resume(&o, kp, buf);
	at = put_row(&o, id, true);
	return defs_done(&o, kp, KP_DIRECTORY + word, at);
}

int
kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret)
{
	struct tnf_definer *d;
	struct out o;

	defs_begin(&o, buf, NULL, KP_TAGS);
	d = &o.definer;
	put_directory(&o, TNF_DIR_STRUCT_TYPE, tnf_define_core(d, TNF_CORE_struct_type));
	put_directory(&o, TNF_DIR_FILE_HEADER, tnf_define_core(d, TNF_CORE_file_header));
	put_directory(&o, TNF_DIR_BLOCK_HEADER, tnf_define_core(d, TNF_CORE_block_header));
	for (unsigned id = 1; id < KP_PROBES; id++)
		put_directory(&o, TNF_DIR_STRUCT_TYPE + 4 * id,
		    put_row(&o, id, false) | TNF_REF32_PERMANENT);
	ret->sched_tag = tnf_define_core_tag(d, TNF_CORE_kernel_schedule);
	ret->symbols_tag = tnf_define_core_tag(d, TNF_CORE_symbols);
	for (unsigned i = 0; i < KP_RECORDS; i++)
		ret->record_tag[i] = tnf_define_core_tag(d, records[i]);
	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
		tnf_define_core(d, plain[i]);
	ret->next = o.next;
	memcpy(ret->type, d->core, sizeof d->core);
	if (d->failed)
		return -ENOSPC;
	put_extension(&o, cookie);
	ret->sum = sum_of(buf + KP_DIRECTORY, o.next - KP_DIRECTORY);
	put_page_ids(&o, size, cookie);
	put_tails(&o, size, ret->sum);
	put_header(&o, size);
	return 0;
}
