/*
 * follow.c - --follow FILE|PID|kernel: events as they are committed.
 *
 * The file is mapped and looked at again and again, at most ten times a
 * second and less often while nothing comes.  The end of a process is told by
 * its pidfd, which also cuts the waiting short.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tnfdump/follow.h"
#include "tnfdump/input.h"
#include "tnfdump/options.h"
#include "tnfdump/xalloc.h"

#define KERNEL		"kernel"	/* instead of a file or process */
#define LOOK_MIN_MS	20
#define LOOK_MAX_MS	100
#define TELL_NS		1000000000

static struct {
	pid_t		 pid;		/* of the target; 0: not known */
	int		 pidfd;		/* or -1 */
	bool		 ended;
	bool		 final;
	int		 wait_ms;
	uint64_t	 missed;	/* blocks */
	uint64_t	 untold;	/* of them */
	int64_t		 tell_next;	/* monotonic ns */
} follow = { .pidfd = -1, .wait_ms = LOOK_MIN_MS };

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int sig)
{
	interrupted = 1;
}

int
follow_set(struct dump *d, const char *what)
{
	d->follow = what;
	return 0;
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The trace file that a process has mapped; EAGAIN: none so far. */
static int
mapped_trace(pid_t pid, char **found)
{
	char maps[64], line[4608], path[4200];
	uint32_t magic;
	unsigned long from, to;
	FILE *f;
	int fd, at;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	if ((f = fopen(maps, "re")) == NULL)
		return errno;
	*found = NULL;
	while (*found == NULL && fgets(line, sizeof(line), f) != NULL) {
		at = 0;		/* stays so if it is another kind of mapping */
		if (sscanf(line, "%lx-%lx rw-s %*s %*s %*s %n", &from, &to, &at) != 2 ||
		    line[at] != '/')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx",
		    (int)pid, from, to);
		if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(path, sizeof(path), "%s", line + at);
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		}
		if (fd < 0)
			continue;
		if (read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		    magic == TNF_MAGIC)
			*found = xstrdup(path);
		close(fd);
	}
	fclose(f);
	return *found != NULL ? 0 : EAGAIN;
}

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* 0: no process has that number. */
static pid_t
pid_of(const char *s)
{
	unsigned long pid = strtoul(s, NULL, 10);

	return pid <= INT32_MAX ? (pid_t)pid : 0;
}

static void
watch(pid_t pid)
{
	follow.pid = pid;
	if (pid > 0 && (follow.pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0)
		follow.ended = errno == ESRCH;
}

/* Sleeps; shorter if the target ends. */
static void
sleep_ms(int ms)
{
	struct pollfd p = { .fd = follow.pidfd, .events = POLLIN };

	if (poll(&p, follow.pidfd >= 0, ms) == 1)
		follow.ended = true;
}

static int
map_file(struct dump *d, const char *path, const void **base, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		err = fd < 0 ? errno : EINVAL;
		dump_error(d, "%s: cannot follow: %s", path, fd < 0 ?
		    strerror(err) : "not a regular file with something in it");
		if (fd >= 0)
			close(fd);
		return err;
	}
	*size = (size_t)st.st_size;
	*base = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	if (*base == MAP_FAILED) {
		err = errno;
		dump_error(d, "%s: cannot map: %s", path, strerror(err));
	}
	close(fd);
	return err;
}

/* It opens its file when the first probe is hit. */
static int
wait_for_trace(struct dump *d, char **path)
{
	bool told = false;
	int err;

	while ((err = mapped_trace(follow.pid, path)) == EAGAIN &&
	    !follow.ended && !interrupted) {
		if (!told)
			dump_note(d, "process %s: waiting: it has no trace file "
			    "so far that we may read", d->follow);
		told = true;
		sleep_ms(LOOK_MAX_MS);
	}
	if (err == EACCES || err == EPERM)
		dump_error(d, "process %s: cannot read which files it has mapped: "
		    "%s: become its user or root", d->follow, strerror(err));
	else if (err != 0)
		dump_error(d, "process %s: has ended, or never had a trace "
		    "file that we may read", d->follow);
	return err;
}

