/*
 * open-regular.c - open what somebody else named, if it is a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/open-regular.h"

int
tnf_open_regular(const char *path, int flags, struct stat *ret)
{
	char link[64];
	int fd = -1, error = EINVAL;
	int place = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

	if (place < 0)
		return -1;
	if (fstat(place, ret) == 0 && S_ISREG(ret->st_mode)) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", place);
		fd = open(link, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
		error = errno;
	}
	close(place);
	errno = error;
	return fd;
}
