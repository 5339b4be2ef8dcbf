/*
 * auto-file.c - the trace file of a process that traces itself.
 *
 * As prex makes one, with mode 0600 and its space reserved before it has its name; so
 * whatever has that name is replaced and never written.  But a file that a living process
 * records into is gone on with: it is that of the program which has executed this one.
 */
#include <sys/random.h>
#include <sys/resource.h>

#include "libtnfprobe/internal.h"

struct head {
	struct tnf_file_header h;
	char	       pad[TNF_EXT_OFFSET - sizeof(struct tnf_file_header)];
	struct tnf_ext x;
};
_Static_assert(offsetof(struct head, x) == TNF_EXT_OFFSET, "tnf(5), Extension");

static bool
is_this_boot(const struct tnf_ext *x)
{
	struct tnf_ext own;

	memset(&own, 0, sizeof(own));
	tnf_ext_begin(&own, TNF_EXT_PROCESS);
	return memcmp(own.boot_id, x->boot_id, sizeof(own.boot_id)) == 0;
}

/* True if this is a file of ours, in use. */
static bool
goes_on(int fd, uint64_t *size)
{
	struct head head;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink != 1 || (st.st_mode & 0077) != 0 ||
	    pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.h.magic != TNF_MAGIC || head.x.magic != TNF_EXT_MAGIC ||
	    head.x.kind != TNF_EXT_PROCESS || head.x.attached <= head.x.ended ||
	    head.x.pid <= 0 || !is_this_boot(&head.x) ||
	    (kill(head.x.pid, 0) != 0 && errno != EPERM))
		return false;
	*size = (uint64_t)head.h.block_count * head.h.block_size;
	return true;
}

/* The directory of a file, and its name there; -1: errno. */
static int
open_directory(const char *path, const char **base)
{
	char dir[TNF_PATH_SIZE];

	*base = strrchr(path, '/') + 1;
	if (strlen(path) >= TNF_PATH_SIZE || **base == '\0') {
		errno = strlen(path) >= TNF_PATH_SIZE ? ENAMETOOLONG : EISDIR;
		return -1;
	}
	memcpy(dir, path, (size_t)(*base - path));
	dir[*base - path] = '\0';
	return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Past the limit of a file's size there would be a signal. */
static int
auto_file_reserve(int fd, uint64_t size)
{
	struct rlimit limit;

	if (fchmod(fd, 0600) != 0)
		return errno;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
		return EFBIG;
	return posix_fallocate(fd, 0, (off_t)size);
}

/* Without 'replace': EEXIST: something has the name.  EOPNOTSUPP: not all file systems and
   kernels can tell. */
static int
give_name(int dir, const char *name, const char *base, bool replace)
{
	if (replace)
		return renameat(dir, name, dir, base) == 0 ? 0 : errno;
	if (renameat2(dir, name, dir, base, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (linkat(dir, name, dir, base, 0) != 0)
		return errno == EEXIST ? EEXIST : EOPNOTSUPP;
	unlinkat(dir, name, 0);
	return 0;
}

static void
random_name(char *name, size_t size)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = (uint64_t)getpid() << 32 ^ (uintptr_t)&n;
	snprintf(name, size, ".trace-%016llx", (unsigned long long)n);
}

/* For the kernel, the descriptor stays that of a deleted file; what shows who maps the file
   is its name in /proc/PID/maps. */
static int
open_linked(int dir, const char *base, int unnamed)
{
	int fd = openat(dir, base, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat a, b;

	if (fd >= 0 && fstat(fd, &a) == 0 && fstat(unnamed, &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* It has no name while its space is reserved, which may take long: nothing is left of it
   if we are killed.  EOPNOTSUPP: there are no such files here. */
static int
create_unnamed(int dir, const char *base, uint64_t size, bool replace, int *ret)
{
	int unnamed = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), fd = -1, error;
	char temporary[64], self[64];
	const char *name = replace ? temporary : base;

	if (unnamed < 0)
		return EOPNOTSUPP;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", unnamed);
	random_name(temporary, sizeof(temporary));
	if ((error = auto_file_reserve(unnamed, size)) == 0 &&
	    linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) != 0)
		/* There may be no /proc, or no links. */
		error = errno == EEXIST ? EEXIST : EOPNOTSUPP;
	if (error == 0 && (fd = open_linked(dir, name, unnamed)) < 0)
		error = EEXIST;
	else if (error == 0 && replace && (error = give_name(dir, name, base, true)) != 0) {
		unlinkat(dir, name, 0);
		close(fd);
	}
	close(unnamed);
	if (error == 0)
		*ret = fd;
	return error;
}

static int
create_named(int dir, const char *base, uint64_t size, bool replace, int *ret)
{
	char name[64];
	int fd, error;

	random_name(name, sizeof(name));
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	if ((error = auto_file_reserve(fd, size)) == 0)
		error = give_name(dir, name, base, replace);
	if (error == 0) {
		*ret = fd;
		return 0;
	}
	unlinkat(dir, name, 0);
	close(fd);
	return error;
}

static int
auto_file_create(int dir, const char *base, uint64_t size, bool replace, int *ret)
{
	int error = create_unnamed(dir, base, size, replace, ret);

	return error == EOPNOTSUPP ? create_named(dir, base, size, replace, ret) : error;
}

/* Tries so often, a millisecond apart: a process that has just made the file will soon
   record into it. */
static bool
open_other(const char *path, uint64_t *size, int *fd, unsigned tries)
{
	const struct timespec ms = { 0, 1000000 };

	for (; tries > 0; tries--) {
		*fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (*fd >= 0 && goes_on(*fd, size))
			return true;
		if (*fd >= 0)
			close(*fd);
		if (tries > 1)
			nanosleep(&ms, NULL);
	}
	return false;
}

int
tnf_auto_file(const char *path, uint64_t *size, int *fd)
{
	const char *base;
	int dir = open_directory(path, &base), error = EEXIST;
	bool there, replaces;
	struct stat st;

	if (dir < 0)
		return errno;
	/* Asked first: what comes after it is not replaced, nor is a device or a directory. */
	there = fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == 0;
	replaces = !there || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
	if (open_other(path, size, fd, 1)) {
		error = 0;
	} else if (replaces) {
		error = auto_file_create(dir, base, *size, there, fd);
		if (error == EOPNOTSUPP && !there)
			error = auto_file_create(dir, base, *size, true, fd);
		if (error == EEXIST && !there && open_other(path, size, fd, 10))
			error = 0;
	}
	close(dir);
	return error;
}

int
tnf_auto_file_new(const char *path, uint64_t size, int *fd)
{
	const char *base;
	int dir = open_directory(path, &base), error;

	if (dir < 0)
		return errno;
	error = faccessat(dir, base, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST :
	    auto_file_create(dir, base, size, false, fd);
	close(dir);
	return error;
}
