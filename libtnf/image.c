/*
 * image.c - the bytes of a file; of one that is being written, a sound copy.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <errno.h>

#include "copy.h"

#define COPY_MAX	((uint64_t)256 << 20)

static bool
is_live(const struct tnf_file *f)
{
	return f->has_ext && f->ext.attached > f->ext.ended;
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
		else if (copy_live(&f, p) != 0) {
			munmap(p, size);
			p = NULL;
		}
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