/* What to map, and whose end is ours. */
static int
find(struct dump *d, struct input *in)
{
	char *path;
	int err;

	in->path = d->follow;
	if (strcmp(d->follow, KERNEL) == 0)
		return follow_map_kernel(d, &in->base, &in->size);
	if (!is_number(d->follow))
		return map_file(d, d->follow, &in->base, &in->size);
	watch(pid_of(d->follow));
	if ((err = wait_for_trace(d, &path)) != 0)
		return err;
	in->path = path;
	return map_file(d, path, &in->base, &in->size);
}

/* Nobody writes to what a kernel or an original writer has left in a file. */
static void
watch_writer(const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);

	if (x != NULL && x->kind == TNF_EXT_PROCESS)
		watch(x->pid);
	else
		follow.ended = true;
}

bool
follow_open(struct dump *d)
{
	/* The second one ends us at once. */
	struct sigaction sa = { .sa_handler = on_interrupt,
	    .sa_flags = (int)SA_RESETHAND };
	struct input *in;
	int err;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	in = d->inputs = xcalloc(1, sizeof(*d->inputs));
	if ((err = tnf_stream_new(&d->stream)) != 0)
		dump_fatal(d, "%s", tnf_error_message(err));
	if (find(d, in) != 0)
		return false;
	tnf_stream_follow(d->stream);
	while ((err = tnf_stream_add_mem(d->stream, in->base, in->size, in->path,
	    &in->file)) == ENODATA && !follow.ended && !interrupted)
		sleep_ms(LOOK_MAX_MS);
	if (err != 0) {
		input_refused(d, in->path, err);
		return false;
	}
	d->n_inputs = 1;
	if (strcmp(d->follow, KERNEL) != 0 && follow.pid == 0)
		watch_writer(in->file);
	return true;
}

/* Once a second at the most, and at the end. */
static void
tell_missed(struct dump *d, uint64_t blocks, bool last)
{
	d->lost |= blocks > 0;
	follow.missed += blocks;
	follow.untold += blocks;
	if (follow.untold == 0 || (!last && now() < follow.tell_next))
		return;
	out_flush(&d->out);
	dump_note(d, "%s: fell behind: %llu blocks were overwritten before "
	    "they were read (%llu in all): trace less, or into a larger buffer",
	    d->follow, (unsigned long long)follow.untold,
	    (unsigned long long)follow.missed);
	follow.untold = 0;
	follow.tell_next = now() + TELL_NS;
}

bool
follow_wait(struct dump *d)
{
	bool last = follow.ended || interrupted;
	struct tnf_progress p;
	int err;

	out_flush(&d->out);
	if (!last)
		sleep_ms(follow.wait_ms);
	/* Nothing comes after the end: take all. */
	err = tnf_stream_refresh(d->stream,
	    last ? INT64_MAX : now() - FOLLOW_DELAY_NS, &p);
	if (err != 0)
		dump_fatal(d, "%s", tnf_error_message(err));
	tell_missed(d, p.blocks_missed, last);
	follow.wait_ms = p.events > 0 ? LOOK_MIN_MS :
	    follow.wait_ms < LOOK_MAX_MS ? follow.wait_ms * 2 : LOOK_MAX_MS;
	if (follow.wait_ms > LOOK_MAX_MS)
		follow.wait_ms = LOOK_MAX_MS;
	if (last && !follow.final) {
		follow.final = true;	/* one more turn, and that was it */
		return true;
	}
	return !last;
}

void
follow_close(struct dump *d)
{
	tell_missed(d, 0, true);
	if (follow.pidfd >= 0)
		close(follow.pidfd);
	tnf_stream_close(d->stream);
	free(d->inputs);	/* the mapping goes with the program */
}
