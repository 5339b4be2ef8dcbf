/*
 * image.c - the bytes of a file; of one that is being written, a sound copy.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <errno.h>
#include <string.h>

#include "file.h"

#define COPY_MAX	((uint64_t)256 << 20)
#define TRIES		4

static bool
is_live(const struct tnf_file *f)
{
	return f->has_ext && f->ext.attached > f->ext.ended;
}

/*
 * One block.  If its writer has lost it to somebody else meanwhile, the copy
 * becomes a block that was never used.
 */
static void
copy_block(const struct tnf_file *f, unsigned char *to, uint32_t off)
{
	struct block before = file_block(f, off), after;
	const unsigned char *p = bytes_at(&f->bytes, off, f->block_size);

	if (p == NULL)
		return;
	memcpy(to + off, p, f->block_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	after = file_block(f, off);
	if (after.generation != before.generation || after.used < before.used)
		memset(to + off, 0, f->block_size);
}

static uint32_t
data_blocks(const struct tnf_file *f)
{
	uint64_t start = f->ext.data_start;

	if (start < f->data_start || start >= f->bytes.size ||
	    start % f->block_size != 0)
		return 0;
	return (uint32_t)((f->bytes.size - start) >> f->block_shift);
}

/* All blocks, in an order: the one that is taken next, which is the oldest,
   comes first. */
struct round {
	uint32_t n, first;
	uint32_t data;		/* data blocks; 0: the file does not say */
};

static struct round
from_the_oldest(const struct tnf_file *f)
{
	struct round r = {
		.n = (uint32_t)((f->bytes.size - f->data_start) >>
		    f->block_shift),
		.data = data_blocks(f)
	};

	if (r.data > 0)
		r.first = r.n - r.data + (uint32_t)(file_cursor(f) % r.data);
	return r;
}

static uint32_t
place(const struct tnf_file *f, const struct round *r, uint32_t i)
{
	uint64_t n = ((uint64_t)r->first + i) % r->n;

	return f->data_start + (uint32_t)(n << f->block_shift);
}

static void
copy_blocks(const struct tnf_file *f, unsigned char *to, const struct round *r,
    bool tags)
{
	struct block b;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		b = file_block(f, place(f, r, i));
		if (b.generation != TNF_GENERATION_FREE &&
		    (b.generation == TNF_GENERATION_TAG) == tags)
			copy_block(f, to, b.off);
	}
}

/*
 * Leaves out what has been taken over since it was copied.  An event reaches
 * into newer blocks only.  The newest are looked at first: of an event that
 * stays, all it reaches into has stayed.
 */
static void
drop_taken(const struct tnf_file *f, unsigned char *to, const struct round *r)
{
	struct tnf_file copied = { .bytes = { to, f->bytes.size, f->bytes.swap } };
	uint32_t i, off;

	for (i = r->n; i-- > 0;) {
		off = place(f, r, i);
		if (file_block(&copied, off).generation !=
		    file_block(f, off).generation)
			memset(to + off, 0, f->block_size);
	}
}

/*
 * What refers comes first, then what it refers to: older blocks, newer blocks,
 * the directory, definitions.  So a copied reference always finds its target,
 * unless the writer was around the file before the copy was.
 */
static void
copy(const struct tnf_file *f, unsigned char *to)
{
	struct round r;
	uint64_t start;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		start = file_cursor(f);
		r = from_the_oldest(f);
		copy_blocks(f, to, &r, false);
		drop_taken(f, to, &r);
		if (r.data == 0 || file_cursor(f) - start < r.data)
			break;
	}
	memcpy(to, f->bytes.base, f->data_start);
	copy_blocks(f, to, &r, true);
	memcpy(to + f->bytes.size, f->bytes.base + f->bytes.size,
	    f->whole - f->bytes.size);
}

static void *
copy_if_live(const void *map, size_t size)
{
	struct tnf_file f;
	void *p = NULL;

	if (size > COPY_MAX || file_init(&f, map, size, FILE_STRICT) != 0)
		return NULL;
	if (is_live(&f)) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			p = NULL;
		else
			copy(&f, p);
	}
	file_done(&f);
	return p;
}

TNF_API int
tnf_image_open(int fd, const void **base, size_t *size)
{
	struct stat st;
	void *map, *p;

	if (fstat(fd, &st) != 0)
		return errno;
	if (st.st_size == 0)
		return ENODATA;
	if ((uint64_t)st.st_size > SIZE_MAX)
		return EFBIG;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno;
	if ((p = copy_if_live(map, (size_t)st.st_size)) != NULL) {
		munmap(map, (size_t)st.st_size);
		map = p;
	} else
		madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
	*base = map;
	*size = (size_t)st.st_size;
	return 0;
}

TNF_API void
tnf_image_close(const void *base, size_t size)
{
	if (base != NULL)
		munmap((void *)(uintptr_t)base, size);
}

TNF_API bool
tnf_image_is_empty(const void *base, size_t size)
{
	return file_is_empty(base, size);
}
