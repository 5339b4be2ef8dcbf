/*
 * daemon-short.c - rings of programs that ended before they were attached to.
 */
#include <stdio.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/watch.h"

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
