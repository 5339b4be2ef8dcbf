/*
 * file-bytes.c - the bytes of a file: a sound copy of one that is being written, those that
 * zstd(1) has compressed of one that is compressed.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "libtnf/file.h"

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
#define SIZE_LIMIT	((uint64_t)UINT32_MAX + ((uint64_t)64 << 20))	/* with a context */
#define BYTES_FREE	((uint64_t)64 << 20)	/* other than zeros */
#define BYTES_EACH	256u			/* ... and for each compressed one */
#define ROOM_FIRST	((uint64_t)1 << 20)
#define PAGE		4096u

struct unpack {
	int		 fd;
	ZSTD_DStream	*stream;
	unsigned char	*map;
	uint64_t	 room, size;
	uint64_t	 read;			/* compressed bytes */
	uint64_t	 touched;		/* bytes of pages that are not zeros */
	unsigned char	*in_buf, *out_buf;
};

/* True if these are the first bytes of a file that zstd has compressed. */
static bool
tnf_zstd_is_magic(const unsigned char *p, uint64_t n)
{
	const struct bytes b = { p, n, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	uint32_t magic = bytes_u32(&b, 0);

	return magic == ZSTD_MAGICNUMBER ||
	    (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static int
make_room(struct unpack *u, uint64_t n)
{
	uint64_t room = u->room;

	if (n > SIZE_LIMIT - u->size || n > SIZE_MAX - u->size)
		return EFBIG;
	while (room < u->size + n)
		room *= 2;
	if (room == u->room)
		return 0;
	void *p = mremap(u->map, (size_t)u->room, (size_t)room, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return errno;
	u->map = p;
	u->room = room;
	return 0;
}

/* Takes over what has come out, page by page. */
static int
image_zstd_append(struct unpack *u, const unsigned char *p, uint64_t n)
{
	int error = make_room(u, n);
	uint64_t part;

	for (; error == 0 && n > 0; p += part, n -= part) {
		part = PAGE - u->size % PAGE;
		if (part > n)
			part = n;
		if (!tnf_file_is_zero(p, part)) {
			memcpy(u->map + u->size, p, part);
			u->touched += part;
		}
		u->size += part;
	}
	if (error == 0 && u->touched > BYTES_FREE && (u->touched - BYTES_FREE) / BYTES_EACH > u->read)
		error = EFBIG;
	return error;
}

/* Unpacks a buffer full of input.  *left: the frame has not ended yet. */
static int
unpack_part(struct unpack *u, ZSTD_inBuffer *in, bool *left)
{
	ZSTD_outBuffer out = { u->out_buf, ZSTD_DStreamOutSize(), 0 };
	int error;

	do {
		out.pos = 0;
		size_t r = ZSTD_decompressStream(u->stream, &out, in);
		if (ZSTD_isError(r))
			return EBADMSG;
		if ((error = image_zstd_append(u, u->out_buf, out.pos)) != 0)
			return error;
		*left = r != 0;
	} while (in->pos < in->size || out.pos == out.size);
	return 0;
}

static int
unpack_all(struct unpack *u, bool *cut)
{
	bool left = true;
	ssize_t n;
	int error = 0;

	while (error == 0 && (n = pread(u->fd, u->in_buf, ZSTD_DStreamInSize(),
	    (off_t)u->read)) != 0) {
		ZSTD_inBuffer in = { u->in_buf, (size_t)n, 0 };

		if (n < 0)
			return errno;
		u->read += (uint64_t)n;
		error = unpack_part(u, &in, &left);
	}
	*cut = error == EBADMSG || left;
	return error == EBADMSG ? 0 : error;
}

static int
unpack_begin(struct unpack *u)
{
	void *p = mmap(NULL, (size_t)ROOM_FIRST, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return errno;
	u->map = p;
	u->room = ROOM_FIRST;
	u->in_buf = malloc(ZSTD_DStreamInSize());
	u->out_buf = malloc(ZSTD_DStreamOutSize());
	u->stream = ZSTD_createDStream();
	if (u->in_buf == NULL || u->out_buf == NULL || u->stream == NULL)
		return ENOMEM;
	return 0;
}

/* No more memory than there are bytes. */
static void
image_zstd_trim(struct unpack *u)
{
	uint64_t whole = (u->size + PAGE - 1) / PAGE * PAGE;

	if (whole < u->room)
		munmap(u->map + whole, (size_t)(u->room - whole));
	u->room = whole;
}

/*
 * Unpacks all frames of the file behind 'fd' into fresh memory of *size bytes.
 * *cut: the data ends early or is damaged, and the memory has what comes before.  0, an
 * errno, or TNF_ERR_NOTTNF; EFBIG: the result would be larger than a trace of so many
 * compressed bytes can be.
 *
 * Pages of zeros, of which a ring that was never full has many, are not touched and
 * cost no memory; so only the others count for the limit that keeps a small file
 * from filling the machine.
 */
static int
tnf_zstd_unpack(int fd, void **map, uint64_t *size, bool *cut)
{
	struct unpack u = { .fd = fd };
	int error = unpack_begin(&u);

	if (error == 0)
		error = unpack_all(&u, cut);
	if (error == 0 && u.size == 0)
		error = TNF_ERR_NOTTNF;
	ZSTD_freeDStream(u.stream);
	free(u.in_buf);
	free(u.out_buf);
	if (error != 0) {
		if (u.map != NULL)
			munmap(u.map, (size_t)u.room);
		return error;
	}
	image_zstd_trim(&u);
	*map = u.map;
	*size = u.size;
	return 0;
}

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
	bool cut = false;
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
