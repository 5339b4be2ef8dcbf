/*
 * file.h - one trace file: its bytes, its header, the types in it by the offset of their records,
 * references, and its blocks, whose records are events.  <errno.h>, <stdlib.h> and <string.h>
 * come with it.
 */
#ifndef LIBTNF_FILE_H
#define LIBTNF_FILE_H

#include <errno.h>
#include <stdlib.h>

#include <tnf/com.h>
#include <tnf/stream.h>

#include "format/bytes.h"

/*
 * Types as a file describes them: tnf(5), "Types".
 *
 * A type record is decoded once, when a record of that type is first met, and the type is
 * kept by its offset.  A type that could not be decoded is kept as well, marked bad.
 */

struct tnf_file;

/* Readers classify types by these. */
#define TYPE_PROPERTIES(X)						\
	X(INLINE,  "tnf_inline")					\
	X(TAGGED,  "tnf_tagged")					\
	X(SCALAR,  "tnf_scalar")					\
	X(DERIVED, "tnf_derived")					\
	X(ARRAY,   "tnf_array")						\
	X(STRING,  "tnf_string")					\
	X(STRUCT,  "tnf_struct")					\
	X(TYPE,	   "tnf_type")						\
	X(OPAQUE,  "tnf_opaque")					\
	X(TAG_ARG, "tnf_tag_arg")

enum type_property_bit {
#define X(sym, name) PROP_BIT_##sym,
	TYPE_PROPERTIES(X)
#undef X
	PROP_COUNT
};

#define PROP(sym)	(1u << PROP_BIT_##sym)

/* Which members a type record has. */
enum type_meta { META_ABSTRACT, META_SCALAR, META_DERIVED, META_ARRAY,
	META_STRUCT, META_PROBE };

/* The members of a schedule record; offset 0: it has no such member. */
struct sched_layout {
	bool	 known, usable, kernel;
	struct tnf_member tid, lwpid, pid, base, cpu;
};

struct type {
	struct tnf_type	 pub;		/* first */
	uint32_t	 pos;
	uint32_t	 index;
	uint32_t	 props;
	enum type_meta	 meta;
	bool		 bad;
	bool		 filled;	/* slots, element */
	bool		 queued;
	const char	*why;		/* it is bad */
	struct type	*parent;	/* derived: the base */
	struct type	*root;		/* the ultimate base, or itself */
	struct type	*next;		/* in the queue */

	/* Records. */
	unsigned	 n_slots;	/* arrays: of the header */
	struct tnf_member *slots;
	uint32_t	 header_size;	/* arrays */
	uint32_t	 step;		/* to the next record; 0: self-sized */
	uint32_t	 delta;		/* events: offset of time_delta, within the step; or 0 */
	unsigned	 first_arg;	/* events: members before the arguments */
	unsigned	 n_inline;	/* members before the first that is a reference */
	bool		 is_long;	/* arrays: of pieces of a text or blob */
	bool		 padded;	/* arrays: the last byte counts those that pad */
	struct tnf_probe *probe;	/* events: as the stream knows it */
	unsigned	 wanted;	/* events: the number of the question (follow.asking) to which the */
	unsigned	 unwanted;	/* ... caller has said that they are wanted, or are not */
	struct sched_layout sched;
};

struct type_table;

struct type_table *tnf_type_table_new(void);
void		 tnf_type_table_free(struct type_table *);

/* The type whose record stands at 'pos'; NULL: bad, see file->why. */
struct type	*tnf_type_at(struct tnf_file *, uint32_t pos);
/* The type of the record or member at 'pos', by its tag word. */
struct type	*tnf_type_of_record(struct tnf_file *, uint32_t pos);
struct type	*tnf_type_of_tag(struct tnf_file *, uint32_t pos, uint32_t word);

/* The string that the reference at 'ref' leads to; false: null or bad. */
bool	 tnf_type_string(const struct tnf_file *, uint32_t ref, const char **s,
	    size_t *len);
/* The array to which the reference at 'ref' leads: how many elements of 4 bytes it has, and
   where the first is.  false: bad; a null reference has no elements. */
bool	 tnf_type_refs(const struct tnf_file *, uint32_t ref, uint32_t *first,
	    unsigned *n);
/* Bytes of a record with this tag word at 'pos' whose type is bad; 0: its size cannot be
   told either. */
uint32_t tnf_type_extent(const struct tnf_file *, uint32_t pos, uint32_t word);

const struct tnf_member *tnf_type_slot(const struct type *, const char *name);

static inline struct type *
type_of_pub(const struct tnf_type *t)
{
	return (struct type *)(uintptr_t)t;
}

