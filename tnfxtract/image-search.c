/*
 * image-search.c - finds the pages of a memory image that belong to traces.
 *
 * Each page of a kernel's buffer, and each block of a process's trace file, holds its
 * number and the mark of its buffer or file (<tnf/com.h>).  An image is read once for all
 * of them: reading a compressed image takes minutes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tnfxtract/image.h"
#include "tnfxtract/snapshot.h"

#define READ_SIZE	(4u << 20)
#define PAGES_MAX	(1u << 22)	/* 16 GiB of buffers */

static int
add_page(struct image_pages *p, uint64_t key, uint64_t number, uint64_t offset)
{
	if (p->n == PAGES_MAX)
		return EFBIG;
	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 4096;
		struct image_page *row = reallocarray(p->row, room, sizeof *row);
		if (row == NULL)
			return ENOMEM;
		p->row = row;
		p->room = room;
	}
	p->row[p->n++] = (struct image_page){ key, number, offset };
	return 0;
}

bool
image_is_first(const unsigned char *page, uint32_t kind, struct tnf_ext *ext)
{
	uint32_t magic;

	memcpy(&magic, page, sizeof magic);
	if (magic != TNF_MAGIC)
		return false;
	memcpy(ext, page + TNF_EXT_OFFSET, sizeof *ext);
	return ext->magic == TNF_EXT_MAGIC && ext->kind == kind && ext->cookie != 0;
}

/* The sum that the page's first block would hold, computed from any block that has been used. */
static bool
image_page_sum(const unsigned char *page, uint32_t *ret)
{
	struct tnf_block_header h;

	for (uint32_t i = 0; i < IMAGE_PAGE / IMAGE_FILE_BLOCK; i++) {
		memcpy(&h, page + i * IMAGE_FILE_BLOCK, sizeof h);
		if (h.tag == TNF_BLOCK_TAG(IMAGE_FILE_BLOCK)) {
			*ret = h.pad - i;
			return true;
		}
	}
	return false;
}

/* Adds a page of a process's file.  Any user can fill memory with such pages, so if there
   is no more room for them, the search for the kernel's pages goes on. */
static int
add_file_page(struct image_search *s, struct image_pages *p, uint64_t key, uint64_t number,
    uint64_t offset)
{
	int e = add_page(p, key, number, offset);

	if (e != EFBIG)
		return e;
	s->left_out++;
	return 0;
}

static int
look_at_page(struct image_search *s, const unsigned char *page, uint64_t offset)
{
	struct tnf_block_header h;
	struct tnf_page_id id;
	struct tnf_ext ext;
	uint32_t sum;

	memcpy(&h, page, sizeof h);
	if (h.tag == TNF_BLOCK_TAG(IMAGE_PAGE) && h.next_block != 0 && h.pad != 0)
		return add_page(&s->kernel, h.next_block, h.pad, offset);
	if (image_is_first(page, TNF_EXT_KERNEL, &ext))
		return add_page(&s->kernel, ext.cookie, 0, offset);
	if (image_is_first(page, TNF_EXT_PROCESS, &ext))
		return add_file_page(s, &s->heads, ext.cookie, ext.data_cursor, offset);
	if (image_page_sum(page, &sum))
		return add_file_page(s, &s->blocks, sum, 0, offset);
	if (s->info == 0 && memcmp(page, "OSRELEASE=", 10) == 0)
		s->info = offset;
	memcpy(&id, page + IMAGE_PAGE - sizeof id, sizeof id);
	if (id.magic == TNF_PAGE_ID_MAGIC && id.cookie != 0 && id.number != 0)
		return add_page(&s->kernel, id.cookie, id.number, offset);
	return 0;
}

/* The distance to the next page that the file has: a damaged flattened dump may, after
   being put in order, have holes of terabytes. */
static uint64_t
hole(const struct image *im, uint64_t offset)
{
	off_t data = im->apart != NULL ? -1 : lseek(im->fd, (off_t)offset, SEEK_DATA);

	return data < 0 ? 0 : ((uint64_t)data - offset) & ~(uint64_t)(IMAGE_PAGE - 1);
}

/* Searches a part; holes of a live image cannot be read and are skipped. */
static int
search_part(const struct image *im, const struct image_part *part,
    unsigned char *buf, struct image_search *s)
{
	uint64_t at = 0, skip;

	while (at < part->size) {
		if ((skip = hole(im, part->offset + at)) >= part->size - at)
			break;
		at += skip;
		size_t want = part->size - at < READ_SIZE ?
		    (size_t)(part->size - at) : READ_SIZE;
		ssize_t got = image_read(im, buf, want, part->offset + at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			break;		/* the file ends before the segment */
		if (got < (ssize_t)IMAGE_PAGE) {
			at += IMAGE_PAGE;
			continue;
		}
		got -= got % IMAGE_PAGE;
		for (size_t i = 0; i < (size_t)got; i += IMAGE_PAGE) {
			int e = look_at_page(s, buf + i, part->offset + at + i);
			if (e != 0)
				return e;
		}
		at += (uint64_t)got;
	}
	return 0;
}

static int
compare_pages(const void *a, const void *b)
{
	const struct image_page *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void
sort_pages(struct image_pages *p)
{
	if (p->n > 1)
		qsort(p->row, p->n, sizeof *p->row, compare_pages);
}

int
image_search(const struct image *im, struct image_search *s)
{
	int e = 0;

	memset(s, 0, sizeof *s);
	unsigned char *buf = malloc(READ_SIZE);
	if (buf == NULL)
		return ENOMEM;
	for (size_t i = 0; i < im->n_parts && e == 0; i++)
		e = search_part(im, &im->part[i], buf, s);
	free(buf);
	sort_pages(&s->kernel);
	sort_pages(&s->heads);
	sort_pages(&s->blocks);
	if (e != 0)
		image_search_free(s);
	return e;
}

void
image_search_free(struct image_search *s)
{
	free(s->kernel.row);
	free(s->heads.row);
	free(s->blocks.row);
	memset(s, 0, sizeof *s);
}
