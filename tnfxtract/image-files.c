/*
 * image-files.c - puts trace files of processes together from a memory image.
 *
 * A process writes its trace into a mapping of the file, so that the last events are in the
 * page cache and, after a crash, often nowhere else.  Each used block holds the low half of
 * the file's cookie plus the block's number; the first page, with the header and the
 * directory's first words, holds the whole cookie.  A page may be there twice, if the file
 * was copied: the newer of two blocks counts.
 */
#include <sys/mman.h>

#include "tnfxtract/image.h"
#include "tnfxtract/snapshot.h"

#define FILE_MAX	(1ull << 30)	/* largest file of libtnfprobe */
#define BLOCK		IMAGE_FILE_BLOCK

/* Reads the header from a file's first page; false: it cannot be used. */
static bool
read_head(const struct image *im, uint64_t offset, unsigned char *page, struct tnf_ext *ext)
{
	struct tnf_file_header h;

	if (image_read(im, page, IMAGE_PAGE, offset) != (ssize_t)IMAGE_PAGE ||
	    !image_is_first(page, TNF_EXT_PROCESS, ext))
		return false;
	memcpy(&h, page, sizeof h);
	return h.block_size == BLOCK && h.block_count >= IMAGE_PAGE / BLOCK &&
	    (uint64_t)h.block_count * BLOCK <= FILE_MAX &&
	    h.directory_size % BLOCK == 0 && h.directory_size < h.block_count * BLOCK &&
	    ext->data_start % BLOCK == 0 && ext->data_start >= h.directory_size &&
	    ext->data_start < h.block_count * BLOCK;
}

/* True if 'a' is of a later lap than 'b', or if more has been committed to it. */
static bool
is_newer(const struct tnf_block_header *a, const struct tnf_block_header *b)
{
	if (a->generation != b->generation)
		return a->generation == TNF_GENERATION_TAG || (b->generation !=
		    TNF_GENERATION_TAG && (int32_t)(a->generation - b->generation) > 0);
	return a->bytes_valid > b->bytes_valid;
}

/* Puts the blocks of a page into the file, except blocks that are damaged or of another file. */
static void
put_page(const struct image_file *f, const struct tnf_file_header *h,
    const unsigned char *page, uint32_t number, uint32_t cookie)
{
	struct tnf_block_header from, to;
	unsigned char *base = f->base;

	for (uint32_t i = 0; i < IMAGE_PAGE / BLOCK && number + i < h->block_count; i++) {
		/* The header, which was checked, stays; the directory has no blocks. */
		if (number + i == 0 || number + i < h->directory_size / BLOCK)
			continue;
		memcpy(&from, page + i * BLOCK, sizeof from);
		memcpy(&to, base + (uint64_t)(number + i) * BLOCK, sizeof to);
		if (from.tag == TNF_BLOCK_TAG(BLOCK) && from.pad == cookie + number + i &&
		    (to.tag == 0 || is_newer(&from, &to)))
			memcpy(base + (uint64_t)(number + i) * BLOCK, page + i * BLOCK, BLOCK);
	}
}