static inline bool
type_has(const struct type *t, uint32_t prop)
{
	return (t->props & prop) != 0;
}

/* Bytes that a member of this type takes. */
static inline uint32_t
type_slot_size(const struct type *t)
{
	return type_has(t, PROP(INLINE)) ? t->pub.size : 4;
}

/* Bytes from one element of an array to the next, at least 1. */
static inline uint32_t
type_element_size(const struct type *t)
{
	uint32_t n = t->pub.element == NULL ? 0 : type_slot_size(type_of_pub(t->pub.element));

	return n == 0 ? 1 : n;
}

/* Offsets of the members of type records (slot.c). */
enum { T_SLOT_TYPES = 12, T_STRUCT_SIZE = 16, T_HEADER_SIZE = 16,
	T_SLOT_NAMES = 20, T_ELEMENT = 20, T_PROBE_STRING = 24 };

/* The second step of reading a type; may mark it bad. */
void	     tnf_slot_fill(struct tnf_file *, struct type *);
/* type.c's first step, for the types of members. */
struct type *tnf_type_basic(struct tnf_file *, uint32_t pos);

#define TABLE_TYPES_MAX	(1u << 20)	/* a data handle has 20 bits for it */
#define TABLE_TAGS	64u

struct type_table {
	struct type	**list;		/* by index */
	uint32_t	 n;
	uint32_t	 room;
	struct type	**hash;		/* by offset; a power of two */
	uint32_t	 hash_size;
	struct type	*queue;		/* to be filled */

	/* Short cuts: permanent tag words, and directory words of events. */
	struct { uint32_t word; struct type *type; } tags[TABLE_TAGS];
	struct type	*directory[TNF_DIRECTORY_NAMED / 4];
};

/* The type of a record by its tag word alone; NULL: the word was not met before, or its
   meaning depends on its place. */
static inline struct type *
table_known(const struct type_table *t, uint32_t word)
{
	unsigned i = (word >> 3) % TABLE_TAGS;

	/* An event whose probe is named by a directory word. */
	if ((word & 0x30003) == 0x10001)
		return t->directory[word >> 18];
	/* A permanent tag; the type record it leads to does not move. */
	if ((word & 0x80000003) == 0x80000002 && t->tags[i].word == word)
		return t->tags[i].type;
	return NULL;
}

static inline void
table_learn(struct type_table *t, uint32_t word, struct type *type)
{
	unsigned i = (word >> 3) % TABLE_TAGS;

	if ((word & 0x30003) == 0x10001)
		t->directory[word >> 18] = type;
	else if ((word & 0x80000003) == 0x80000002) {
		t->tags[i].word = word;
		t->tags[i].type = type;
	}
}

static inline struct type *
table_at(const struct type_table *t, uint32_t index)
{
	return index < t->n ? t->list[index] : NULL;
}

struct type *tnf_table_find(const struct type_table *, uint32_t pos);
int	     tnf_table_add(struct type_table *, struct type *); /* sets index */

/*
 * A file's types may refer to each other in ways that would make them larger
 * in memory than any file; the limit, taken from the file's size, ends that.
 */
struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	unsigned char	*next;
	size_t		 left;
	uint64_t	 used;
	uint64_t	 limit;		/* 0: none */
};

void	*tnf_arena_zalloc(struct arena *, size_t);	/* NULL: no memory, or limit */
char	*tnf_arena_strndup(struct arena *, const char *, size_t);
void	 tnf_arena_free(struct arena *);

enum ref_status {
	REF_OK,
	REF_NULL,	/* null, or what it led to has been overwritten */
	REF_BAD		/* no writer makes such a reference */
};

/* Follows the reference at 'src', and forwarding words, to a record. */
enum ref_status tnf_ref_follow(const struct tnf_file *, uint64_t src, uint32_t *dst);
/* The halves of an event's first word, 'word', which stands at 'src'. */
enum ref_status tnf_ref_pair_tag(const struct tnf_file *, uint64_t src,
    uint32_t word, uint32_t *dst);
enum ref_status tnf_ref_pair_arg(const struct tnf_file *, uint64_t src,
    uint32_t word, uint32_t *dst);

#define TNF_API __attribute__((visibility("default")))

/* Offset of the file header's record: behind the magic. */
#define FILE_HEADER_POS	4u

struct sched_cache;
struct scan;
struct seen;
struct longs;

struct tnf_file {
	struct bytes	 bytes;		/* what the header declares, no more */
	uint64_t	 whole;		/* size with what lies behind that */
	uint64_t	 excess;	/* the first block that lies there; or 0 */

