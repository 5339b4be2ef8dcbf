/*
 * code.h - the bytes of an ELF file as they are loaded, the functions that its call frame
 * information tells apart, and the marks: where threads may come to other than from
 * the instruction before.
 *
 * Files are untrusted; addresses are those of the file.
 */
#ifndef LIBTNFCTL_CODE_H
#define LIBTNFCTL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define CODE_SEGMENTS_MAX	64u

struct elffile;

struct code_segment {
	uint64_t address, size;
	bool	 exec;
	uint8_t	*bytes;		/* NULL once they are not needed any more */
	uint8_t	*marks;		/* a bit for each byte; NULL if nothing is executed there */
};

struct code_frame {		/* of a function, or a part of one */
	uint64_t start, end;
	bool	 is_signal;	/* what is there makes a signal handler return */
	bool	 computes;	/* takes addresses inside itself, and may add numbers to them */
};

struct code {
	struct code_segment segments[CODE_SEGMENTS_MAX];
	unsigned n;
	struct code_frame *frames;	/* in the order of their addresses */
	size_t	 nframes;
	uint64_t *anchors;	/* addresses at which an instruction begins, in order */
	size_t	 nanchors;
	bool	 failed;	/* no memory */
};

/* Makes room for one more than n in an array that grows by doubling; NULL: no memory, and
   the array is as it was. */
static inline void *
tnfctl_code_grow(void *array, size_t n, size_t size)
{
	return (n & (n - 1)) != 0 ? array : reallocarray(array, n == 0 ? 1 : 2 * n, size);
}

/* false and errno: it cannot be read.  tnfctl_code_free() in any case. */
bool	tnfctl_code_load(struct elffile *, struct code *ret);
/* Lets the bytes of data go. */
void	tnfctl_code_keep_executed(struct code *);
void	tnfctl_code_free(struct code *);

/* The bytes from an address to the end of its segment; NULL: nothing is loaded there. */
const uint8_t *tnfctl_code_at(const struct code *, uint64_t address, size_t *left);
bool	tnfctl_code_is_executed(const struct code *, uint64_t address);

/* An address where nothing is executed gets no mark. */
void	tnfctl_code_mark(struct code *, uint64_t address);
bool	tnfctl_code_is_marked(const struct code *, uint64_t address);
/* false: no memory. */
bool	tnfctl_code_anchor(struct code *, uint64_t address);

/* Reads the call frame information: frames, and marks where exceptions are caught.  false: it
   is damaged, or of a kind that is not understood. */
bool	tnfctl_code_read_frames(struct code *, struct elffile *);
/* NULL: none. */
struct code_frame *tnfctl_code_frame(const struct code *, uint64_t address);

/* Marks everything that branches, addresses in code and in data, and relocations lead
   to.  NULL, or why the object must not be patched. */
const char *tnfctl_code_read_branches(struct code *, struct elffile *);

#endif
