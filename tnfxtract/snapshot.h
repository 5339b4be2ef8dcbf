/*
 * snapshot.h - a consistent copy of a kernel buffer that is being written.
 *
 * The buffer is plain memory, and the copy goes to a sink, block by block, so that live
 * buffers, memory images, tests and the fuzzer use the same code.  Nothing in the buffer is
 * trusted: a malicious buffer gives a useless copy.
 */
#ifndef TNFXTRACT_SNAPSHOT_H
#define TNFXTRACT_SNAPSHOT_H

#include <sys/uio.h>

#include <tnf/com.h>

#include "format/live.h"

/* The tag of block headers: a reference to the directory's second word. */
#define TNF_BLOCK_TAG(block_size) \
	(TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	((uint32_t)(block_size) + TNF_DIR_BLOCK_HEADER))

enum snapshot_result {
	SNAPSHOT_OK,
	SNAPSHOT_NOT_TNF,
	SNAPSHOT_VERSION,	/* snapshot.version says which */
	SNAPSHOT_DAMAGED,	/* impossible sizes in the header */
	SNAPSHOT_NO_MEMORY,
	SNAPSHOT_SINK		/* the sink failed and knows why */
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
	uint32_t blanked;	/* blocks taken during the copy: left out */
	struct live live;
	struct live_use *seen;	/* by block, during a copy */
	unsigned char *result;	/* by block: enum live_copied */
};

struct snapshot_sink {
	/* Writes n bytes at 'offset'; parts that are never written read as zero. */
	bool (*put)(void *arg, uint64_t offset, const void *bytes, size_t n);
	/* Writes n pieces, one behind the other, which others may change; NULL: put() gets a copy. */
	bool (*put_pieces)(void *arg, uint64_t offset, const struct iovec *, int n);
	/* Sees each block of events that was written, in the buffer, whose writer may change it; also one
	   that is blanked afterwards.  May be NULL. */
	void (*look)(void *arg, const unsigned char *block, size_t valid);
	/* Called at the moment of the copy: later events are not in it.  May be NULL. */
	void (*moment)(void *arg);
	void *arg;
};

/* Checks the header of 'size' bytes at 'base', 8-byte aligned, and fills *s. */
enum snapshot_result snapshot_open(struct snapshot *s, const void *base,
    size_t size);

/* Makes the copy; may be called again for a newer one. */
enum snapshot_result snapshot_copy(struct snapshot *s,
    const struct snapshot_sink *);

struct kp;
struct context_writer;

/* Writes devices, living and ended tasks, their former names, and the names of values of
   imported probes.  May run while another thread copies the buffer. */
void kernel_context(struct kp *, struct context_writer *);

/* Words of a trace that may be addresses of kernel code. */
struct addrs {
	uint64_t start;		/* start of code, set by the caller: image_arch_code() */
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
