/*
 * slow-disk.c - for LD_PRELOAD: a disk that takes its time.  fsync() adds the name of what
 * it is to write as a line to $TNF_DISK/waits, goes on when $TNF_DISK/go is there, and adds
 * "done NAME" before it returns.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd) __attribute__((visibility("default")));

static void
note(const char *disk, const char *what, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/waits", disk);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%s%s\n", what, name) < 0)
		abort();
	close(fd);
}

int
fsync(int fd)
{
	const struct timespec tick = { .tv_nsec = 20 * 1000 * 1000 };
	const char *env = getenv("TNF_DISK"), *disk = env != NULL ? env : ".";
	char self[64], name[PATH_MAX], path[PATH_MAX];
	ssize_t n;
	int r;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	note(disk, "", name);
	snprintf(path, sizeof(path), "%s/go", disk);
	while (access(path, F_OK) != 0)
		nanosleep(&tick, NULL);
	r = (int)syscall(SYS_fsync, fd);
	note(disk, "done ", name);
	return r;
}
