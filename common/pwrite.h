/*
 * pwrite.h - all of it, or an errno.  For the programs, too.
 */
#ifndef COMMON_PWRITE_H
#define COMMON_PWRITE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

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

#endif /* COMMON_PWRITE_H */
