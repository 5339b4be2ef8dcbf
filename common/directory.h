/*
 * directory.h - what a directory has in it.
 */
#ifndef COMMON_DIRECTORY_H
#define COMMON_DIRECTORY_H

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

#endif /* COMMON_DIRECTORY_H */
