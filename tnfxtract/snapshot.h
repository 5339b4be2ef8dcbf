/*
 * snapshot.h - a consistent copy of a kernel buffer that is being written.
 *
 * Takes the buffer as plain memory and gives the copy to a sink, block by
 * block, so that live buffers, memory images, tests and the fuzzer go the same
 * way.  Nothing in the buffer is believed: a hostile one gives a useless copy.
 */
#ifndef TNFXTRACT_SNAPSHOT_H
#define TNFXTRACT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

#include "format/live.h"

/* The tag of block headers: to the directory's second word. */
#define TNF_BLOCK_TAG(block_size) \
	(TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	((uint32_t)(block_size) + TNF_DIR_BLOCK_HEADER))

enum snapshot_result {
	SNAPSHOT_OK,
	SNAPSHOT_NOT_TNF,
	SNAPSHOT_VERSION,	/* snapshot.version says which */
	SNAPSHOT_DAMAGED,	/* sizes in the header cannot be */
	SNAPSHOT_NO_MEMORY,
	SNAPSHOT_SINK		/* the sink failed; it knows why */
};

struct snapshot {
	const unsigned char *base;
	uint32_t version;
	uint32_t block_size;
	uint32_t block_tag;	/* first word of each block's header */
	uint32_t directory_end;	/* offset of the first block with a header */
	uint32_t block_count;
	uint64_t size;		/* of the copy: block_size * block_count */
	uint32_t used;		/* blocks that hold something */
	uint32_t blanked;	/* blocks taken meanwhile: left out */
	struct live live;
	struct live_use *seen;	/* by block; while it is copied, ... */
	unsigned char *result;	/* ... and enum live_copied */
};

struct snapshot_sink {
	/* Puts n bytes at 'offset'; what is never put reads as zero. */
	bool (*put)(void *arg, uint64_t offset, const void *bytes, size_t n);
	/* Sees each block of events that was copied; may be NULL. */
	void (*look)(void *arg, const unsigned char *block, size_t valid);
	/* The moment that the copy is of is now: what comes later is not in it.  May be
	   NULL. */
	void (*moment)(void *arg);
	void *arg;
};

/* Checks the header of 'size' bytes at 'base', 8-byte aligned, and fills *s. */
enum snapshot_result snapshot_open(struct snapshot *s, const void *base,
    size_t size);

/* Copies.  May be called again for a newer copy. */
enum snapshot_result snapshot_copy(struct snapshot *s,
    const struct snapshot_sink *);

struct kp;
struct context_writer;

/* Devices, tasks that live and that have ended, names that they had, and what values of
   imported probes are called.  May be called while another thread copies the buffer. */
void kernel_context(struct kp *, struct context_writer *);

/* The words of a trace that may be addresses of kernel code. */
struct addrs {
	uint64_t start;		/* where code begins: image_arch_code(); to be set */
	uint64_t *slot;		/* hash table; 0: free */
	size_t	  room;		/* a power of two; 0: none yet */
	size_t	  n;
};

/* Notes the candidates among the words of a block; 8-byte aligned. */
void addrs_scan(struct addrs *, const unsigned char *block, size_t valid);

/* Packs them into slot[0..n-1]; then only addrs_free() may follow. */
void addrs_pack(struct addrs *);
void addrs_free(struct addrs *);

#endif /* TNFXTRACT_SNAPSHOT_H */