	/* From the header; checked, and never read again. */
	uint32_t	 block_size;
	uint32_t	 block_shift;
	uint32_t	 block_header_size;
	uint32_t	 data_start;	/* first block behind the directory */
	uint32_t	 block_count;	/* of the whole file */
	uint32_t	 generation_shift;

	struct type_table *types;
	const struct type *block_type;	/* of block headers that were found right; or NULL */
	struct sched_cache *scheds;
	struct arena	 arena;		/* types and their names */
	const char	*why;		/* of the last failure; static text */
	uint64_t	 why_pos;	/* where it was met */
	uint64_t	 cause;		/* what is wrong stands there */

	char		*name;
	struct scan	*scan;		/* the first pass; or NULL */
	struct seen	*seen;		/* by block: how far it was read; or NULL */
	uint32_t	*open;		/* offsets of blocks to look at again; or NULL */
	uint32_t	 n_open;
	uint64_t	 n_numbered;	/* blocks that the cursor numbers; 0: look at all */
	struct longs	*longs;		/* values put together; or NULL */
	uint64_t	 cursor;	/* ext.data_cursor at the last look */
	uint64_t	 lost;		/* blocks, since the last look */
	unsigned	 number;	/* in its stream */
	unsigned	 sibling;	/* its group (sibling.h); 0: none */
	unsigned	 host;		/* the client's number */
	int64_t		 shift;		/* added to the times of events */
	tnf_stream_t	*stream;
	void		*map;		/* to unmap, or NULL */
	size_t		 map_size;
	bool		 has_ext;
	bool		 cut;		/* shorter than its header says */
	struct tnf_ext	 ext;		/* in this host's order */
};

/* A block's header, read once. */
struct block {
	uint32_t off;
	uint32_t generation;
	uint32_t used;			/* bytes_valid */
};

enum { FILE_STRICT = 0, FILE_CUT_IS_FINE = 1 };

/* Looks at the header; 0 or TNF_ERR_*.  'f' is filled only on success. */
int  tnf_file_init(struct tnf_file *f, const void *base, uint64_t size, int flags);
void tnf_file_done(struct tnf_file *f);

/* Why blocks behind the declared end are damage: of tnf_file_fail(). */
#define FILE_EXCESS	"the file header declares fewer blocks than there are"

/* A file of zeros, or one whose writer has not yet got to the magic. */
bool tnf_file_is_empty(const void *base, uint64_t size);

/* 'size' bytes of zeros. */
bool tnf_file_is_zero(const unsigned char *, uint64_t size);

/* Notes why something failed, returns false.  tnf_file_fail_at(): the reader met the
   damage at 'pos', and its cause stands at 'cause'. */
bool tnf_file_fail(struct tnf_file *f, uint64_t pos, const char *why);
bool tnf_file_fail_at(struct tnf_file *f, uint64_t pos, uint64_t cause,
    const char *why);

static inline uint32_t
file_block_off(const struct tnf_file *f, uint64_t pos)
{
	return (uint32_t)pos & ~(f->block_size - 1);
}

/* The generation alone of the block there. */
static inline uint32_t
file_generation(const struct tnf_file *f, uint32_t off)
{
	return bytes_u32(&f->bytes, (uint64_t)off + 4);
}

/* The bytes alone that are committed in the block there. */
static inline uint32_t
file_used(const struct tnf_file *f, uint32_t off)
{
	return bytes_u16(&f->bytes, (uint64_t)off + 8);
}

static inline struct block
file_block(const struct tnf_file *f, uint32_t off)
{
	return (struct block){
		.off = off,
		.generation = file_generation(f, off),
		.used = file_used(f, off),
	};
}

/* On the stream's time line. */
static inline int64_t
file_shifted(const struct tnf_file *f, int64_t time)
{
	int64_t t;

	if (!__builtin_add_overflow(time, f->shift, &t))
		return t;
	return f->shift < 0 ? INT64_MIN : INT64_MAX;
}

/* Data blocks handed out so far, all laps: ext.data_cursor as it is now. */
static inline uint64_t
file_cursor(const struct tnf_file *f)
{
	return bytes_u64(&f->bytes, TNF_EXT_OFFSET +
	    offsetof(struct tnf_ext, data_cursor));
}

/* Fills f->whole bytes of zeros at 'to'; 0 or TNF_ERR_*. */
int tnf_copy_live(const struct tnf_file *f, unsigned char *to);

/* Makes a string of 'v', an array of pieces as tnf_event_value() reads it.  false: see
   file->why. */
bool tnf_long_read(struct tnf_file *, struct tnf_value *v);
/* Frees the strings that tnf_long_read() has made. */
void tnf_long_done(struct tnf_file *);

static inline void
long_forget(struct tnf_file *const *files, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (files[i]->longs != NULL)
			tnf_long_done(files[i]);
}

