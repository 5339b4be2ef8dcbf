/*
 * file-bytes.c - the bytes of a file; of one that is being written, a sound copy.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <unistd.h>

#include "libtnf/file.h"

#ifdef HAVE_ZSTD
#endif

#define COPY_MAX	((uint64_t)256 << 20)
#define ZERO_PAGE	4096u

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

	if (size > COPY_MAX || tnf_file_init(&f, map, size, FILE_STRICT) != 0)
		return NULL;
	if (is_live(&f)) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		/* Thousands of page faults would take longer than the copy. */
		if (p != MAP_FAILED)
			madvise(p, size, MADV_HUGEPAGE);
		if (p == MAP_FAILED)
			p = NULL;
		else if (tnf_copy_live(&f, p) != 0) {
			munmap(p, size);
			p = NULL;
		}
	}
	tnf_file_done(&f);
	return p;
}

/*
 * Is all of a file zeros?  Holes are not read: a sparse file may be larger than can be
 * read.  0, 1, or -1 and errno.
 */
static int
is_all_zero(int fd, uint64_t size)
{
	unsigned char buf[65536];
	off_t at = 0;
	ssize_t n;

	while ((uint64_t)at < size) {
		if ((at = lseek(fd, at, SEEK_DATA)) < 0)
			return errno == ENXIO ? 1 : -1;
		if ((n = pread(fd, buf, sizeof buf, at)) <= 0)
			return n == 0 ? 1 : -1;
		if (!tnf_file_is_zero(buf, (uint64_t)n))
			return 0;
		at += n;
	}
	return 1;
}

/* Lowers *size to the bytes that are to be mapped: one page if the file is all zeros. */
static int
size_to_map(int fd, uint64_t *size)
{
	unsigned char head[TNF_EXT_OFFSET + sizeof(struct tnf_ext)];
	ssize_t n = pread(fd, head, sizeof head, 0);

	if (*size <= ZERO_PAGE || n != (ssize_t)sizeof head ||
	    !tnf_file_is_zero(head, sizeof head))
		return 0;
	switch (is_all_zero(fd, *size)) {
	case 0:
		return TNF_ERR_NOTTNF;
	case 1:
		*size = ZERO_PAGE;
		break;
	}
	return 0;
}

#ifdef HAVE_ZSTD
/*
 * Notes in the extension of our own image that its end is missing.  An image without an
 * extension has no place for the note, and is refused like a file that was cut off.
 */
static void
mark_cut(unsigned char *map, uint64_t size)
{
	const uint64_t at = TNF_EXT_OFFSET + offsetof(struct tnf_ext, compatible);
	struct tnf_file f;
	uint32_t flags;

	if (tnf_file_init(&f, map, size, FILE_CUT_IS_FINE) != 0)
		return;
	if (f.has_ext && f.cut && at + sizeof(flags) <= size) {
		flags = f.ext.compatible | TNF_EXT_CUT;
		if (f.bytes.swap)
			flags = __builtin_bswap32(flags);
		memcpy(map + at, &flags, sizeof(flags));
	}
	tnf_file_done(&f);
}

/* 0: the file is compressed and has been unpacked; -1: it is not compressed; else an errno or
   TNF_ERR_*. */
static int
open_compressed(int fd, const void **base, size_t *ret)
{
	unsigned char magic[4];
	uint64_t size;
	bool cut;
	void *map;
	int error;

	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    !tnf_zstd_is_magic(magic, sizeof(magic)))
		return -1;
	if ((error = tnf_zstd_unpack(fd, &map, &size, &cut)) != 0)
		return error;
	if (cut)
		mark_cut(map, size);
	*base = map;
	*ret = (size_t)size;
	return 0;
}
#else
static int
open_compressed(int fd, const void **base, size_t *ret)
{
	return -1;
}
#endif

TNF_API int
tnf_image_open(int fd, const void **base, size_t *ret)
{
	struct stat st;
	void *map, *p;
	int error;

	if (fstat(fd, &st) != 0)
		return errno;
	if (st.st_size == 0)
		return ENODATA;
	if ((error = open_compressed(fd, base, ret)) >= 0)
		return error;
	uint64_t size = (uint64_t)st.st_size;
	if (S_ISREG(st.st_mode) && (error = size_to_map(fd, &size)) != 0)
		return error;
	if (size > SIZE_MAX)
		return EFBIG;
	map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno;
	if ((p = copy_if_live(map, (size_t)size)) != NULL) {
		munmap(map, (size_t)size);
		map = p;
	} else
		madvise(map, (size_t)size, MADV_SEQUENTIAL);
	*base = map;
	*ret = (size_t)size;
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
	return tnf_file_is_empty(base, size);
}
