/*
 * type.h - types as a file describes them: tnf(5), "Types".
 *
 * A type record is decoded once, when a record of that type is first met, and the type is
 * kept by its offset.  A type that could not be decoded is kept as well, marked bad.
 */
#ifndef LIBTNF_TYPE_H
#define LIBTNF_TYPE_H

#include <stdint.h>

#include <tnf/stream.h>

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
	uint32_t	 delta;		/* events: offset of time_delta; or 0 */
	unsigned	 first_arg;	/* events: members before the arguments */
	bool		 is_long;	/* arrays: of pieces of a text or blob */
	bool		 padded;	/* arrays: the last byte counts those that pad */
	struct tnf_probe *probe;	/* events: as the stream knows it */
	unsigned	 asked;		/* events: when the caller said so, see follow.c: ... */
	bool		 wanted;	/* ... they are to be handed out */
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

#endif /* LIBTNF_TYPE_H */
