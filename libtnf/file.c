/*
 * file.c - one trace file: its header, checked before anything else is read, and the memory
 * for its types.
 */
#include "libtnf/file.h"

/* Offsets of the header's members: tnf(5), "File header". */
enum {
	H_MAGIC = 0, H_LOGICAL_SIZE = 16, H_BLOCK_HEADER_SIZE = 20,
	H_BLOCK_SIZE = 24, H_DIRECTORY_SIZE = 28, H_BLOCK_COUNT = 32, H_END = 40
};

#define BLOCK_HEADER_MIN	16u
#define SHIFT_MAX		40u
#define EXCESS_MAX		65536u	/* blocks looked at */

/*
 * Reads the header's extension, which our own writers make, in either byte order.  Members
 * that the writer did not know are 0.  A file with a feature that this reader does not know
 * is refused if the writer has marked the feature as incompatible (<tnf/com.h>).
 */
static int
read_ext(struct tnf_file *f)
{
	const struct bytes whole = f->bytes, *b = &whole;
	struct bytes known = whole;
	struct tnf_ext *e = &f->ext;

#define U32(m)	(bytes_u32(b, TNF_EXT_OFFSET + offsetof(struct tnf_ext, m)))
#define U64(m)	(bytes_u64(b, TNF_EXT_OFFSET + offsetof(struct tnf_ext, m)))
	if (f->block_size < TNF_EXT_OFFSET + sizeof *e ||
	    U32(magic) != TNF_EXT_MAGIC)
		return 0;
	e->magic = TNF_EXT_MAGIC;
	e->version = U32(version);
	e->size = U32(size);
	if (e->version != TNF_EXT_VERSION)
		return TNF_ERR_NEWER;
	if (e->size < sizeof *e)
		known.size = TNF_EXT_OFFSET + e->size;
	b = &known;
	e->incompatible = U32(incompatible);
	e->compatible = U32(compatible);
	if ((e->incompatible & ~TNF_EXT_INCOMPATIBLE) != 0)
		return TNF_ERR_NEWER;
	e->kind = U32(kind);
	e->data_cursor = U64(data_cursor);
	e->tag_cursor = U32(tag_cursor);
	e->dir_cursor = U32(dir_cursor);
	e->data_start = U32(data_start);
	e->pid = (int32_t)U32(pid);
	e->start_mono = (int64_t)U64(start_mono);
	e->start_wall = (int64_t)U64(start_wall);
	for (unsigned i = 0; i < sizeof e->boot_id; i++)
		e->boot_id[i] = bytes_u8(b, TNF_EXT_OFFSET +
		    offsetof(struct tnf_ext, boot_id) + i);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++)
		e->lost[i] = bytes_u64(b, TNF_EXT_OFFSET +
		    offsetof(struct tnf_ext, lost) + i * sizeof e->lost[0]);
	e->attached = U32(attached);
	e->ended = U32(ended);
	e->extra_offset = U64(extra_offset);
	e->extra_size = U64(extra_size);
	e->shortened = U64(shortened);
	e->names = U64(names);
#undef U32
#undef U64
	f->has_ext = true;
	return 0;
}

