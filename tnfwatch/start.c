/*
 * start.c - tells programs that start before they are attached to, and leaves a program alone
 * for as long as it may be making its ring itself.
 */
#include <sys/file.h>

#include <poll.h>
#include <stdio.h>

#include "common/proc.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/watch.h"

#define NAME	"start"

/* Writes a value as one line. */
static void
put_line(FILE *f, const char *word, const char *value)
{
	fprintf(f, "%s ", word);
	for (; *value != '\0'; value++)
		putc(*value == '\n' ? ' ' : *value, f);
	putc('\n', f);
}

bool
start_is_asked(const struct config *c)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (c->process[i].from_start)
			return true;
	return false;
}

/* Writes a section.  The first section that means a program counts.  If that section has no
   from_start, its size is 0 here: the program gets nothing from this section and from those
   behind it.  Sections by unit or pid are behind all that have from_start. */
static void
put_process(FILE *f, const struct config_process *p)
{
	if (p->program == NULL && p->comm == NULL)
		return;
	put_line(f, "process", p->name);
	fprintf(f, "size %llu\n", p->from_start ? (unsigned long long)p->size : 0);
	if (p->program != NULL)
		put_line(f, "program", p->program);
	else
		put_line(f, "comm", p->comm);
	put_line(f, "enable", p->from_start ? enable_text(p->enable) : "");
}

static int
start_write(const struct config *c, int fd)
{
	FILE *f = fdopen(fd, "w");
	struct stat ns;

	if (f == NULL)
		return errno;
	if (stat("/proc/self/ns/pid", &ns) == 0) {
		fprintf(f, "tnf-start 1\npidns %llu\n", (unsigned long long)ns.st_ino);
		put_line(f, "rings", c->rings);
		for (size_t i = 0; i < c->n_processes; i++)
			put_process(f, &c->process[i]);
	}
	return fclose(f) == 0 ? 0 : errno;
}

int
start_tell(const struct config *c)
{
	autofree char *path = tnf_xasprintf("%s/" NAME, c->run);
	autofree char *temp = tnf_xasprintf("%s.tmp", path);
	int fd, e = 0, copy = -1;

	unlink(temp);
	/* The file has its lock before it has its name. */
	fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
	    (copy = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
		e = errno;
	if (e == 0)
		e = start_write(c, copy);
	if (e == 0 && rename(temp, path) != 0)
		e = errno;
	if (e != 0 && fd >= 0) {
		unlink(temp);
		close(fd);
		fd = -1;
	}
	errno = e;
	return fd;
}

/* True if a process holds the lock of the file.  Closes the file. */
static bool
is_locked(int fd)
{
	bool is = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return is;
}

bool
start_is_told(const struct config *c)
{
	return is_locked(path_open(O_RDONLY | O_NOFOLLOW | O_NONBLOCK, "%s/" NAME, c->run));
}

void
start_end(const struct config *c)
{
	path_unlink("%s/" NAME, c->run);
}

#define LOOK_MS		2
#define WAIT_NS		(250 * MS)	/* other processes wait behind it, and start while they wait */
#define TICKS_MAX	10	/* of CPU time: that is a tenth of a second */

/* True if the process may be making its ring.  The loader maps all objects before any of them runs:
   so the mappings tell how far the process is. */
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
			/* Its program holds the lock of the ring until its probes are on. */
			locked |= is_locked(open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
		}
	}
	tnf_maps_free(&maps);
	if (ring)
		return locked;
	/* A program without a loader has no library that comes later. */
	return files > 0 && (probes || !libc);
}

/* True if the process is still starting.  A start never sleeps, and takes some milliseconds of CPU
   time, for which it may have to wait long on a busy machine. */
static bool
is_under_way(pid_t pid)
{
	unsigned long user, system;
	char line[1024], state, *p;

	return tnf_proc_file(line, sizeof line, "/proc/%d/stat", (int)pid) > 0 &&
	    (p = strrchr(line, ')')) != NULL &&
	    sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
	    &system) == 3 && (state == 'R' || state == 'D') && user + system < TICKS_MAX;
}

void
starting_wait(pid_t pid, const char *rings)
{
	int64_t until = now_mono() + WAIT_NS;

	while (now_mono() < until && is_under_way(pid) && makes_its_ring(pid, rings))
		poll(NULL, 0, LOOK_MS);
}
