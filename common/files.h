/*
 * files.h - files that others named, files that appear whole, and directories.
 * <sys/stat.h>, <dirent.h>, <errno.h>, <fcntl.h>, <string.h> and <unistd.h> come with it.
 */
#ifndef COMMON_FILES_H
#define COMMON_FILES_H

#include <sys/stat.h>
#include <sys/types.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static inline void
tnf_autoclose(const int *fd)
{
	int e = errno;

	if (*fd >= 0)
		close(*fd);
	errno = e;
}

static inline void
tnf_autoclosedir(DIR **d)
{
	int e = errno;

	if (*d != NULL)
		closedir(*d);
	errno = e;
}

/* Close a descriptor or a directory, if there is one, at the end of the variable's block, on
   each way out; errno stays. */
#define autoclose __attribute__((cleanup(tnf_autoclose)))
#define autoclosedir __attribute__((cleanup(tnf_autoclosedir)))

/*
 * A file that appears under its name whole, or not at all.  The file has no name
 * (O_TMPFILE) while it is written, so that not even SIGKILL leaves anything behind; where
 * the file system cannot do that, it has a temporary one in the same directory.  rename(2)
 * replaces a symbolic link and does not follow it.
 */
struct whole {
	int	    dir;	/* the caller's, open as long as this is */
	const char *name;	/* in 'dir'; the caller's */
	int	    fd;		/* readable and writable; -1: given up, or committed */
	char	    temp[64];	/* the file's name for now; "": it has none */
};

/* These return 0 or an errno. */
int	tnf_whole_open(struct whole *, int dir, const char *name);	/* mode 0600 */
int	tnf_whole_commit(struct whole *);	/* under its name, in place of what has it */

/* Gives up what is not committed.  Safe in signal handlers and when repeated; errno
   stays. */
void	tnf_whole_discard(struct whole *);

/* True if both are of one file. */
static inline bool
stat_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Opens a regular file with these flags of open(2), O_CLOEXEC added, and fills
 * *ret.  Anything else is not opened at all: to open a device does something
 * already, and to open a FIFO waits.  With O_NOFOLLOW a symbolic link is not
 * followed.  Returns a descriptor, or -1 and errno; EINVAL: no regular file.
 */
int tnf_open_regular(const char *path, int flags, struct stat *ret);

/*
 * A process says itself which file it writes, and can say anything.  So a caller that has
 * other rights than the process (root, as a rule) gets a file only if the process has just
 * this one mapped, shared and writable; or, where it has not opened any yet, if the file
 * belongs to its user, who can open it by this name, which means the same in its root.
 *
 * Returns a descriptor with these flags of open(2), O_CLOEXEC added, and fills *ret; or
 * returns -1 and sets errno.  EPERM: it is another's file, or has several names; EINVAL: it
 * is no regular file; ESRCH: there is no such process.  Links are not followed.
 */
int tnf_its_file_open(pid_t, const char *name, int flags, struct stat *ret);

/* Opens a directory ('dir' and 'name' as of openat(2)) to read it from its beginning,
   whoever else reads it.  A symbolic link as its last part is refused.  NULL: errno. */
static inline DIR *
directory_open(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d == NULL && fd >= 0)
		close(fd);
	return d;
}

/* The next one that is neither "." nor "..". */
static inline struct dirent *
directory_next(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			break;
	return e;
}

/* Opens a file without a name, to read and write: in $TMPDIR, or if that is not set in
   'otherwise'.  Returns its descriptor, or -1 with errno. */
int	tnf_unnamed_open(const char *otherwise);

/* Writes all n bytes; 0 or an errno. */
static inline int
pwrite_all(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *p = bytes;
	ssize_t done;

	while (n > 0) {
		done = pwrite(fd, p, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? errno : ENOSPC;
		p += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

#endif
