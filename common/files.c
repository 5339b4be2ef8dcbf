/*
 * files.c - files that others named, and files that appear whole.
 */
#include <sys/fsuid.h>
#include <sys/random.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/proc.h"

#define NAME_TRIES	100

static void
whole_temp_name(struct whole *w)
{
	unsigned long r;

	if (getrandom(&r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r)
		r = (unsigned long)getpid();
	snprintf(w->temp, sizeof w->temp, ".tnf.%016lx", r);
}

static int
whole_open_named(struct whole *w)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		whole_temp_name(w);
		w->fd = openat(w->dir, w->temp, O_RDWR | O_CREAT | O_EXCL |
		    O_NOFOLLOW | O_CLOEXEC, 0600);
		if (w->fd >= 0)
			return 0;
		w->temp[0] = '\0';
		if (errno != EEXIST)
			break;
	}
	return errno;
}

int
tnf_whole_open(struct whole *w, int dir, const char *name)
{
	*w = (struct whole){ .dir = dir, .name = name };
	w->fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (w->fd >= 0)
		return 0;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL ?
	    whole_open_named(w) : errno;
}

/* Gives the nameless file 'name'; without /proc that takes a capability. */
static int
whole_link_as(const struct whole *w, const char *name)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", w->fd);
	if (linkat(AT_FDCWD, path, w->dir, name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno == ENOENT &&
	    linkat(w->fd, "", w->dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	return errno;
}

static int
whole_name(struct whole *w)
{
	int e;

	if (w->temp[0] == '\0') {
		e = whole_link_as(w, w->name);
		if (e != EEXIST)
			return e;
		for (int i = 0; i < NAME_TRIES && e == EEXIST; i++) {
			whole_temp_name(w);
			e = whole_link_as(w, w->temp);
			if (e != 0)
				w->temp[0] = '\0';
		}
		if (e != 0)
			return e;
	}
	if (renameat(w->dir, w->temp, w->dir, w->name) != 0)
		return errno;
	w->temp[0] = '\0';
	return 0;
}

int
tnf_whole_commit(struct whole *w)
{
	int e = whole_name(w);

	tnf_whole_discard(w);
	return e;
}

void
tnf_whole_discard(struct whole *w)
{
	int e = errno;

	if (w->temp[0] != '\0')
		unlinkat(w->dir, w->temp, 0);
	w->temp[0] = '\0';
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	errno = e;
}

/* Opens the file of a descriptor from O_PATH, which is closed. */
static int
open_again(int place, int flags)
{
	char link[64];
	int fd, error;

	snprintf(link, sizeof link, "/proc/self/fd/%d", place);
	fd = open(link, flags | O_CLOEXEC);
	error = errno;
	close(place);
	errno = error;
	return fd;
}

int
tnf_open_regular(const char *path, int flags, struct stat *ret)
{
	int place = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

	if (place < 0)
		return -1;
	if (fstat(place, ret) == 0 && S_ISREG(ret->st_mode))
		return open_again(place, flags & ~O_NOFOLLOW);
	close(place);
	errno = EINVAL;
	return -1;
}

static int
open_mapped(pid_t pid, const char *name, int flags, struct stat *ret)
{
	int place = tnf_open_regular(name, O_PATH | O_NOFOLLOW, ret);

	if (place < 0)
		return -1;
	if (tnf_maps_write_file(pid, ret))
		return open_again(place, flags);
	close(place);
	errno = EPERM;
	return -1;
}

static bool
is_in_its_root(pid_t pid, const char *name, const struct stat *file)
{
	char theirs[PATH_MAX + 32];
	struct stat st;

	snprintf(theirs, sizeof theirs, "/proc/%d/root%s", (int)pid, name);
	return stat(theirs, &st) == 0 && stat_same(&st, file);
}

/* With these rights of this thread.  Our groups stay: so its user must own the file. */
static int
open_with_rights(pid_t pid, uid_t uid, const char *name, int flags, struct stat *ret)
{
	int fd;

	/* This call sets nothing, and says what is set. */
	if ((uid_t)setfsuid((uid_t)-1) != uid) {
		errno = EPERM;
		return -1;
	}
	fd = tnf_open_regular(name, flags | O_NOFOLLOW, ret);
	if (fd >= 0 && (ret->st_uid != uid || !is_in_its_root(pid, name, ret))) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

static int
open_unmapped(pid_t pid, const char *name, int flags, struct stat *ret)
{
	long uid = tnf_proc_status_nth(pid, "Uid", PROC_ID_FS);
	long gid = tnf_proc_status_nth(pid, "Gid", PROC_ID_FS);
	int own_uid, own_gid, fd, error;

	if (uid < 0 || gid < 0) {
		errno = ESRCH;
		return -1;
	}
	own_gid = setfsgid((gid_t)gid);
	own_uid = setfsuid((uid_t)uid);
	fd = open_with_rights(pid, (uid_t)uid, name, flags, ret);
	error = errno;
	setfsuid((uid_t)own_uid);
	setfsgid((gid_t)own_gid);
	errno = error;
	return fd;
}

static bool
has_our_rights(pid_t pid)
{
	uid_t own = geteuid();

	return own != 0 && tnf_proc_status_nth(pid, "Uid", PROC_ID_FS) == (long)own;
}

int
tnf_its_file_open(pid_t pid, const char *name, int flags, struct stat *ret)
{
	int fd;

	/* A process with no other rights than ours gains nothing by a false name, and we perhaps
	   have no right to see which files it has mapped. */
	if (has_our_rights(pid))
		fd = tnf_open_regular(name, flags | O_NOFOLLOW, ret);
	else if ((fd = open_mapped(pid, name, flags, ret)) < 0 && errno == EPERM)
		fd = open_unmapped(pid, name, flags, ret);
	if (fd >= 0 && ret->st_nlink != 1) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

int
tnf_unnamed_open(const char *otherwise)
{
	const char *dir = getenv("TMPDIR");
	char *path;

	if (dir == NULL || *dir == '\0')
		dir = otherwise;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (asprintf(&path, "%s/tnf.XXXXXX", dir) < 0)
		return -1;
	if ((fd = mkostemp(path, O_CLOEXEC)) >= 0)
		unlink(path);
	free(path);
	return fd;
}
