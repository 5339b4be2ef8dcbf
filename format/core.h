/*
 * core.h - the one table of built-in types, which any TNF file may define:
 * TNF_CORE_TYPES below (tnf(5), "Types"); the header of a file; and the writing of
 * definitions.
 *
 * Every writer of files takes the built-in types from here, so that the library in
 * a program, the kernel's buffer and "tnfdump --to tnf" define the same things.
 */
#ifndef FORMAT_CORE_H
#define FORMAT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tnf/com.h>

/*
 * One row a type: A abstract; S scalar (size, which is its alignment); D derived
 * (base); R array (element); T struct (size).  The slots of structs are in core.c.
 * New ones come at the end: where each is in the kernel's buffer is kept by number
 * from one session to the next (kernel-probes/record.h).
 */
#define TNF_CORE_TYPES(A, S, D, R, T)					\
	A(type_none)							\
	/* Metatypes: what a type record is an instance of. */		\
	T(type, 12)							\
	T(scalar_type, 20)						\
	T(derived_type, 16)						\
	T(array_type, 24)						\
	T(struct_type, 24)						\
	T(probe_type, 28)						\
	/* Records of the file itself. */				\
	T(file_header, 56)						\
	T(block_header, 24)						\
	T(sched_rec, 32)						\
	T(kernel_schedule, 40)						\
	/* Properties: readers classify a type by them. */		\
	A(tagged)							\
	A(inline)							\
	S(scalar, 0)							\
	D(derived, type_none)						\
	D(tag_arg, tagged)						\
	R(array, type_none)						\
	T(struct, 0)							\
	S(char, 1)							\
	S(int8, 1)							\
	S(uint8, 1)							\
	S(int16, 2)							\
	S(uint16, 2)							\
	S(int32, 4)							\
	S(uint32, 4)							\
	S(int64, 8)							\
	S(uint64, 8)							\
	S(float32, 4)							\
	S(float64, 8)							\
	R(string, char)							\
	R(type_array, type)						\
	R(name_array, name)						\
	R(symbols, symbol)						\
	/* Long values, in pieces: tnf(5). */				\
	R(bytes, uint8)							\
	R(text, tagged)							\
	R(blob, tagged)							\
	/* Members of type records. */					\
	D(tag, type)							\
	D(name, string)							\
	D(properties, type_array)					\
	D(slot_types, type_array)					\
	D(slot_names, name_array)					\
	D(type_size, uint32)						\
	D(align, uint32)						\
	D(header_size, uint32)						\
	D(self_size, uint32)						\
	D(derived_base, type)						\
	D(element_type, type)						\
	/* Members of events and schedule records. */			\
	D(probe_event, tag)						\
	D(time_base, int64)						\
	D(time_delta, uint32)						\
	D(pid, int32)							\
	D(lwpid, uint32)						\
	D(cpuid, int32)							\
	D(opaque, uint64)						\
	D(kthread_id, opaque)						\
	D(symbol, opaque)						\
	D(sysnum, int16)						\
	D(microstate, int32)						\
	D(fault_type, int32)						\
	D(seg_access, int32)						\
	D(bioflags, int32)						\
	D(offset, int64)						\
	D(diskaddr, int64)						\
	D(size, uint64)							\
	D(device, uint64)						\
	/* Arrays of numbers. */					\
	R(int8_array, int8)						\
	R(uint8_array, uint8)						\
	R(int16_array, int16)						\
	R(uint16_array, uint16)						\
	R(int32_array, int32)						\
	R(uint32_array, uint32)						\
	R(int64_array, int64)						\
	R(uint64_array, uint64)						\
	/* The last piece of a blob: tnf(5), "Long values". */		\
	R(padded_bytes, uint8)

#define TNF_CORE_ID_1(id)	TNF_CORE_##id,
#define TNF_CORE_ID_2(id, a)	TNF_CORE_##id,
enum tnf_core {
	TNF_CORE_TYPES(TNF_CORE_ID_1, TNF_CORE_ID_2, TNF_CORE_ID_2, TNF_CORE_ID_2,
	    TNF_CORE_ID_2)
	TNF_CORE_COUNT
};

#define TNF_CORE_SLOTS_MAX	9

/* The slots of a struct: their types and, unless they are named like these, names. */
struct tnf_core_slots {
	uint8_t		 type;			/* enum tnf_core: whose they are */
	uint8_t		 n;
	uint8_t		 slot[TNF_CORE_SLOTS_MAX];
	const char	*name[TNF_CORE_SLOTS_MAX];
};

struct tnf_core_type {
	const char	*name;
	uint8_t		 meta;		/* enum tnf_core: TNF_CORE_scalar_type, ... */
	uint8_t		 base;		/* derived: base; array: element */
	uint8_t		 size;		/* scalar, struct */
};

/* By number; TNF_CORE_type_none has no meaning. */
extern const struct tnf_core_type tnf_core_types[TNF_CORE_COUNT];

/* The type of that name; TNF_CORE_type_none: there is none. */
enum tnf_core tnf_core_find(const char *name);

/* The slots of a struct. */
const struct tnf_core_slots *tnf_core_slots(enum tnf_core);

/* Bytes, and alignment, of a slot of that type: a type that is no number has a reference
   of four bytes to a record. */
uint32_t tnf_core_slot_size(enum tnf_core);

