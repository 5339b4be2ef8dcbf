/*
 * file-bytes-zstd.c - the bytes of a trace file that zstd(1) has compressed.
 *
 * Pages of zeros, of which a ring that was never full has many, are not touched and
 * cost no memory; so only the others count for the limit that keeps a small file
 * from filling the machine.
 */
#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "libtnf/file.h"

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

bool
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

int
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
