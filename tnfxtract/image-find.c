/*
 * image-find.c - finds the pages of a memory image that belong to traces, and puts a buffer
 * together from its pages.
 *
 * The pages of a buffer are in any order; each holds its block's number and the buffer's
 * cookie (<tnf/com.h>, struct tnf_page_id).  Pages of buffers freed long ago may remain:
 * the buffer with the most pages counts, and of two with equally many the newer.  Copies
 * made by tnfxtract have no cookie, so they are not mistaken for the buffer.  If the first
 * page is missing, its contents are found in the other pages (enum tnf_tail_word).
 */
#include <sys/mman.h>

#include "common/map.h"
#include "format/core.h"
#include "tnfxtract/image.h"
#include "tnfxtract/snapshot.h"

#define BLOCK		IMAGE_PAGE
#define SIZE_MAX_BUFFER	(4ull << 30)

struct head {			/* contents of the first page */
	uint64_t size;
	uint32_t block_size, directory_size;
	uint64_t definitions;	/* sum of definitions; 0: not known */
	struct tnf_ext ext;
};

struct candidate {
	size_t	 first, n;	/* its pages */
	size_t	 blocks;	/* different numbers among the pages */
	uint64_t size;		/* 0: cannot be used */
	bool	 whole;		/* its first page is there */
	struct head head;
};

static bool
read_first(const struct image *im, const struct image_page *row, struct head *ret)
{
	unsigned char page[BLOCK];
	struct tnf_file_header h;

	if (row->number != 0 || image_read(im, page, sizeof page, row->offset) !=
	    (ssize_t)sizeof page || !image_is_first(page, TNF_EXT_KERNEL, &ret->ext))
		return false;
	memcpy(&h, page, sizeof h);
	ret->block_size = h.block_size;
	ret->directory_size = h.directory_size;
	ret->size = (uint64_t)h.block_count * h.block_size;
	return true;
}

/* Reads the word of the header that a block of events holds; false: it is no such block. */
static bool
read_tail(const struct image *im, const struct image_page *row, uint64_t *ret)
{
	unsigned char page[BLOCK];
	struct tnf_block_header h;

	if (image_read(im, page, sizeof page, row->offset) != (ssize_t)sizeof page)
		return false;
	memcpy(&h, page, sizeof h);
	memcpy(ret, page + BLOCK - sizeof *ret, sizeof *ret);
	return h.tag == TNF_BLOCK_TAG(BLOCK) && h.generation != TNF_GENERATION_TAG;
}

/* Fills the header from the blocks that are there.  The end of imported probes is not
   known: it may be anywhere in the directory. */
static bool
read_tails(const struct image *im, const struct image_page *row, size_t n, struct head *ret)
{
	uint64_t word[TNF_TAIL_WORDS] = { 0 }, v;
	unsigned have = 0, all = (1u << TNF_TAIL_WORDS) - 1, i;

	for (size_t at = 0; at < n && have != all; at++) {
		i = (unsigned)(row[at].number % TNF_TAIL_WORDS);
		if ((have & 1u << i) == 0 && read_tail(im, &row[at], &v)) {
			word[i] = v;
			have |= 1u << i;
		}
	}
	memset(ret, 0, sizeof *ret);
	ret->size = word[TNF_TAIL_SIZE];
	ret->block_size = (uint32_t)word[TNF_TAIL_BLOCKS];
	ret->directory_size = word[TNF_TAIL_BLOCKS] >> 32;
	ret->definitions = word[TNF_TAIL_DEFINITIONS];
	ret->ext = (struct tnf_ext){ .magic = TNF_EXT_MAGIC, .version = TNF_EXT_VERSION,
		.size = sizeof ret->ext, .kind = TNF_EXT_KERNEL, .cookie = row->key,
		.dir_cursor = ret->directory_size, .data_start = (uint32_t)word[TNF_TAIL_START],
		.start_mono = (int64_t)word[TNF_TAIL_MONO],
		.start_wall = (int64_t)word[TNF_TAIL_WALL] };
	memcpy(ret->ext.boot_id, &word[TNF_TAIL_BOOT], sizeof ret->ext.boot_id);
	return have == all && ret->directory_size < ret->size &&
	    ret->directory_size % BLOCK == 0;
}

/* Rates the buffer whose pages begin at 'first'. */
static struct candidate
image_find_rate(const struct image *im, const struct image_search *s, size_t first,
    const uint8_t *not_boot)
{
	const struct image_pages *p = &s->kernel;
	struct candidate c = { .first = first };
	size_t i;

	for (i = first; i < p->n && p->row[i].key == p->row[first].key;
	    i++)
		if (i == first || p->row[i].number != p->row[i - 1].number)
			c.blocks++;
	c.n = i - first;
	c.whole = read_first(im, &p->row[first], &c.head);
	if (!c.whole && !read_tails(im, p->row + first, c.n, &c.head))
		return c;
	if (not_boot != NULL && memcmp(c.head.ext.boot_id, not_boot, sizeof c.head.ext.boot_id) == 0)
		return c;
	if (c.head.block_size == BLOCK && c.head.size % BLOCK == 0 &&
	    c.head.size <= SIZE_MAX_BUFFER)
		c.size = c.head.size;
	return c;
}

static struct candidate
best_buffer(const struct image *im, const struct image_search *s, const uint8_t *not_boot)
{
	struct candidate c, best = { .size = 0 };

	for (size_t i = 0; i < s->kernel.n; i += c.n) {
		c = image_find_rate(im, s, i, not_boot);
		if (c.size != 0 && (best.size == 0 ||
		    c.blocks > best.blocks || (c.blocks == best.blocks &&
		    c.head.ext.start_mono > best.head.ext.start_mono)))
			best = c;
	}
	return best;
}

