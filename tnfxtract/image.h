/*
 * image.h - finds a kernel buffer in the memory image of a crashed machine.
 */
#ifndef TNFXTRACT_IMAGE_H
#define TNFXTRACT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of memory in the image, and what the image tells about the kernel. */
struct image_part {
	uint64_t offset;	/* in the file */
	uint64_t size;
};

struct image {
	int	 fd;
	struct image_part *part;
	size_t	 n_parts;
	char	 release[128];	/* "": not told */
	uint64_t stext;		/* where the kernel's text began; 0: not told */
};

/* An ELF core (kdump's vmcore, /proc/kcore, a hypervisor's dump) or else raw
   memory.  0 or an errno; ENOEXEC: a compressed dump, ENOTSUP: a flattened one. */
int  image_open(struct image *, const char *name);
void image_close(struct image *);

struct image_buffer {
	void	*base;		/* mapped: image_buffer_free() */
	size_t	 size;
	uint32_t missing;	/* data blocks that the image does not have */
};

/* The buffer, put together: 0, ENOENT: none there, ENODATA: its definitions are
   not in the image, or another errno. */
int  image_find(const struct image *, struct image_buffer *ret);
void image_buffer_free(struct image_buffer *);

#endif /* TNFXTRACT_IMAGE_H */
