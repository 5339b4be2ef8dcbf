/*
 * image.c - the bytes of a file; of one that is being written, a sound copy.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <errno.h>
#include <string.h>

#include "file.h"

#define COPY_MAX	((uint64_t)64 << 20)

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

static void
copy_blocks(const struct tnf_file *f, unsigned char *to, bool tags)
{
	uint64_t off;
	struct block b;

	for (off = f->data_start; off < f->bytes.size; off += f->block_size) {
		b = file_block(f, (uint32_t)off);
		if (b.generation != TNF_GENERATION_FREE &&
		    (b.generation == TNF_GENERATION_TAG) == tags)
			copy_block(f, to, (uint32_t)off);
	}
}

/*
 * What refers comes first, then what it refers to: events, the directory,
 * definitions.  So a copied reference always finds its target.
 */
static void
copy(const struct tnf_file *f, unsigned char *to)
{
	copy_blocks(f, to, false);
	memcpy(to, f->bytes.base, f->data_start);
	copy_blocks(f, to, true);
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
