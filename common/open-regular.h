/*
 * open-regular.h - open what somebody else named, if it is a file.
 */
#ifndef COMMON_OPEN_REGULAR_H
#define COMMON_OPEN_REGULAR_H

#include <sys/stat.h>

/*
 * Opens a regular file with these flags of open(2), O_CLOEXEC added, and fills
 * *ret.  Anything else is not opened at all: to open a device does something
 * already, and to open a FIFO waits.  With O_NOFOLLOW a symbolic link is not
 * followed.  Returns a descriptor, or -1 and errno; EINVAL: no regular file.
 */
int tnf_open_regular(const char *path, int flags, struct stat *ret);

#endif
