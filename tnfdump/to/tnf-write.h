/*
 * tnf-write.h - writes a TNF file (tnf(5)): definitions as they are needed,
 * events of any input in order of time.
 *
 * Native byte order, one lap: blocks are handed out in sequence to
 * definitions and to data, and written when full.  Functions return 0 or an
 * errno; E2BIG: a record that does not fit, which was left out.
 *
 * Original readers set limits that tnf(5) does not.  They find the block of a record from
 * the address at which they have mapped it, so a block is at most a page.  They accept
 * backward references only if these are permanent.
 */
#ifndef TNFDUMP_TO_TNF_WRITE_H
#define TNFDUMP_TO_TNF_WRITE_H

#include <stdio.h>

#include "analysis/attrs.h"
#include "common/map.h"
#include "format/core.h"

#define TNFW_BLOCK	4096u
#define TNFW_ROOM	(TNFW_BLOCK - (uint32_t)sizeof(struct tnf_block_header))
#define TNFW_DIRECTORY	TNF_DIRECTORY_NAMED	/* end of the directory */
#define TNFW_WORDS	((TNFW_DIRECTORY - TNFW_BLOCK) / 4)
#define TNFW_PROBES_MAX	(TNFW_WORDS - TNF_DIR_FIRST_PROBE / 4)
#define TNFW_REACH	(1u << 30)	/* end of what permanent references reach */
/* Definitions are named by 31-bit signed offsets, events by 32-bit ones. */
#define TNFW_TAG_LIMIT	(TNFW_REACH - TNFW_BLOCK)
#define TNFW_FILE_LIMIT	((uint64_t)UINT32_MAX - TNFW_BLOCK)
#define TNFW_CHAIN_MAX	320u	/* blocks that one event reaches into */
#define TNFW_DEPTH_MAX	64u	/* types in types; deeper ones become a general type */

struct tnfw_block {
	uint32_t offset;	/* in the file; 0: none yet */
	uint32_t used;
	char	 bytes[TNFW_BLOCK];
};

/* A thread's schedule record in the current block. */
struct tnfw_schedule {
	uint32_t block;		/* its block's offset; if not the current one, free */
	uint32_t pos;		/* in the block */
	bool	 kernel;
	int32_t	 pid, cpu;
	uint32_t lwpid;
	uint64_t tid;
	int64_t	 base;
};
#define TNFW_SCHEDULES 256

struct tnf_writer {
	int		 fd;
	int		 error;		/* errno of the first failed write */
	uint64_t	 next;		/* offset of the next block */
	struct tnfw_block *data;
	struct tnfw_block **tags;
	unsigned	 n_tags;
	struct tnf_definer definer;
	char		*nowhere;	/* scratch when a block cannot be had */
	struct tnfw_def	*defs;
	unsigned	 n_defs;
	struct map	 types;		/* const struct tnf_type * of the input -> int */
	unsigned	 depth;		/* of types that are being defined */
	bool		 too_large;	/* a definition that is needed is too large */
	uint64_t	 unreachable;	/* references that could not be written */
	struct perprobe	 probes;	/* struct tnfw_probe * */
	uint32_t	 directory[TNFW_WORDS];
	unsigned	 n_directory;
	struct tnfw_schedule schedules[TNFW_SCHEDULES];
	struct tnf_ext	 ext;
	bool		 has_ext;	/* write 'ext': the data are not an original's */
	struct map	*redacted;	/* --redact: the texts, with their tokens; or NULL */
};

/* tnf-event.c */
int tnfw_event(struct tnf_writer *, const struct tnf_event *);
void tnfw_free_probes(struct tnf_writer *);

/* tnf.c */
/* Gives zeroed room for a record in the block, a multiple of 8 long.  tnfw_tag_room()
   begins a new block if needed.  NULL: the record is too large (w->too_large is set), or
   writing failed (w->error is set). */
char *tnfw_room(struct tnfw_block *, uint32_t size);
char *tnfw_tag_room(struct tnf_writer *, uint32_t size, uint32_t *offset);
/* Begins a block after all others, below 'limit'; false: w->error is set. */
bool tnfw_begin_block(struct tnf_writer *, struct tnfw_block *, uint64_t limit);
void tnfw_write_data(struct tnf_writer *, struct tnfw_block *);
int tnfw_new_data_block(struct tnf_writer *);

/* A type of the input, or a probe.  The first TNF_CORE_COUNT definitions are the built-in
   types, numbered as in format/core.h. */
struct tnfw_def {
	const char	*name;
	enum tnf_core	 meta;		/* its kind: TNF_CORE_struct_type, ... */
	uint32_t	 size;		/* scalars, structs */
	int		 base;		/* derived; arrays: element */
	int		*slots;
	const char	**slot_names;	/* NULL: none */
	unsigned	 n_slots;
	const char	*attrs;		/* of a probe */
	uint32_t	 offset;	/* in the file; 0: not placed */
	bool		 too_large;	/* too large for a block: neither it nor its users can be
					   used */
	const struct tnf_type *source;	/* the input's record type, or NULL */
};

/* tnf-define.c */
int tnfw_define_core(struct tnf_writer *);	/* 0 or an errno */
/* Size and alignment in bytes of a slot or an element. */
uint32_t tnfw_slot_size(const struct tnf_writer *, int def);
uint32_t tnfw_slot_align(const struct tnf_writer *, int def);
/* Writes a definition and those it needs; returns the offset, or 0. */
uint32_t tnfw_place(struct tnf_writer *, int def);

/* The index of a definition. */
int tnfw_type(struct tnf_writer *, const struct tnf_type *);
int tnfw_probe_def(struct tnf_writer *, const struct tnf_probe *);

/* --redact: the token of a text, until the next call; texts that are equal have the same. */
const char *redact_text(struct map *texts, const char *chars, size_t len);
/* The part of a probe's attributes that stays. */
struct tnf_text redact_attrs(const char *attrs);

static inline uint32_t
tnfw_round(uint32_t n, uint32_t to)
{
	return (n + to - 1) & ~(to - 1);
}

#endif
