/*
 * image-flat.c - flattened dumps: makedumpfile -F, and QEMU's dump-guest-memory.
 *
 * Such a file is made for a pipe: pieces of the dump with their place, in any order.
 * They are put in order in a file that has no name.
 */
#include <sys/stat.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tnfxtract/image.h"

#define FLAT_HEAD	4096u
#define COPY_SIZE	(1u << 20)
#define SIZE_MORE	8		/* as often as large as the file, ... */
#define SIZE_ROOM	(INT64_C(1) << 30)	/* ... and this, the dump may be */

struct flat_piece {		/* both big-endian; -1 and -1: the end */
	int64_t at;
	int64_t size;
};

static int
open_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];

	if (dir == NULL || strlen(dir) > sizeof path - 32)
		dir = "/var/tmp";
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	strcpy(stpcpy(path, dir), "/tnfxtract.XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int
read_all(int fd, void *buf, size_t n, uint64_t *at)
{
	ssize_t got;

	for (char *to = buf; n > 0; to += got, n -= (size_t)got) {
		got = pread(fd, to, n, (off_t)*at);
		if (got <= 0)
			return got < 0 ? errno : EBADMSG;
		*at += (uint64_t)got;
	}
	return 0;
}

static int
write_all(int fd, const char *from, size_t n, uint64_t at)
{
	ssize_t put;

	for (; n > 0; from += put, n -= (size_t)put, at += (uint64_t)put) {
		put = pwrite(fd, from, n, (off_t)at);
		if (put < 0)
			return errno;
	}
	return 0;
}

static int
copy_piece(int from, uint64_t *at, int to, const struct flat_piece *p, char *buf)
{
	uint64_t left = (uint64_t)p->size, place = (uint64_t)p->at;
	int e = 0;

	while (left > 0 && e == 0) {
		size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;
		e = read_all(from, buf, n, at);
		if (e == 0)
			e = write_all(to, buf, n, place);
		left -= n;
		place += n;
	}
	return e;
}

static int
copy_pieces(int from, int to, int64_t place_max, char *buf)
{
	struct flat_piece p;
	uint64_t at = FLAT_HEAD;
	int e;

	for (;;) {
		if ((e = read_all(from, &p, sizeof p, &at)) != 0)
			return e;
		p.at = (int64_t)be64toh((uint64_t)p.at);
		p.size = (int64_t)be64toh((uint64_t)p.size);
		if (p.at == -1 && p.size == -1)
			return 0;
		if (p.at < 0 || p.size <= 0 || p.at > place_max || p.size > place_max)
			return EBADMSG;
		if ((e = copy_piece(from, &at, to, &p, buf)) != 0)
			return e;
	}
}

/* In order it is no larger, but for holes; a place far beyond is damaged, and all that
   lies before it would have to be read. */
static int64_t
largest_place(int from)
{
	struct stat st;

	if (fstat(from, &st) != 0 || st.st_size > (INT64_MAX - SIZE_ROOM) / SIZE_MORE)
		return INT64_MAX / 2;
	return st.st_size * SIZE_MORE + SIZE_ROOM;
}

int
image_flat_order(int from, int *ret)
{
	char *buf = malloc(COPY_SIZE);

	if (buf == NULL)
		return ENOMEM;
	int to = open_unnamed();
	int e = to < 0 ? errno : copy_pieces(from, to, largest_place(from), buf);
	free(buf);
	/* What is there of a dump that ends too early is better than nothing. */
	if (e == EBADMSG && lseek(to, 0, SEEK_END) > 0)
		e = 0;
	if (e == 0)
		*ret = to;
	else if (to >= 0)
		close(to);
	return e;
}
