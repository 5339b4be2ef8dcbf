/*
 * image-find.c - puts a buffer together from the pages of a memory image.
 *
 * The pages of a buffer lie in any order; each says which block it is and, by
 * the buffer's cookie, of which buffer (<tnf/com.h>, struct tnf_page_id).
 * Pages of buffers freed long ago may still be about: the buffer of which most
 * is there counts, of two alike the newer.  Copies that tnfxtract has made
 * carry no cookie, so that they are not taken for the buffer.
 */
#include "tnfxtract/image.h"

#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/com.h>

#include "tnfxtract/snapshot.h"

#define BLOCK		4096u
#define READ_SIZE	(4u << 20)
#define PAGES_MAX	(1u << 22)	/* 16 GiB of buffers */
#define SIZE_MAX_BUFFER	(4ull << 30)

struct page {
	uint64_t cookie;
	uint64_t number;
	uint64_t offset;
};

struct pages {
	struct page *row;
	size_t	     n;
	size_t	     room;
};

static int
add_page(struct pages *p, uint64_t cookie, uint64_t number, uint64_t offset)
{
	struct page *row;
	size_t room;

	if (p->n == PAGES_MAX)
		return EFBIG;
	if (p->n == p->room) {
		room = p->room ? p->room * 2 : 4096;
		row = reallocarray(p->row, room, sizeof *row);
		if (row == NULL)
			return ENOMEM;
		p->row = row;
		p->room = room;
	}
	p->row[p->n++] = (struct page){ cookie, number, offset };
	return 0;
}

static bool
is_first_block(const unsigned char *page, struct tnf_ext *ext)
{
	uint32_t magic;

	memcpy(&magic, page, sizeof magic);
	if (magic != TNF_MAGIC)
		return false;
	memcpy(ext, page + TNF_EXT_OFFSET, sizeof *ext);
	return ext->magic == TNF_EXT_MAGIC && ext->kind == TNF_EXT_KERNEL &&
	    ext->cookie != 0;
}

static int
look_at_page(struct pages *p, const unsigned char *page, uint64_t offset)
{
	struct tnf_block_header h;
	struct tnf_page_id id;
	struct tnf_ext ext;

	memcpy(&h, page, sizeof h);
	if (h.tag == TNF_BLOCK_TAG(BLOCK) && h.next_block != 0 && h.pad != 0)
		return add_page(p, h.next_block, h.pad, offset);
	if (is_first_block(page, &ext))
		return add_page(p, ext.cookie, 0, offset);
	memcpy(&id, page + BLOCK - sizeof id, sizeof id);
	if (id.magic == TNF_PAGE_ID_MAGIC && id.cookie != 0 && id.number != 0)
		return add_page(p, id.cookie, id.number, offset);
	return 0;
}

/* Holes of a live image cannot be read: they are passed over. */
static int
search_part(const struct image *im, const struct image_part *part,
    unsigned char *buf, struct pages *p)
{
	uint64_t at = 0;
	size_t want, i;
	ssize_t got;
	int e;

	while (at < part->size) {
		want = part->size - at < READ_SIZE ?
		    (size_t)(part->size - at) : READ_SIZE;
		got = image_read(im, buf, want, part->offset + at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			break;		/* the file ends before the segment */
		if (got < (ssize_t)BLOCK) {
			at += BLOCK;
			continue;
		}
		got -= got % BLOCK;
		for (i = 0; i < (size_t)got; i += BLOCK) {
			e = look_at_page(p, buf + i, part->offset + at + i);
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
	const struct page *x = a, *y = b;

	if (x->cookie != y->cookie)
		return x->cookie < y->cookie ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

struct candidate {
	size_t	 first, n;	/* its pages */
	size_t	 blocks;	/* different numbers among them */
	int64_t	 start;
	uint64_t size;
};

/* Rates the buffer whose pages begin at 'first'; size 0: no use. */
static struct candidate
rate(const struct image *im, const struct pages *p, size_t first)
{
	struct candidate c = { .first = first };
	unsigned char page[BLOCK];
	struct tnf_file_header h;
	struct tnf_ext ext;
	size_t i;

	for (i = first; i < p->n && p->row[i].cookie == p->row[first].cookie;
	    i++)
		if (i == first || p->row[i].number != p->row[i - 1].number)
			c.blocks++;
	c.n = i - first;
	if (p->row[first].number != 0 ||
	    image_read(im, page, sizeof page, p->row[first].offset) !=
	    (ssize_t)sizeof page || !is_first_block(page, &ext))
		return c;
	memcpy(&h, page, sizeof h);
	c.start = ext.start_mono;
	if (h.block_size == BLOCK)
		c.size = (uint64_t)h.block_count * BLOCK;
	if (c.size > SIZE_MAX_BUFFER)
		c.size = 0;
	return c;
}

static struct candidate
best_buffer(const struct image *im, const struct pages *p)
{
	struct candidate c, best = { .size = 0 };
	size_t i;

	for (i = 0; i < p->n; i += c.n) {
		c = rate(im, p, i);
		if (c.size != 0 && (best.size == 0 ||
		    c.blocks > best.blocks || (c.blocks == best.blocks &&
		    c.start > best.start)))
			best = c;
	}
	return best;
}

/* How many of the blocks lo .. hi-1 there are. */
static uint64_t
count_blocks(const struct pages *p, const struct candidate *c, uint64_t lo,
    uint64_t hi)
{
	const struct page *row = p->row + c->first;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		count += row[i].number >= lo && row[i].number < hi &&
		    (i == 0 || row[i].number != row[i - 1].number);
	return count;
}

/* The directory has to be there; blocks that are not read as never used. */
static int
assemble(const struct image *im, const struct pages *p,
    const struct candidate *c, struct image_buffer *ret)
{
	const struct page *row = p->row + c->first;
	uint64_t n = c->size / BLOCK, directory;
	struct tnf_file_header h;
	char *base;
	size_t i;

	base = mmap(NULL, c->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return errno;
	ret->base = base;
	ret->size = c->size;
	for (i = 0; i < c->n; i++)
		if (row[i].number < n && image_read(im,
		    base + row[i].number * BLOCK, BLOCK, row[i].offset) != BLOCK)
			return EIO;
	memcpy(&h, base, sizeof h);
	directory = h.directory_size / BLOCK;
	if (directory < 2 || count_blocks(p, c, 1, directory) != directory - 1)
		return ENODATA;
	ret->missing = (uint32_t)(n - count_blocks(p, c, 0, n));
	return 0;
}

int
image_find(const struct image *im, struct image_buffer *ret)
{
	struct pages p = { .n = 0 };
	struct candidate best;
	unsigned char *buf;
	size_t i;
	int e = 0;

	ret->base = NULL;
	ret->size = ret->missing = 0;
	buf = malloc(READ_SIZE);
	if (buf == NULL)
		return ENOMEM;
	for (i = 0; i < im->n_parts && e == 0; i++)
		e = search_part(im, &im->part[i], buf, &p);
	free(buf);
	if (e == 0 && p.n > 1)
		qsort(p.row, p.n, sizeof *p.row, compare_pages);
	if (e == 0) {
		best = best_buffer(im, &p);
		e = best.size == 0 ? ENOENT : assemble(im, &p, &best, ret);
	}
	free(p.row);
	if (e != 0)
		image_buffer_free(ret);
	return e;
}

void
image_buffer_free(struct image_buffer *b)
{
	if (b->base != NULL)
		munmap(b->base, b->size);
	b->base = NULL;
}
