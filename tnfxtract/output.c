/*
 * output.c - writes the copy: to a file that appears complete (common/files.h), or to
 * standard output.
 */
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <limits.h>

#include "tnfxtract/source.h"

static int
open_directory(struct output *o)
{
	const char *slash = strrchr(o->name, '/');
	char path[PATH_MAX];

	o->base = slash == NULL ? o->name : slash + 1;
	size_t n = slash == NULL ? 0 : (size_t)(slash - o->name) + 1;
	if (n >= sizeof path)
		return ENAMETOOLONG;
	memcpy(path, o->name, n);
	path[n] = '\0';
	o->dir = open(n == 0 ? "." : path,
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	return o->dir < 0 ? errno : 0;
}

/* Checks the file that has the name: only an ordinary file may be replaced. */
static int
check_target(const struct output *o)
{
	struct stat st;

	if (*o->base == '\0')
		return *o->name == '\0' ? ENOENT : EISDIR;
	if (fstatat(o->dir, o->base, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : errno;
	if (S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP :
	    ENOTSUP;
}

int
output_open(struct output *o, const char *name)
{
	memset(o, 0, sizeof *o);
	o->name = name;
	o->dir = o->file.fd = -1;
	if (strcmp(name, "-") == 0) {
		/* If standard output were closed, the copy would get its number. */
		if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
			return errno;
		o->file.fd = memfd_create("tnfxtract", MFD_CLOEXEC);
		return o->file.fd < 0 ? errno : 0;
	}
	int e = open_directory(o);
	if (e == 0)
		e = check_target(o);
	if (e == 0)
		e = tnf_whole_open(&o->file, o->dir, o->base);
	if (e != 0)
		output_discard(o);
	return e;
}

int
output_put(struct output *o, uint64_t offset, const void *bytes, size_t n)
{
	return pwrite_all(o->file.fd, bytes, n, offset);
}

int
output_put_pieces(struct output *o, uint64_t offset, const struct iovec *piece, int n)
{
	size_t size = 0;
	int e = 0;

	for (int i = 0; i < n; i++)
		size += piece[i].iov_len;
	if (pwritev(o->file.fd, piece, n, (off_t)offset) == (ssize_t)size)
		return 0;
	/* Each piece is written again, and one of them tells the error. */
	for (; n > 0 && e == 0; offset += piece++->iov_len, n--)
		e = pwrite_all(o->file.fd, piece->iov_base, piece->iov_len, offset);
	return e;
}

/* Copies like sendfile(2), to a file that it refuses: one opened to append. */
static ssize_t
copy_some(int fd, off_t *at)
{
	static char buf[65536];
	ssize_t n = pread(fd, buf, sizeof buf, *at);

	if (n > 0)
		n = write(STDOUT_FILENO, buf, (size_t)n);
	if (n > 0)
		*at += n;
	return n;
}

static int
copy_to_stdout(int fd)
{
	bool refused = false;
	off_t at = 0;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	while (at < st.st_size) {
		ssize_t n = refused ? copy_some(fd, &at) : sendfile(STDOUT_FILENO, fd,
		    &at, (size_t)(st.st_size - at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EINVAL && !refused) {
			refused = true;
			continue;
		}
		if (n <= 0)
			return n < 0 ? errno : EIO;
	}
	return 0;
}

int
output_commit(struct output *o, bool sync)
{
	int e;

	if (o->dir < 0)
		e = copy_to_stdout(o->file.fd);
	else if (sync && fsync(o->file.fd) != 0)
		e = errno;
	else
		e = tnf_whole_commit(&o->file);
	output_discard(o);
	return e;
}

void
output_discard(struct output *o)
{
	int e = errno;

	tnf_whole_discard(&o->file);
	if (o->dir >= 0)
		close(o->dir);
	o->dir = -1;
	errno = e;
}
