/*
 * image.h - finds a kernel buffer in the memory image of a crashed machine.  common/files.h and
 * <stdlib.h> come with it.
 */
#ifndef TNFXTRACT_IMAGE_H
#define TNFXTRACT_IMAGE_H

#include <stdlib.h>

#include <tnf/com.h>

#include "common/files.h"

/* A piece of memory in the image. */
struct image_part {
	uint64_t offset;	/* for image_read() */
	uint64_t size;
	uint64_t address;	/* in the machine's memory */
};

/* An open image, and the facts in it about its kernel. */
struct image {
	int	 fd;
	struct image_part *part;
	size_t	 n_parts;
	char	 release[128];	/* "": not told */
	char	 host[65];
	uint64_t stext;		/* where the kernel's text began; 0: not told */
	int64_t	 crashed;	/* seconds since 1970; 0: not told */
	const struct image_arch *arch;	/* NULL: not told, or not known */
	char	*info;		/* VMCOREINFO's lines; NULL: not told */
	struct image_apart *apart;	/* a compressed dump; NULL: fd has the memory */
	struct image_kdump *kdump;	/* in the process that reads it */
};

/*
 * Opens an ELF core (kdump's vmcore, /proc/kcore, a hypervisor's dump), a compressed dump,
 * either of them flattened, or else raw memory.  Returns 0 or an errno; ENOEXEC: a
 * compressed dump, which this build or libkdumpfile cannot read; ELIBACC: libkdumpfile is
 * not installed; EINVAL: damaged.
 */
int  image_open(struct image *, const char *name);
void image_close(struct image *);
/* As pread(2); memory that is not in the image gives an error, or ends the read early. */
ssize_t image_read(const struct image *, void *, size_t, uint64_t offset);

/* image.c: takes facts from VMCOREINFO's lines, which may be among other data. */
void image_note(struct image *, const char *, size_t);
void image_text(char *to, size_t size, const char *from, size_t n);

/* image-memory.c: reads a number of VMCOREINFO; 'key' is the text before the '='.  false:
   it is not there. */
bool image_number(const struct image *, const char *key, uint64_t *ret);

/* Reads memory by addresses of the kernel; the image must stay open. */
struct image_reach;
struct image_map {
	const struct image *im;
	struct image_reach *reach;	/* by address; NULL: a compressed dump */
	/* arm64 */
	uint64_t memory, kernel;	/* first address of each */
	uint64_t memory_distance, kernel_distance;	/* distances to physical addresses */
	/* x86-64 */
	uint64_t table;			/* address of the first table */
	uint64_t encrypted;		/* bit of entries that is not of the address */
	unsigned shift;			/* of addresses, in the first table */
};
/* false: the image does not tell how addresses are translated, or there is no memory;
   nothing is to be freed then. */
bool image_map_open(struct image_map *, const struct image *);
void image_map_close(struct image_map *);
/* These return false if the memory is not in the image. */
bool image_physical(const struct image_map *, uint64_t at, void *, size_t);
bool image_memory(const struct image_map *, uint64_t address, void *, size_t);

/* image-printk.c: the last 100 messages of the kernel as dmesg(1) prints them, the latest
   last, without a newline at the end; the caller frees it.  NULL: there are none. */
char *image_printk(const struct image *);

/* image-apart.c: reads compressed dumps in a process that may end at damaged pages. */
int  image_apart_open(struct image *);
void image_apart_close(struct image *);
ssize_t image_apart_read(const struct image *, void *, size_t, uint64_t);
/* The number of damaged pages at which a new process had to begin. */
unsigned image_apart_damaged(const struct image *);

/* image.c: puts a flattened dump in order; *ret is a new descriptor of the result. */
int  image_flat_order(int fd, int *ret);

struct image_buffer {
	void	*base;		/* mapped: image_buffer_free() */
	size_t	 size;
	uint32_t missing;	/* blocks that the image does not have */
	uint32_t first;		/* bit n: block n of the first 32 is there */
	uint64_t definitions;	/* sum of definitions (TNF_TAIL_DEFINITIONS); 0: not known */
};

/* Puts the buffer together.  Returns 0; ENOENT: there is none; ENODATA: its definitions are
   not in the image; or another errno. */
int  image_find(const struct image *, struct image_buffer *ret);

struct image_search;
/* The same from the results of a search.  With ENODATA, *ret is the buffer without its
   definitions, to be freed.  not_boot, or NULL: a boot whose buffers do not count. */
int  image_find_buffer(const struct image *, const struct image_search *,
    const uint8_t *not_boot, struct image_buffer *ret);
void image_buffer_free(struct image_buffer *);

/* A trace file of a process, as it was in the page cache. */
struct image_file {
	unsigned char *base;
	uint64_t size;
	int32_t	 pid;
	uint8_t	 boot_id[16];
	uint32_t used;		/* data blocks, all of them in the last lap */
	uint32_t missing;	/* used blocks that are not in the image */
	uint32_t undefined;	/* blocks or words of definitions not in the image */
};

/* Calls take() with each file, which is valid during the call; a result other than 0 ends
   the search and is returned.  Returns 0 or an errno. */
int  image_find_files(const struct image *, const struct image_search *,
    const uint8_t *not_boot, int (*take)(void *, const struct image_file *), void *);

/* Everything that depends on the machine of the image, not on the machine that reads it. */
struct image_arch {
	const char *name;	/* as uname(2) has it */
	const char *known_by;	/* a line of VMCOREINFO that only its kernels write */
	uint16_t elf;		/* e_machine of its ELF files */
	uint64_t code;		/* lowest address of code of the kernel and modules */
	/* Reads the numbers that translate() needs from VMCOREINFO's lines; false: one is
	   missing. */
	bool (*open)(struct image_map *, const struct image *);
	/* Translates to a physical address; false: there is none. */
	bool (*translate)(const struct image_map *, uint64_t address, uint64_t *ret);
};

/* These return NULL if no known machine fits. */
const struct image_arch *image_arch_by_name(const char *);
const struct image_arch *image_arch_by_elf(uint16_t machine);
const struct image_arch *image_arch_by_info(const struct image *);
/* True if the pointer is one of the known machines. */
bool image_arch_known(const struct image_arch *);

/* The lowest address of code; if the machine is not known (NULL), the lowest of all machines. */
uint64_t image_arch_code(const struct image_arch *);
/* The same for the running kernel. */
uint64_t image_arch_code_here(void);

#define IMAGE_PAGE		4096u
#define IMAGE_FILE_BLOCK	512u	/* block of a process's trace file */

struct image_page {
	uint64_t key;
	uint64_t number;
	uint64_t offset;	/* for image_read() */
};

struct image_pages {
	struct image_page *row;		/* sorted by key, number, offset */
	size_t	 n;
};

struct image_search {
	struct image_pages kernel;	/* cookie, number of the block */
	struct image_pages heads;	/* first pages of files: cookie, data_cursor */
	struct image_pages blocks;	/* others: low half of the cookie plus the
					   number of the page's first block, 0 */
	uint64_t left_out;		/* pages of processes' files left out: too many */
	uint64_t info;			/* offset of VMCOREINFO's lines; 0: not found */
};

/* Returns 0, or an errno with nothing to free. */
int  image_search(const struct image *, struct image_search *ret);
void image_search_free(struct image_search *);

/* True for a first page of this kind of trace that has a cookie. */
bool image_is_first(const unsigned char *page, uint32_t kind, struct tnf_ext *);

#endif /* TNFXTRACT_IMAGE_H */
