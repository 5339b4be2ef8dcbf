/*
 * slow-disk.c - for LD_PRELOAD: a disk that takes its time.  fsync() adds the name of what
 * it is to write as a line to $TNF_DISK/waits, and returns when $TNF_DISK/go is there.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd) __attribute__((visibility("default")));

int
fsync(int fd)
{
	const struct timespec tick = { .tv_nsec = 20 * 1000 * 1000 };
	const char *disk = getenv("TNF_DISK");
	char self[64], name[PATH_MAX], path[PATH_MAX];
	ssize_t n;
	int to;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, name, sizeof(name) - 1);
	snprintf(path, sizeof(path), "%s/waits", disk != NULL ? disk : ".");
	to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (n > 0 && to >= 0) {
		name[n++] = '\n';
		if (write(to, name, (size_t)n) != n)
			abort();
	}
	close(to);
	snprintf(path, sizeof(path), "%s/go", disk != NULL ? disk : ".");
	while (access(path, F_OK) != 0)
		nanosleep(&tick, NULL);
	return (int)syscall(SYS_fsync, fd);
}
