/*
 * define.h - writes definitions: types, their names and properties, lists of slots.
 *
 * The caller gives room, in the file that it makes: a mapped file, a BPF map's
 * pages, blocks in memory.  A reference is the offset of a record in the file with
 * TNF_REF32_PERMANENT; 0 refers to nothing.  Numbers are in native byte order.
 *
 * The definitions refer to each other in circles.  So the place of a type is
 * remembered before its members are written.
 */
#ifndef FORMAT_DEFINE_H
#define FORMAT_DEFINE_H

#include <stddef.h>
#include <stdint.h>

#include "format/core.h"

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

/* Readers classify a type by these; the lists are in define.c. */
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

#endif /* FORMAT_DEFINE_H */
