/*
 * starting.c - a program that may be making its ring itself just now.
 */
#include <sys/file.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/maps.h"
#include "tnfwatch/starting.h"
#include "tnfwatch/util.h"

#define LOOK_MS		2
#define WAIT_NS		(250 * MS)	/* others wait behind it, and start meanwhile */
#define TICKS_MAX	10	/* of CPU time: that is a tenth of a second */

/* It holds the lock of its ring until its probes are on. */
static bool
is_locked(const char *ring)
{
	int fd = open(ring, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool is = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return is;
}

/* As the loader maps all objects before any of them runs, what is mapped tells how far it
   is. */
static bool
makes_its_ring(pid_t pid, const char *rings)
{
	size_t n = strlen(rings), files = 0;
	bool probes = false, libc = false, ring = false, locked = false;
	struct maps maps;

	if (tnf_maps_read(pid, &maps) != 0)
		return false;
	for (size_t i = 0; i < maps.n; i++) {
		const char *path = maps.m[i].path;
		if (*path != '/')
			continue;
		files += strcmp(path, maps.m[0].path) != 0;
		const char *base = strrchr(path, '/') + 1;
		probes |= strncmp(base, "libtnfprobe", strlen("libtnfprobe")) == 0;
		libc |= strncmp(base, "libc.", strlen("libc.")) == 0 ||
		    strncmp(base, "libc-", strlen("libc-")) == 0 ||
		    strncmp(base, "ld-musl-", strlen("ld-musl-")) == 0;
		if (strncmp(path, rings, n) == 0 && path[n] == '/') {
			ring = true;
			locked |= is_locked(path);
		}
	}
	tnf_maps_free(&maps);
	if (ring)
		return locked;
	/* Without a loader it has no library that comes later. */
	return files > 0 && (probes || !libc);
}

/* A start never sleeps, and takes some milliseconds of CPU; on a busy machine it may have to
   wait long for them. */
static bool
is_under_way(pid_t pid)
{
	unsigned long user, system;
	char path[64], line[1024], state, *p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	bool is = fgets(line, sizeof line, f) != NULL && (p = strrchr(line, ')')) != NULL &&
	    sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
	    &system) == 3 && (state == 'R' || state == 'D') && user + system < TICKS_MAX;
	fclose(f);
	return is;
}

void
starting_wait(pid_t pid, const char *rings)
{
	int64_t until = now_mono() + WAIT_NS;

	while (now_mono() < until && is_under_way(pid) && makes_its_ring(pid, rings))
		poll(NULL, 0, LOOK_MS);
}