/* Counts how many of the blocks lo .. hi-1 are there. */
static uint64_t
count_blocks(const struct image_pages *p, const struct candidate *c, uint64_t lo,
    uint64_t hi)
{
	const struct image_page *row = p->row + c->first;
	uint64_t count = 0;

	for (size_t i = 0; i < c->n; i++)
		count += row[i].number >= lo && row[i].number < hi &&
		    (i == 0 || row[i].number != row[i - 1].number);
	return count;
}

/* The number of blocks up to the end of the used directory: the kernel's has room for many
   more probes, and pages without a word in them are not needed. */
static uint64_t
directory_blocks(const char *base, const struct tnf_file_header *h)
{
	struct tnf_ext ext;

	memcpy(&ext, base + TNF_EXT_OFFSET, sizeof ext);
	return (ext.dir_cursor > BLOCK && ext.dir_cursor < h->directory_size ? ext.dir_cursor +
	    (uint64_t)BLOCK - 1 : h->directory_size) / BLOCK;
}

/* The number of data blocks taken, computed from the newest block. */
static uint64_t
newest_block(const char *base, const struct head *head)
{
	uint64_t most = 0;
	struct tnf_block_header h;

	for (uint64_t at = head->directory_size; at + BLOCK <= head->size; at += BLOCK) {
		memcpy(&h, base + at, sizeof h);
		if (h.generation != TNF_GENERATION_FREE && h.generation != TNF_GENERATION_TAG &&
		    h.generation > most)
			most = h.generation;
	}
	return most;
}

/* The end of the last used word of the directory, whose blocks end in a struct tnf_page_id. */
static uint32_t
directory_end(const char *base, uint32_t size)
{
	uint32_t word, end = BLOCK;

	for (uint32_t at = BLOCK; at + sizeof word <= size; at += sizeof word) {
		memcpy(&word, base + at, sizeof word);
		if (word != 0 && at % BLOCK < BLOCK - sizeof(struct tnf_page_id))
			end = at + (uint32_t)sizeof word;
	}
	return end;
}

/* Writes the first page anew, after all others are in place. */
static void
write_first(char *base, const struct head *head, bool has_directory)
{
	struct tnf_file_header *h = (void *)base;
	struct tnf_ext ext = head->ext;

	ext.data_cursor = newest_block(base, head);
	if (has_directory)
		ext.dir_cursor = directory_end(base, head->directory_size);
	tnf_header_set(h, BLOCK, head->directory_size, head->size);
	h->magic = TNF_MAGIC;
	memcpy(base + TNF_EXT_OFFSET, &ext, sizeof ext);
}

/* Puts the buffer together.  The directory must be there; missing blocks read as never used. */
static int
image_find_assemble(const struct image *im, const struct image_pages *p,
    const struct candidate *c, struct image_buffer *ret)
{
	const struct image_page *row = p->row + c->first;
	uint64_t n = c->size / BLOCK, directory;
	struct tnf_file_header h;
	struct head tails;
	char *base = mmap(NULL, c->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return errno;
	ret->base = base;
	ret->size = c->size;
	for (size_t i = 0; i < c->n; i++)
		if (row[i].number < n) {
			if (image_read(im, base + row[i].number * BLOCK, BLOCK,
			    row[i].offset) != BLOCK)
				return EIO;
			ret->first |= row[i].number < 32 ? 1u << row[i].number : 0;
		}
	if (read_tails(im, row, c->n, &tails))
		ret->definitions = tails.definitions;
	ret->missing = (uint32_t)(n - count_blocks(p, c, 0, n));
	if (!c->whole) {
		directory = c->head.directory_size / BLOCK;
		write_first(base, &c->head, count_blocks(p, c, 1, directory) == directory - 1);
		ret->first |= 1;
		ret->missing--;
	}
	memcpy(&h, base, sizeof h);
	directory = directory_blocks(base, &h);
	return directory < 2 || count_blocks(p, c, 1, directory) != directory - 1 ? ENODATA : 0;
}

int
image_find_buffer(const struct image *im, const struct image_search *s,
    const uint8_t *not_boot, struct image_buffer *ret)
{
	struct candidate best;

	ret->base = NULL;
	ret->size = ret->missing = ret->first = 0;
	ret->definitions = 0;
	best = best_buffer(im, s, not_boot);
	int e = best.size == 0 ? ENOENT : image_find_assemble(im, &s->kernel, &best, ret);
	if (e != 0 && e != ENODATA)
		image_buffer_free(ret);
	return e;
}

int
image_find(const struct image *im, struct image_buffer *ret)
{
	struct image_search s;

	ret->base = NULL;
	int e = image_search(im, &s);
	if (e != 0)
		return e;
	e = image_find_buffer(im, &s, NULL, ret);
	if (e != 0)
		image_buffer_free(ret);
	image_search_free(&s);
	return e;
}

void
image_buffer_free(struct image_buffer *b)
{
	if (b->base != NULL)
		munmap(b->base, b->size);
	b->base = NULL;
}

/*
 * Finds the pages of a memory image that belong to traces.
 *
 * Each page of a kernel's buffer, and each block of a process's trace file, holds its
 * number and the mark of its buffer or file (<tnf/com.h>).  An image is read once for all
 * of them: reading a compressed image takes minutes.
 */

#define READ_SIZE	(4u << 20)
#define PAGES_MAX	(1u << 22)	/* 16 GiB of buffers */

static int
add_page(struct image_pages *p, uint64_t key, uint64_t number, uint64_t offset)
{
	struct image_page *row;

	if (p->n == PAGES_MAX)
		return EFBIG;
	if ((row = tnf_grow(p->row, p->n, sizeof *row)) == NULL)
		return ENOMEM;
	p->row = row;
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