/* Returns the first row with this key or a greater one. */
static size_t
lower_bound(const struct image_pages *p, uint64_t key)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->row[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
put_blocks(const struct image *im, const struct image_pages *p, const struct image_file *f,
    const struct tnf_file_header *h, uint32_t cookie, uint64_t from, uint64_t to)
{
	unsigned char page[IMAGE_PAGE];

	for (size_t i = lower_bound(p, from); i < p->n && p->row[i].key < to; i++) {
		uint32_t number = (uint32_t)p->row[i].key - cookie;
		if (number % (IMAGE_PAGE / BLOCK) == 0 && number < h->block_count &&
		    image_read(im, page, sizeof page, p->row[i].offset) == (ssize_t)sizeof page)
			put_page(f, h, page, number, cookie);
	}
}

/*
 * Counts used blocks that are missing.  Blocks of definitions are taken from the reserve
 * first, in order; data blocks in the order of the cursor, but some of them are never used.
 */
static void
count_missing(struct image_file *f, const struct tnf_file_header *h, const struct tnf_ext *ext)
{
	uint64_t reserve = (ext->data_start - h->directory_size) / BLOCK;
	uint64_t data = h->block_count - ext->data_start / BLOCK;
	uint64_t n = ext->tag_cursor < reserve ? ext->tag_cursor : reserve, i;
	const struct tnf_block_header *b;

	for (i = 0; i < n; i++) {
		b = (const void *)(f->base + h->directory_size + i * BLOCK);
		f->undefined += b->tag == 0;
	}
	n = ext->data_cursor < data ? ext->data_cursor : data;
	for (i = 0; i < n; i++) {
		b = (const void *)(f->base + ext->data_start + i * BLOCK);
		f->missing += b->tag == 0;
	}
	f->used = (uint32_t)n;
	/* Later pages of the directory have no mark, so they are never found. */
	f->undefined += ext->dir_cursor > IMAGE_PAGE ? (ext->dir_cursor - IMAGE_PAGE) / 4 : 0;
}

/* Removes the marks, so that the copy in memory is not mistaken for the file. */
static void
image_files_clean(struct image_file *f, const struct tnf_ext *ext)
{
	struct tnf_ext now = *ext;

	now.cookie = 0;
	now.extra_offset = now.extra_size = 0;
	memcpy(f->base + TNF_EXT_OFFSET, &now, sizeof now);
	for (uint64_t at = IMAGE_PAGE; at < f->size; at += BLOCK) {
		struct tnf_block_header *b = (void *)(f->base + at);
		if (b->tag != 0)
			b->pad = 0;
	}
}

static int
put_together(const struct image *im, const struct image_search *s, const unsigned char *page,
    const struct tnf_ext *ext, struct image_file *f)
{
	struct tnf_file_header h;
	uint32_t cookie = (uint32_t)ext->cookie;

	memcpy(&h, page, sizeof h);
	memset(f, 0, sizeof *f);
	f->size = (uint64_t)h.block_count * BLOCK;
	f->base = mmap(NULL, f->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->base == MAP_FAILED)
		return errno;
	memcpy(f->base, page, IMAGE_PAGE);
	/* The marks wrap at 32 bits, so a second range of keys may be needed. */
	uint64_t end = (uint64_t)cookie + h.block_count;
	put_blocks(im, &s->blocks, f, &h, cookie, cookie, end);
	if (end > UINT32_MAX)
		put_blocks(im, &s->blocks, f, &h, cookie, 0, end - UINT32_MAX);
	f->pid = ext->pid;
	memcpy(f->boot_id, ext->boot_id, sizeof f->boot_id);
	count_missing(f, &h, ext);
	image_files_clean(f, ext);
	return 0;
}

/* Puts each trace file together and passes it to take().  If several first pages hold the
   same cookie, the one with the largest data_cursor counts, as the newest copy. */
int
image_find_files(const struct image *im, const struct image_search *s, const uint8_t *not_boot,
    int (*take)(void *, const struct image_file *), void *arg)
{
	unsigned char page[IMAGE_PAGE];
	struct image_file f;
	struct tnf_ext ext;
	int e = 0;

	for (size_t i = 0; i < s->heads.n && e == 0; i++) {
		if (i + 1 < s->heads.n && s->heads.row[i + 1].key == s->heads.row[i].key)
			continue;
		if (!read_head(im, s->heads.row[i].offset, page, &ext) || (not_boot != NULL &&
		    memcmp(ext.boot_id, not_boot, sizeof ext.boot_id) == 0))
			continue;
		e = put_together(im, s, page, &ext, &f);
		if (e == 0) {
			e = take(arg, &f);
			munmap(f.base, f.size);
		}
	}
	return e;
}