/*
 * The records of a block one after another, and an event's time and thread.
 */
struct walk {
	struct tnf_file *file;
	uint32_t block;		/* offset */
	uint32_t generation;
	uint32_t end;		/* of what is committed; in the file */
	uint32_t next;		/* where the next record is looked for */

	/* The current record. */
	uint32_t pos;
	uint32_t word;		/* its first */
	struct type *type;
	uint32_t text;		/* where one is that was found sound in this block; 0: none */
};

/* UNREADABLE: a record whose type is damaged, but not its size: see file->why;
   the walk goes on behind it. */
enum walk_status { WALK_BAD = -1, WALK_END = 0, WALK_RECORD = 1,
	WALK_UNREADABLE = 2 };

/* Starts a walk before the first record behind the header of the block at 'off'.  END: the
   block was never used; BAD: see file->why. */
enum walk_status tnf_walk_start(struct walk *, struct tnf_file *, uint32_t off);
enum walk_status tnf_walk_next(struct walk *);
/* True if everything can be read to which the record's members refer.  false: see file->why. */
bool tnf_members_sound(struct walk *);

/* Bytes of the record at 'pos' of type 't'; 0: its size makes no sense. */
static inline uint32_t
walk_size(const struct tnf_file *f, const struct type *t, uint32_t pos)
{
	uint32_t size = t->step;

	if (type_has(t, PROP(ARRAY))) {
		size = bytes_u32(&f->bytes, (uint64_t)pos + 4);
		if (size < t->header_size || size > f->block_size)
			return 0;
		size = (size + 3) & ~3u;
	}
	return size;
}

/* As tnf_walk_next(), and quickly for a record whose first word was met before. */
static inline enum walk_status
walk_next(struct walk *w)
{
	struct tnf_file *f = w->file;
	uint32_t pos = w->next, word = 0;
	struct type *t;

	while ((uint64_t)pos + sizeof word <= w->end &&
	    ((word = bytes_u32_inside(&f->bytes, pos)) & TNF_REF32_T_MASK) == TNF_REF32_T_FULL)
		pos += 4;
	/* At the end the word is of no type.  The step of a record that says its size itself is 0,
	   and 0 - 1 more than any block has. */
	if ((t = table_known(f->types, word)) == NULL || t->step - 1 >= w->end - pos)
		return tnf_walk_next(w);
	w->pos = pos;
	w->word = word;
	w->next = pos + t->step;
	w->type = t;
	return WALK_RECORD;
}

/* The current record is an event: its first word is a pair. */
static inline bool
walk_is_event(const struct walk *w)
{
	return (w->word & TNF_REF32_T_MASK) == TNF_REF32_T_PAIR &&
	    w->type->pub.kind == TNF_K_STRUCT;
}

/* A schedule record: who was running, and from when deltas count. */
struct sched {
	uint32_t pos;
	uint32_t generation;	/* of its block */
	int64_t	 base;
	uint64_t tid;
	uint32_t lwpid;
	int32_t	 pid;
	int32_t	 cpu;		/* -1: not told */
	bool	 kernel;
	uint32_t block;		/* kernel: its number among those of the CPU, or 0 */
};

struct sched_cache *tnf_sched_cache_new(void);
void		    tnf_sched_cache_free(struct sched_cache *);

/* The schedule record at 'pos', valid until the next call; NULL: there is none, see
   file->why. */
const struct sched *tnf_sched_at(struct tnf_file *, uint32_t pos);

/* Follows events through a block; start with zeros at each block. */
struct event_clock {
	uint32_t     sched_pos;		/* 0: none yet */
	struct sched sched;
};

enum event_status {
	EVENT_OK,
	EVENT_LOST,	/* its schedule has been overwritten: it has no time */
	EVENT_BAD	/* see file->why */
};

/* The time of the event at which 'w' stands; 'c->sched' then says who wrote it. */
enum event_status tnf_event_time(struct event_clock *c, const struct walk *w,
    int64_t *time);

/* The same for an event that has the schedule record of the one before it, as nearly all
   have; false: ask tnf_event_time(). */
static inline bool
event_time_again(const struct event_clock *c, const struct walk *w, int64_t *time)
{
	int16_t d = (int16_t)(w->word & 0xfffc);

	if (d == 0 || c->sched_pos != (uint32_t)((int64_t)w->pos + d) || w->type->delta == 0)
		return false;
	*time = (int64_t)((uint64_t)c->sched.base +
	    bytes_u32_inside(&w->file->bytes, (uint64_t)w->pos + w->type->delta));
	return true;
}

#endif /* LIBTNF_FILE_H */