/*
 * The header of a file.  The caller stores the magic words last: they say that the rest is
 * there.
 */

/* All members but the magic and blocks_valid.  The directory begins at the second
   block and ends at 'directory_end'; 'size' is that of the file or buffer. */
void tnf_header_set(struct tnf_file_header *, uint32_t block_size,
    uint32_t directory_end, uint64_t size);

/* Tag words of the header and of each block's header. */
#define TNF_HEADER_TAG(block_size)	(TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	    ((block_size) + TNF_DIR_FILE_HEADER))
#define TNF_BLOCK_HEADER_TAG(block_size) (TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	    ((block_size) + TNF_DIR_BLOCK_HEADER))

/* The id of this boot of the machine; false: it cannot be read, and *ret is not whole. */
#define TNF_BOOT_ID_SIZE	16
bool tnf_boot_id(uint8_t ret[TNF_BOOT_ID_SIZE]);
/* As the kernel prints it: 8-4-4-4-12 digits and a NUL. */
#define TNF_BOOT_ID_TEXT	37
void tnf_boot_id_text(const uint8_t id[TNF_BOOT_ID_SIZE], char ret[TNF_BOOT_ID_TEXT]);

/* Notes who writes, and when writing begins: size, kind, start_mono, start_wall (now) and
   boot_id (zeroes if it cannot be read).  The caller adds the cursors. */
void tnf_ext_begin(struct tnf_ext *, enum tnf_ext_kind);

/* True if both are of one buffer.  The place and time of its beginning identify a writer. */
static inline bool
tnf_ext_same(const struct tnf_ext *a, const struct tnf_ext *b)
{
	return a->start_mono != 0 && a->kind == b->kind && a->pid == b->pid &&
	    a->start_mono == b->start_mono && a->start_wall == b->start_wall &&
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

/*
 * Writes definitions: types, their names and properties, lists of slots.
 *
 * The caller gives room, in the file that it makes: a mapped file, a BPF map's
 * pages, blocks in memory.  A reference is the offset of a record in the file with
 * TNF_REF32_PERMANENT; 0 refers to nothing.  Numbers are in native byte order.
 *
 * The definitions refer to each other in circles.  So the place of a type is
 * remembered before its members are written.
 */

struct tnf_definer {
	/*
	 * Room for a record of 'size' bytes: zeroed, aligned to 8, within one block;
	 * its offset in the file in *offset.  Never NULL: a caller without room gives scratch
	 * memory of that size and offset 0.  Then 'failed' is set, and what is being
	 * defined is of no use.
	 */
	uint32_t *(*room)(void *arg, uint32_t size, uint32_t *offset);
	void	 *arg;
	/* Set when there was no room.  The caller clears it before the next definition. */
	bool	  failed;
	/* The offset of each built-in type in the file; 0: not written yet. */
	uint32_t  core[TNF_CORE_COUNT];
};

/* Readers classify a type by these; the lists are in core.c. */
enum tnf_properties {
	TNF_PROPERTIES_NULL, TNF_PROPERTIES_NONE, TNF_PROPERTIES_SCALAR,
	TNF_PROPERTIES_DERIVED, TNF_PROPERTIES_TAG_ARG, TNF_PROPERTIES_ARRAY,
	TNF_PROPERTIES_TAGGED_ARRAY, TNF_PROPERTIES_STRUCT, TNF_PROPERTIES_METATYPE
};

/* Characters that need not end in NUL. */
struct tnf_text {
	const char	*chars;
	size_t		 len;
};

/* The reference to a record or an array as it stands in a tag slot. */
uint32_t tnf_define_tag_of(uint32_t ref);

/* A built-in type, with all that it needs; 0 for TNF_CORE_type_none. */
uint32_t tnf_define_core(struct tnf_definer *, enum tnf_core);
uint32_t tnf_define_core_tag(struct tnf_definer *, enum tnf_core);

/* A string or name of that type; the caller cuts what is too long. */
uint32_t tnf_define_text(struct tnf_definer *, enum tnf_core, struct tnf_text);

/* An array of n references, which the caller stores in (*cells)[]. */
uint32_t tnf_define_array(struct tnf_definer *, enum tnf_core, unsigned n,
    uint32_t **cells);

/*
 * A type record with tag, name and properties.  *where is set to its offset at
 * once.  Returns its words; the caller fills in those from the fourth on: see the
 * slots of the metatypes in core.c.
 */
enum tnf_define_word {
	TNF_WORD_SCALAR_SIZE = 3, TNF_WORD_SCALAR_ALIGN = 4,
	TNF_WORD_DERIVED_BASE = 3,
	TNF_WORD_SLOT_TYPES = 3,	/* arrays, structs, probes */
	TNF_WORD_ARRAY_HEADER = 4, TNF_WORD_ARRAY_ELEMENT = 5,
	TNF_WORD_STRUCT_SIZE = 4, TNF_WORD_SLOT_NAMES = 5,
	TNF_WORD_PROBE_ATTRS = 6,
};
uint32_t *tnf_define_type(struct tnf_definer *, enum tnf_core meta,
    struct tnf_text name, enum tnf_properties, uint32_t *where);

/* Header and slots of an array type: tag and size, then elements. */
void tnf_define_array_rest(struct tnf_definer *, uint32_t *type, uint32_t element);

#endif