static bool
is_power_of_two(uint32_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

/* True if the header says that the end is missing. */
static bool
says_cut(const struct tnf_file *f)
{
	const struct bytes *b = &f->bytes;

	return f->block_size >= TNF_EXT_OFFSET + sizeof(struct tnf_ext) &&
	    bytes_u32(b, TNF_EXT_OFFSET + offsetof(struct tnf_ext, magic)) == TNF_EXT_MAGIC &&
	    bytes_u32(b, TNF_EXT_OFFSET + offsetof(struct tnf_ext, size)) >=
	    offsetof(struct tnf_ext, compatible) + 4 &&
	    (bytes_u32(b, TNF_EXT_OFFSET + offsetof(struct tnf_ext, compatible)) &
	    TNF_EXT_CUT) != 0;
}

/* The geometry makes sense, and the file is as long as it says. */
static int
read_header(struct tnf_file *f, int flags)
{
	struct bytes *b = &f->bytes;

	f->generation_shift = bytes_u32(b, H_LOGICAL_SIZE);
	f->block_header_size = bytes_u32(b, H_BLOCK_HEADER_SIZE);
	f->block_size = bytes_u32(b, H_BLOCK_SIZE);
	f->data_start = bytes_u32(b, H_DIRECTORY_SIZE);
	f->block_count = bytes_u32(b, H_BLOCK_COUNT);
	if (!is_power_of_two(f->block_size) ||
	    f->block_size < TNF_BLOCK_SIZE_MIN ||
	    f->block_size > TNF_BLOCK_SIZE_MAX ||
	    f->block_header_size < BLOCK_HEADER_MIN ||
	    f->block_header_size > f->block_size ||
	    f->block_header_size % 4 != 0 ||
	    f->data_start < f->block_size ||
	    f->data_start % f->block_size != 0 ||
	    f->generation_shift > SHIFT_MAX)
		return TNF_ERR_BADTNF;
	f->block_shift = (uint32_t)__builtin_ctz(f->block_size);
	uint64_t size = (uint64_t)f->block_count << f->block_shift;
	if (says_cut(f))
		flags |= FILE_CUT_IS_FINE;
	/* A generation is at least a lap over the whole file. */
	if (size < f->data_start || size > UINT32_MAX ||
	    size > (uint64_t)1 << f->generation_shift)
		return TNF_ERR_BADTNF;
	if (size > b->size) {
		if (!(flags & FILE_CUT_IS_FINE) || b->size < f->data_start)
			return TNF_ERR_BADTNF;
		f->cut = true;
	} else
		b->size = size;
	return 0;
}

/*
 * A file may be longer than its header says, with anything behind that end.  But if there are
 * blocks with records, their events would be lost: then the number of blocks in the header
 * is wrong.
 */
static uint64_t
find_excess(const struct tnf_file *f)
{
	const struct bytes b = { f->bytes.base, f->whole, f->bytes.swap };
	const uint32_t tag = TNF_REF32_PERMANENT | (f->block_size + 4) |
	    TNF_REF32_T_TAG;
	uint64_t off = f->bytes.size;

	for (unsigned n = 0; n < EXCESS_MAX && bytes_has(&b, off, f->block_size); n++) {
		if (bytes_u32(&b, off) == tag &&
		    bytes_u16(&b, off + 8) > f->block_header_size)
			return off;
		off += f->block_size;
	}
	return 0;
}

int
tnf_file_init(struct tnf_file *f, const void *base, uint64_t size, int flags)
{
	struct tnf_file n = { .bytes = { base, size, false }, .whole = size };
	uint32_t magic = bytes_u32(&n.bytes, H_MAGIC);
	int r;

	if (magic != TNF_MAGIC && magic != TNF_MAGIC_SWAPPED)
		return TNF_ERR_NOTTNF;
	n.bytes.swap = magic == TNF_MAGIC_SWAPPED;
	if (!bytes_has(&n.bytes, 0, H_END))
		return TNF_ERR_BADTNF;
	if ((r = read_header(&n, flags)) != 0)
		return r;
	if ((r = read_ext(&n)) != 0)
		return r;
	n.excess = n.cut ? 0 : find_excess(&n);
	/* Types in memory are some ten times as large as in the file. */
	n.arena.limit = 16 * n.bytes.size + ((uint64_t)1 << 20);
	n.types = tnf_type_table_new();
	n.scheds = tnf_sched_cache_new();
	if (n.types == NULL || n.scheds == NULL) {
		tnf_type_table_free(n.types);
		tnf_sched_cache_free(n.scheds);
		return TNF_ERR_ALLOCFAIL;
	}
	*f = n;
	return 0;
}

void
tnf_file_done(struct tnf_file *f)
{
	tnf_type_table_free(f->types);
	tnf_sched_cache_free(f->scheds);
	tnf_arena_free(&f->arena);
}

bool
tnf_file_is_zero(const unsigned char *p, uint64_t size)
{
	return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* True if all is zero but for the mode.  The creator of a file may say in it how it is to be
   written. */
static bool
zero_but_for_mode(const unsigned char *p, uint64_t size)
{
	const uint64_t at = TNF_EXT_OFFSET + offsetof(struct tnf_ext, compatible);
	const uint64_t end = at + sizeof(((struct tnf_ext *)0)->compatible);

	return size < end ? tnf_file_is_zero(p, size) :
	    tnf_file_is_zero(p, at) && tnf_file_is_zero(p + end, size - end);
}

bool
tnf_file_is_empty(const void *base, uint64_t size)
{
	const struct bytes b = { base, size, false };
	const struct bytes s = { base, size, true };
	const uint64_t magic = TNF_EXT_OFFSET + offsetof(struct tnf_ext, magic);

	if (bytes_u32(&b, 0) != 0)
		return false;
	if (bytes_u32(&b, magic) == TNF_EXT_MAGIC ||
	    bytes_u32(&s, magic) == TNF_EXT_MAGIC)
		return true;
	return zero_but_for_mode(base, size);
}

bool
tnf_file_fail_at(struct tnf_file *f, uint64_t pos, uint64_t cause, const char *why)
{
	f->why = why;
	f->why_pos = pos;
	f->cause = cause;
	return false;
}

bool
tnf_file_fail(struct tnf_file *f, uint64_t pos, const char *why)
{
	return tnf_file_fail_at(f, pos, pos, why);
}

static uint32_t
slot_for(const struct type_table *t, uint32_t pos)
{
	uint32_t i = (pos >> 2) * 0x9e3779b1u;

	for (i &= t->hash_size - 1; t->hash[i] != NULL;
	    i = (i + 1) & (t->hash_size - 1))
		if (t->hash[i]->pos == pos)
			break;
	return i;
}

struct type *
tnf_table_find(const struct type_table *t, uint32_t pos)
{
	return t->hash_size == 0 ? NULL : t->hash[slot_for(t, pos)];
}

static int
table_grow(struct type_table *t)
{
	uint32_t room = t->room == 0 ? 128 : 2 * t->room, i;
	struct type **list, **hash;

	if ((hash = calloc(2 * (size_t)room, sizeof *hash)) == NULL)
		return -1;
	if ((list = realloc(t->list, room * sizeof *list)) == NULL) {
		free(hash);
		return -1;
	}
	free(t->hash);
	t->hash = hash;
	t->hash_size = 2 * room;
	t->list = list;
	t->room = room;
	for (i = 0; i < t->n; i++)
		t->hash[slot_for(t, list[i]->pos)] = list[i];
	return 0;
}

int
tnf_table_add(struct type_table *t, struct type *type)
{
	if (t->n == TABLE_TYPES_MAX || (t->n == t->room && table_grow(t) != 0))
		return -1;
	type->index = t->n;
	t->list[t->n++] = type;
	t->hash[slot_for(t, type->pos)] = type;
	return 0;
}

struct type_table *
tnf_type_table_new(void)
{
	return calloc(1, sizeof(struct type_table));
}

void
tnf_type_table_free(struct type_table *t)
{
	if (t == NULL)
		return;
	free(t->list);
	free(t->hash);
	free(t);
}

#define CHUNK	((size_t)16 << 10)
#define ALIGN	((size_t)16)

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t	    pad;
};

static int
arena_grow(struct arena *a, size_t n)
{
	struct arena_chunk *c;
	size_t size = n > CHUNK ? n : CHUNK;

	if ((c = calloc(1, sizeof *c + size)) == NULL)
		return -1;
	c->next = a->chunks;
	a->chunks = c;
	a->next = (unsigned char *)(c + 1);
	a->left = size;
	return 0;
}

void *
tnf_arena_zalloc(struct arena *a, size_t n)
{
	n = (n + ALIGN - 1) & ~(ALIGN - 1);
	if (n == 0)
		n = ALIGN;
	if (a->limit != 0 && n > a->limit - a->used)
		return NULL;
	if (n > a->left && arena_grow(a, n) != 0)
		return NULL;
	void *p = a->next;
	a->next += n;
	a->left -= n;
	a->used += n;
	return p;
}

char *
tnf_arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p;

	if ((p = tnf_arena_zalloc(a, n + 1)) != NULL)
		memcpy(p, s, n);
	return p;
}

void
tnf_arena_free(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	memset(a, 0, sizeof *a);
}
