/*
 * clock.c - for a preloaded library: a wall clock that is set while a program runs.
 *
 * FAKE_CLOCK names a file with eight bytes: ns that are added to CLOCK_REALTIME, or, with
 * the lowest bit set, the time itself, which stands still.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND	1000000000ll
#define SEEN	__attribute__((visibility("default")))

static int64_t
wall(void)
{
	static volatile int64_t *fake;
	const char *path = getenv("FAKE_CLOCK");
	struct timespec t;
	int fd;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	if (fake == NULL && path != NULL && (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
		void *map = mmap(NULL, sizeof *fake, PROT_READ, MAP_SHARED, fd, 0);

		if (map != MAP_FAILED)
			fake = map;
		close(fd);
	}
	if (fake != NULL && (*fake & 1) != 0)
		return *fake;
	return t.tv_sec * SECOND + t.tv_nsec + (fake != NULL ? *fake : 0);
}

SEEN int
clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t now;

	if (clock != CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, clock, t);
	now = wall();
	t->tv_sec = now / SECOND;
	t->tv_nsec = now % SECOND;
	return 0;
}

SEEN time_t
time(time_t *ret)
{
	time_t now = wall() / SECOND;

	if (ret != NULL)
		*ret = now;
	return now;
}

SEEN int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int64_t now = wall();

	t->tv_sec = now / SECOND;
	t->tv_usec = now % SECOND / 1000;
	return 0;
}
