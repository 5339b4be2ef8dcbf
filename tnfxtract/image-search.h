/*
 * image-search.h - the pages of a memory image that belong to traces.
 */
#ifndef TNFXTRACT_IMAGE_SEARCH_H
#define TNFXTRACT_IMAGE_SEARCH_H

#include <tnf/com.h>

#include "tnfxtract/image.h"

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

#endif /* TNFXTRACT_IMAGE_SEARCH_H */
