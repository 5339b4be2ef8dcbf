/*
 * mkfile-impl.h - inside of the maker of trace files.
 */
#ifndef TESTS_MKFILE_IMPL_H
#define TESTS_MKFILE_IMPL_H

#include "tests/reader/mkfile.h"

#define MK_TYPES_MAX	128u
#define MK_PROBES_MAX	32u

struct mk_slot {
	char	 name[64];
	unsigned type;		/* index */
	uint32_t offset;
	uint32_t size;
	char	 how;		/* 'i'nteger, 'f'loat, 's'tring, 'r'eference */
};

struct mk_type {
	char	 name[64];
	char	 meta;		/* row of the table in mkfile-types.c */
	uint32_t pos;
	uint32_t size, align;	/* of a member; a struct: of itself */
	bool	 tagged;
	char	 how;
	unsigned n;
	struct mk_slot *slots;
};

struct mk {
	struct mk_opts	o;
	unsigned char	*p;
	size_t		 size;
	uint32_t	 header_size;	/* of a block */
	uint32_t	 data_start;
	uint32_t	 directory_next;
	uint32_t	 tag_block;	/* offset of the current one */
	uint32_t	 next_block, generation;
	uint16_t	*used;		/* by block number */
	bool		*held;		/* by block number */
	uint32_t	 last_event;
	uint32_t	 string_type;	/* offset; looked up often */
	struct mk_type	 *sched_type;
	struct mk_type	 types[MK_TYPES_MAX];
	unsigned	 n_types;
	struct { struct mk_type *type; uint32_t word; } probes[MK_PROBES_MAX];
	unsigned	 n_probes;
};

void	 mk_put(struct mk *, uint32_t pos, uint64_t v, unsigned size);
void	 mk_block_header(struct mk *, uint32_t off, uint32_t generation);
uint32_t mk_take_block(struct mk *);	/* the next data block; 0: none */
struct mk_type *mk_find(struct mk *, const char *name); /* aborts if unknown */

#endif
