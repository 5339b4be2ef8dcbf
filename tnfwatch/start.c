/*
 * start.c - programs that begin, or have ended already, before they are attached to.
 *
 * A program that begins is told so, and left alone for as long as it may be making its ring itself.
 * The rings of those that have ended are taken; of each section at most RINGS_MAX stay (keep_bound()).
 */
#include <sys/file.h>

#include <poll.h>

#include "common/proc.h"
#include "tnfwatch/daemon.h"

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

#define LOOK		(1 * SECOND)
#define RINGS_MAX	32u	/* of a section, that stay */
#define SHARE		4u	/* part of 'limit' that those of all sections have */
#define ENDED_KNOWN	(10 * SECOND)	/* a number means another process later */
#define COMM_BYTES	15	/* of a name, in the kernel */

void
daemon_short_begin(struct daemon *d)
{
	tnf_map_init(&d->short_rings.dropped, sizeof(int64_t));
}

void
daemon_short_end(struct daemon *d)
{
	tnf_map_free(&d->short_rings.dropped);
}

void
daemon_short_ended(struct daemon *d, pid_t pid, int status)
{
	struct short_rings *r = &d->short_rings;
	unsigned i = r->n_ended++ % SHORT_ENDED;

	r->ended[i].pid = pid;
	r->ended[i].status = status;
	r->ended[i].time = now_mono();
}

/* The status of a process as of wait(2); -1: not known. */
static int
status_of(const struct short_rings *r, pid_t pid, int64_t now)
{
	unsigned n = r->n_ended < SHORT_ENDED ? r->n_ended : SHORT_ENDED, j;

	for (unsigned i = 1; i <= n; i++) {
		j = (r->n_ended - i) % SHORT_ENDED;
		if (r->ended[j].pid == pid)
			return now - r->ended[j].time < ENDED_KNOWN ? r->ended[j].status : -1;
	}
	return -1;
}

void
daemon_short_taken(struct source *s, const struct taker_report *r)
{
	if (s->short_bytes == 0)
		return;
	s->short_bytes = 0;
	snprintf(s->comm, sizeof s->comm, "%s", r->comm);
	free(s->probes);
	s->probes = tnf_xstrdup(r->probes.names);
}

void
daemon_short_dropped(struct daemon *d, const struct source *s)
{
	*(int64_t *)tnf_xmap_put(&d->short_rings.dropped, s->path, strlen(s->path) + 1, NULL) =
	    now_mono();
}

int64_t
daemon_short_from(const struct daemon *d, const struct source *s, int64_t from)
{
	const int64_t *seen = s->path == NULL ? NULL :
	    tnf_map_get(&d->short_rings.dropped, s->path, strlen(s->path) + 1);

	return seen != NULL && *seen > from ? *seen : from;
}

/* Forgets one ring whose file is not there any more. */
static void
dropped_forget(struct map *dropped)
{
	const void *path;
	size_t at = 0, n;

	while (tnf_map_next(dropped, &at, &path, &n) != NULL)
		if (access(path, F_OK) != 0) {
			tnf_map_remove(dropped, path, n);
			return;
		}
}

static uint64_t
share_of_section(const struct config *c)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->n_processes; i++)
		n += c->process[i].from_start;
	return c->limit / SHARE / (n > 0 ? n : 1);
}

/* The ring to remove: the oldest, but none that an open incident began with. */
static struct source **
one_to_go(struct daemon *d, const char *section)
{
	struct source **at, **found = NULL;

	for (at = &d->sources; *at != NULL; at = &(*at)->next)
		if ((*at)->short_bytes > 0 && strcmp((*at)->name, section) == 0 &&
		    (found == NULL || d->window.open))
			found = at;
	return found;
}

/* Keeps the rings of a section within bounds: each start of a program makes one. */
static void
keep_bound(struct daemon *d, const char *section)
{
	uint64_t share = share_of_section(d->config), bytes = 0;
	struct source **go;
	unsigned n = 0;

	for (const struct source *s = d->sources; s != NULL; s = s->next)
		if (s->short_bytes > 0 && strcmp(s->name, section) == 0) {
			bytes += s->short_bytes;
			n++;
		}
	while ((n > RINGS_MAX || (bytes > share && n > 1)) &&
	    (go = one_to_go(d, section)) != NULL) {
		bytes -= (*go)->short_bytes;
		n--;
		daemon_source_drop(d, go);
		d->short_rings.removed++;
	}
}

/* Names the source by the program's file, as a process is at first. */
static void
name_it(struct source *s, const struct config_process *p)
{
	const char *slash = p->program != NULL ? strrchr(p->program, '/') : NULL;

	snprintf(s->comm, sizeof s->comm, "%.*s", COMM_BYTES, slash != NULL ? slash + 1 : p->comm);
}

/* The state of a look, with the sources that are watched already. */
struct look {
	struct daemon *d;
	struct map known;	/* a set of paths */
};

static bool
look_wants(void *arg, const char *path, const char *section)
{
	const struct look *l = arg;
	const struct config_process *p = config_process_find(l->d->config, section);

	return p != NULL && p->from_start && tnf_map_get(&l->known, path, strlen(path)) == NULL;
}

static void
look_found(void *arg, struct source *s)
{
	struct daemon *d = ((struct look *)arg)->d;
	const struct config_process *p = config_process_find(d->config, s->name);
	struct stat st;

	s->short_bytes = stat(s->path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 1;
	s->status = status_of(&d->short_rings, s->pid, now_mono());
	/* If the process was watched before, triggers have been told of its end, or did not
	   want to know. */
	s->ended_told = daemon_short_from(d, s, 0) != 0;
	name_it(s, p);
	daemon_source_add(d, s, d->started);
	keep_bound(d, p->name);
}

void
daemon_short_care(struct daemon *d, int64_t now)
{
	struct look l = { .d = d };

	if (now < d->short_rings.look)
		return;
	d->short_rings.look = now + LOOK;
	dropped_forget(&d->short_rings.dropped);
	if (!start_is_asked(d->config))
		return;
	tnf_map_init(&l.known, 0);
	for (const struct source *s = d->sources; s != NULL; s = s->next)
		if (s->kind == SOURCE_PROCESS)
			tnf_xmap_put(&l.known, s->path, strlen(s->path), NULL);
	leftover_rings(d->config, look_wants, look_found, &l);
	tnf_map_free(&l.known);
}
