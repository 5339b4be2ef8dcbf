/*
 * table.h - the types of a file, by the offset of their records.
 */
#ifndef LIBTNF_TABLE_H
#define LIBTNF_TABLE_H

#include <stdint.h>

#include <tnf/com.h>

#define TABLE_TYPES_MAX	(1u << 20)	/* a data handle has 20 bits for it */
#define TABLE_TAGS	64u

struct type;

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

struct type *table_find(const struct type_table *, uint32_t pos);
int	     table_add(struct type_table *, struct type *); /* sets index */

#endif /* LIBTNF_TABLE_H */
