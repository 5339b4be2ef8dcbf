/*
 * image.h - finds a kernel buffer in the memory image of a crashed machine.
 */
#ifndef TNFXTRACT_IMAGE_H
#define TNFXTRACT_IMAGE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

/* A piece of memory in the image, and what the image tells about the kernel. */
struct image_part {
	uint64_t offset;	/* for image_read() */
	uint64_t size;
	uint64_t address;	/* in the machine's memory */
};

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
 * An ELF core (kdump's vmcore, /proc/kcore, a hypervisor's dump), a compressed dump,
 * either of them flattened, or else raw memory.  0 or an errno; ENOEXEC: a compressed
 * dump, which this build or libkdumpfile does not read; ELIBACC: libkdumpfile is not
 * there; EINVAL: damaged.
 */
int  image_open(struct image *, const char *name);
void image_close(struct image *);
/* As pread(2); what is not in the image is an error, or ends what was read. */
ssize_t image_read(const struct image *, void *, size_t, uint64_t offset);

/* image.c: what VMCOREINFO's lines tell, which may lie among other things. */
void image_note(struct image *, const char *, size_t);
void image_text(char *to, size_t size, const char *from, size_t n);

/* image-memory.c: a number of VMCOREINFO, by all that is left of the '='.  false: not
   told. */
bool image_number(const struct image *, const char *key, uint64_t *ret);

/* Memory by addresses of the kernel; the image has to stay. */
struct image_reach;
struct image_map {
	const struct image *im;
	struct image_reach *reach;	/* by address; NULL: a compressed dump */
	/* arm64 */
	uint64_t memory, kernel;	/* from which addresses on each is */
	uint64_t memory_distance, kernel_distance;	/* from physical addresses */
	/* x86-64 */
	uint64_t table;			/* where the first one is */
	uint64_t encrypted;		/* a bit of entries that is no address */
	unsigned shift;			/* of addresses, in the first table */
};
/* false: the image does not tell how addresses are translated, or there is no memory;
   nothing is to be freed then. */
bool image_map_open(struct image_map *, const struct image *);
void image_map_close(struct image_map *);
/* false: not there. */
bool image_physical(const struct image_map *, uint64_t at, void *, size_t);
bool image_memory(const struct image_map *, uint64_t address, void *, size_t);

/* image-printk.c: the last 100 messages of the kernel as dmesg(1) prints them, the latest
   last, without a newline at the end; free() it.  NULL: not there. */
char *image_printk(const struct image *);

/* image-apart.c: compressed dumps, by a process that may end of what is damaged. */
int  image_apart_open(struct image *);
void image_apart_close(struct image *);
ssize_t image_apart_read(const struct image *, void *, size_t, uint64_t);
/* At how many places reading had to begin anew, since a page was damaged. */
unsigned image_apart_damaged(const struct image *);

/* image-kdump.c, in that process; what it takes ends with it.  EBADMSG: nothing more must
   be read. */
int  image_kdump_open(struct image *);
ssize_t image_kdump_read(const struct image *, void *, size_t, uint64_t);
uint64_t image_kdump_page(const struct image *);

/* image.c: a new descriptor of the dump in order. */
int  image_flat_order(int fd, int *ret);

struct image_buffer {
	void	*base;		/* mapped: image_buffer_free() */
	size_t	 size;
	uint32_t missing;	/* blocks that the image does not have */
	uint32_t first;		/* bit n: block n is there, of the first 32 */
	uint64_t definitions;	/* their sum (TNF_TAIL_DEFINITIONS); 0: not known */
};

/* The buffer, put together: 0, ENOENT: none there, ENODATA: its definitions are
   not in the image, or another errno. */
int  image_find(const struct image *, struct image_buffer *ret);

struct image_search;
/* The same from what has been searched; with ENODATA *ret is what there is without the
   definitions, and to be freed.  not_boot: not one of this boot; may be NULL. */
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
	uint32_t missing;	/* of these not in the image */
	uint32_t undefined;	/* blocks or words of definitions that are not */
};

/* Calls take() with each, which is valid until it returns; what is not 0 ends it and is
   returned.  0 or an errno. */
int  image_find_files(const struct image *, const struct image_search *,
    const uint8_t *not_boot, int (*take)(void *, const struct image_file *), void *);

/* All that depends on the machine that an image is of, whatever machine reads it. */
struct image_arch {
	const char *name;	/* as uname(2) has it */
	const char *known_by;	/* a line of VMCOREINFO that only its kernels write */
	uint16_t elf;		/* e_machine of its ELF files */
	uint64_t code;		/* the kernel's and its modules' code is from here up */
	/* Reads from VMCOREINFO's lines what translate() needs.  false: not told. */
	bool (*open)(struct image_map *, const struct image *);
	/* The physical address.  false: there is none. */
	bool (*translate)(const struct image_map *, uint64_t address, uint64_t *ret);
};

/* NULL: none that we know. */
const struct image_arch *image_arch_by_name(const char *);
const struct image_arch *image_arch_by_elf(uint16_t machine);
const struct image_arch *image_arch_by_info(const struct image *);
/* Is that the address of one of these? */
bool image_arch_known(const struct image_arch *);

/* From where on words may be addresses of code; of a machine that is not known (NULL),
   on each that we know. */
uint64_t image_arch_code(const struct image_arch *);
/* The same for the kernel that runs here. */
uint64_t image_arch_code_here(void);

#define IMAGE_PAGE		4096u
#define IMAGE_FILE_BLOCK	512u	/* of a process's trace file */

struct image_page {
	uint64_t key;
	uint64_t number;
	uint64_t offset;	/* for image_read() */
};

struct image_pages {
	struct image_page *row;		/* sorted by key, number, offset */
	size_t	 n;
	size_t	 room;
};

struct image_search {
	struct image_pages kernel;	/* cookie, number of the block */
	struct image_pages heads;	/* first pages of files: cookie, data_cursor */
	struct image_pages blocks;	/* others: low half of the cookie plus the
					   number of the page's first block, 0 */
	uint64_t left_out;		/* pages of processes' files: there were too many */
	uint64_t info;			/* where VMCOREINFO's lines are; 0: not seen */
};

/* 0 or an errno, and then there is nothing to be freed. */
int  image_search(const struct image *, struct image_search *ret);
void image_search_free(struct image_search *);

/* A first page of this kind of trace, with a cookie. */
bool image_is_first(const unsigned char *page, uint32_t kind, struct tnf_ext *);

#endif /* TNFXTRACT_IMAGE_H */
