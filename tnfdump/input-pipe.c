/*
 * input-pipe.c - copies a pipe, a FIFO or a socket into a file in memory.
 */
#include <sys/mman.h>
#include <sys/vfs.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "common/files.h"
#include "tnfdump/input-pipe.h"

#define PIPE_FS		0x50495045	/* statfs(2): a pipe without a name */
#define WRITER_MS	2000		/* for somebody to open a FIFO */
#define LENGTH_MAX	((uint64_t)UINT32_MAX + ((uint64_t)64 << 20))

/* Waits for the first bytes or the end.  A FIFO can be without a writer for ever, hence a
   limit; a pipe has its writer. */
static int
wait_for_writer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct statfs fs;
	int r;

	if (fstatfs(fd, &fs) == 0 && fs.f_type == PIPE_FS)
		return 0;
	while ((r = poll(&p, 1, WRITER_MS)) < 0)
		if (errno != EINTR)
			return errno;
	return r == 0 ? ETIMEDOUT : 0;
}

/* As read(), but waits even if the descriptor is non-blocking. */
static ssize_t
read_some(int fd, void *buf, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while ((n = read(fd, buf, size)) < 0) {
		if (errno == EAGAIN)
			poll(&p, 1, -1);
		else if (errno != EINTR)
			break;
	}
	return n;
}

int
input_pipe(int fd, int *ret)
{
	char buf[65536];
	uint64_t at = 0;
	ssize_t n = 0;
	int copy, error = wait_for_writer(fd);

	if (error != 0)
		return error;
	if ((copy = memfd_create("tnfdump", MFD_CLOEXEC)) < 0)
		return errno;
	while (error == 0 && (n = read_some(fd, buf, sizeof buf)) > 0) {
		error = at > LENGTH_MAX ? EFBIG :
		    pwrite_all(copy, buf, (size_t)n, at);
		at += (size_t)n;
	}
	if (n < 0)
		error = errno;
	if (error != 0)
		close(copy);
	else
		*ret = copy;
	return error;
}
