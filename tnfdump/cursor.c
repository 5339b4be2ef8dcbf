/*
 * cursor.c - --cursor FILE: --follow goes on behind the last event that an earlier run has told.
 *
 * The file names the trace, and the time of the event with its number among those of equal
 * time.  It is written when the output has been, so that after a crash events may come
 * twice, and none is missing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "tnfdump/follow.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/tnfdump.h"

#define FORMAT	"tnfdump cursor 1\ntrace %" PRId64 " %" PRIx64 "\nevent %" PRId64 " %u\n"

struct place {
	int64_t	 start;		/* of the trace, CLOCK_MONOTONIC ... */
	uint64_t boot;		/* ... since this boot */
	int64_t	 time;		/* of the last event */
	unsigned n;		/* it is the n-th of this time */
};

struct cursor {
	struct dump *d;
	const char  *path;
	bool	     known;	/* an earlier run has left a place */
	bool	     begun;	/* the first event has been looked at */
	struct place from, now, saved;
};

static void
trace_of(const struct tnf_file *f, struct place *p)
{
	const struct tnf_ext *x = tnf_file_ext(f);

	if (x == NULL)
		return;
	p->start = x->start_mono;
	memcpy(&p->boot, x->boot_id, sizeof p->boot);
}

static bool
cursor_read(struct cursor *c)
{
	FILE *f = fopen(c->path, "re");
	bool ok;

	if (f == NULL)
		return errno == ENOENT;
	ok = c->known = fscanf(f, "tnfdump cursor 1 trace %" SCNd64 " %" SCNx64 " event %" SCNd64 " %u",
	    &c->from.start, &c->from.boot, &c->from.time, &c->from.n) == 4;
	fclose(f);
	return ok;
}

/* Compares the trace's first event with the place, and tells what was not read. */
static void
cursor_begin(struct cursor *c, const struct tnf_event *ev)
{
	c->begun = true;
	trace_of(ev->file, &c->now);
	if (!c->known)
		return;
	if (c->now.start != c->from.start || c->now.boot != c->from.boot) {
		dump_note(c->d, "%s: its place is in another trace: all of this one is told", c->path);
		c->known = false;
	} else if (ev->time > c->from.time) {
		c->d->lost = true;
		dump_note(c->d, "%s: the blocks of %.6f seconds were overwritten before they were "
		    "read: come back sooner, or trace into a larger buffer", c->path,
		    (double)(ev->time - c->from.time) / 1e9);
	}
}

static bool
cursor_keep(void *arg, const struct tnf_event *ev)
{
	struct cursor *c = arg;

	if (!c->begun)
		cursor_begin(c, ev);
	c->now.n = ev->time == c->now.time ? c->now.n + 1 : 1;
	c->now.time = ev->time;
	return !c->known || ev->time > c->from.time ||
	    (ev->time == c->from.time && c->now.n > c->from.n);
}

static void
cursor_see(void *arg, const struct tnf_event *ev)
{
	cursor_keep(arg, ev);
}

static int
cursor_start(void *arg, struct dump *d)
{
	struct cursor *c = arg;

	c->d = d;
	if (d->follow == NULL)
		dump_error(d, "--cursor goes on where --follow has ended: give --follow, too");
	else if (d->n_inputs > 1)
		dump_error(d, "--cursor is of one trace: give --follow once");
	else if (cursor_read(c))
		return 0;
	else
		dump_error(d, "%s: no cursor that --cursor has written: name another file, or remove "
		    "this one", c->path);
	return -1;
}

/* The file appears whole, in place of the one that was there. */
static int
cursor_write(const struct cursor *c)
{
	const char *name = strrchr(c->path, '/');
	char *dir = name == NULL ? strdup(".") : name == c->path ? strdup("/") :
	    strndup(c->path, (size_t)(name - c->path));
	int fd = dir == NULL ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct whole w;

	free(dir);
	if (fd < 0)
		return errno;
	if ((err = tnf_whole_open(&w, fd, name == NULL ? c->path : name + 1)) == 0) {
		if (dprintf(w.fd, FORMAT, c->now.start, c->now.boot, c->now.time, c->now.n) < 0)
			err = errno;
		else
			err = tnf_whole_commit(&w);
		tnf_whole_discard(&w);
	}
	close(fd);
	return err;
}

void
cursor_save(struct dump *d)
{
	struct cursor *c = d->cursor;
	int err;

	if (c == NULL || !c->begun || d->out.error != 0 ||
	    (c->now.time == c->saved.time && c->now.n == c->saved.n))
		return;
	/* Events that were told before may be gone from the trace, but the place goes only forward. */
	if (c->known && c->now.time < c->from.time)
		return;
	if ((err = cursor_write(c)) != 0)
		dump_error(d, "%s: cannot write: %s", c->path, strerror(err));
	c->saved = c->now;
}

int
cursor_set(struct dump *d, const char *path)
{
	const struct filter f = { .option = "cursor", .keep = cursor_keep, .see = cursor_see,
		.start = cursor_start, .free = free, .asks = KEEP_WHEN };

	d->cursor = pipeline_filter_arg(d, &f, sizeof(struct cursor));
	d->cursor->path = path;
	return 0;
}
