/*
 * its-file.c - open the trace file that a process names, if it is that process's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "common/its-file.h"
#include "common/maps.h"
#include "common/open-regular.h"
#include "common/proc-status.h"

/* For a descriptor that it has left in 'place', which is closed. */
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
	return stat(theirs, &st) == 0 && st.st_ino == file->st_ino && st.st_dev == file->st_dev;
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

	/* Without other rights than its own there is nothing to be had by a lie, and what it
	   has mapped may not be asked for. */
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
