/*
 * follow.c - --follow FILE|PID|kernel: events as they are committed.
 *
 * The files are mapped and looked at again and again, 10 to 50 times a second, less often
 * while nothing comes.  A pidfd tells the end of a process, and ends the wait early.  The
 * kernel has no end: when it is followed beside processes or files, the run ends with the
 * last of those.
 *
 * With --cursor FILE a run goes on behind the last event that an earlier run has told.  FILE names
 * the trace, and the time of the event with its number among those of equal time.  It is written
 * when the output has been, so that after a crash events may come twice, and none is missing.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <poll.h>
#include <signal.h>

#include "common/files.h"
#include "tnfdump/report/report.h"

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

/* Called when the output is written: writes the place into the file. */
static void
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

#define KERNEL		"kernel"	/* instead of a file or process */
#define TARGETS_MAX	16
#define LOOK_MIN_MS	20
#define LOOK_MAX_MS	100
#define TELL_NS		1000000000

struct target {
	const char	*what;		/* as given */
	char		*path;		/* of its file; NULL: the kernel */
	pid_t		 pid;		/* 0: not known */
	int		 pidfd;		/* or -1 */
	bool		 ended;		/* or the file does not tell its writer */
	struct kp	*kp;		/* the kernel's session */
	struct live	*live;		/* made when first asked for */
};

struct follow {
	struct target	 t[TARGETS_MAX];
	unsigned	 n;
	bool		 final;
	int		 wait_ms;
	uint64_t	 missed;	/* blocks */
	uint64_t	 untold;	/* of them, not reported so far */
	int64_t		 tell_next;	/* monotonic ns */
};

static volatile sig_atomic_t interrupted;

static void
follow_on_interrupt(int sig)
{
	interrupted = 1;
}

static bool
is_kernel(const struct target *t)
{
	return strcmp(t->what, KERNEL) == 0;
}

int
follow_set(struct dump *d, const char *what)
{
	struct follow *f = d->follow;

	if (f == NULL) {
		f = d->follow = tnf_xcalloc(1, sizeof *f);
		f->wait_ms = LOOK_MIN_MS;
	}
	if (f->n == TARGETS_MAX)
		return options_wrong("follow", "%s: more than %d targets", what,
		    TARGETS_MAX);
	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->t[i].what, what) == 0)
			return options_wrong("follow", "%s: given twice", what);
	f->t[f->n++] = (struct target){ .what = what, .pidfd = -1 };
	return 0;
}

/* The target names the file, so the file is checked: it must be regular and begin with
   TNF's magic. */
static bool
is_trace(const char *path, bool *opened, struct stat *ret)
{
	uint32_t magic = 0;
	int fd = tnf_open_regular(path, O_RDONLY, ret);

	*opened = fd >= 0;
	if (fd < 0)
		return false;
	if (read(fd, &magic, sizeof(magic)) != sizeof(magic))
		magic = 0;
	close(fd);
	return magic == TNF_MAGIC;
}

/* The path of the trace file behind a mapping, or NULL.  Opens the mapping itself if
   permitted, otherwise the file of the mapping's name, if its inode is that of the mapping. */
static char *
trace_of_mapping(pid_t pid, const struct mapping *m)
{
	char path[MAPPING_FILE_MAX];
	struct stat st;
	bool opened;

	if (!tnf_mapping_is_written(m))
		return NULL;
	if (is_trace(tnf_mapping_file(m, pid, path), &opened, &st))
		return tnf_xstrdup(path);
	return !opened && is_trace(m->path, &opened, &st) && st.st_ino == m->inode ?
	    tnf_xstrdup(m->path) : NULL;
}

/* Finds the trace file that a process has mapped; EAGAIN: none so far. */
static int
mapped_trace(pid_t pid, char **found)
{
	struct maps maps;
	int error = tnf_maps_read(pid, &maps);

	if (error != 0)
		return error;
	*found = NULL;
	for (size_t i = 0; i < maps.n && *found == NULL; i++)
		*found = trace_of_mapping(pid, &maps.m[i]);
	tnf_maps_free(&maps);
	return *found != NULL ? 0 : EAGAIN;
}

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* The process with that number; 0: no process can have it. */
static pid_t
follow_pid_of(const char *s)
{
	unsigned long pid = strtoul(s, NULL, 10);

	return pid <= INT32_MAX ? (pid_t)pid : 0;
}

static void
follow_watch(struct target *t, pid_t pid)
{
	t->pid = pid;
	if (pid > 0 && (t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0)
		t->ended = errno == ESRCH;
}

/* True if there are targets that can end and all of them have; the kernel cannot. */
static bool
all_ended(const struct follow *f)
{
	bool any = false;

	for (unsigned i = 0; i < f->n; i++) {
		if (is_kernel(&f->t[i]))
			continue;
		if (!f->t[i].ended)
			return false;
		any = true;
	}
	return any;
}

/* Sleeps until the time is over or a target ends. */
static void
follow_sleep_ms(struct follow *f, int ms)
{
	struct pollfd p[TARGETS_MAX];

	for (unsigned i = 0; i < f->n; i++)	/* poll() passes over -1 */
		p[i] = (struct pollfd){ .events = POLLIN,
		    .fd = f->t[i].ended ? -1 : f->t[i].pidfd };
	if (poll(p, f->n, ms) <= 0)
		return;
	for (unsigned i = 0; i < f->n; i++)
		if (p[i].revents != 0)
			f->t[i].ended = true;
}

static int
map_file(struct dump *d, struct input *in)
{
	int fd = tnf_open_regular(in->path, O_RDONLY, &in->st), err = 0;

	if (fd < 0 || in->st.st_size == 0) {
		err = fd < 0 ? errno : EINVAL;
		dump_error(d, "%s: cannot follow: %s", in->path, err == EINVAL ?
		    "not a regular file with something in it" : strerror(err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	in->size = (size_t)in->st.st_size;
	in->base = mmap(NULL, in->size, PROT_READ, MAP_SHARED, fd, 0);
	if (in->base == MAP_FAILED) {
		err = errno;
		dump_error(d, "%s: cannot map: %s", in->path, strerror(err));
	}
	close(fd);
	return err;
}

/* Waits for the process to map its trace file, which it opens when the first probe is hit. */
static int
wait_for_trace(struct dump *d, struct target *t)
{
	bool told = false;
	int err;

	while ((err = mapped_trace(t->pid, &t->path)) == EAGAIN &&
	    !t->ended && !interrupted) {
		if (!told)
			dump_note(d, "process %s: waiting: it has no trace file "
			    "so far that we may read", t->what);
		told = true;
		follow_sleep_ms(d->follow, LOOK_MAX_MS);
	}
	if (err == EACCES || err == EPERM)
		dump_error(d, "process %s: cannot read which files it has mapped: "
		    "%s: become its user or root", t->what, strerror(err));
	else if (err != 0)
		dump_error(d, "process %s: has ended, or never had a trace "
		    "file that we may read", t->what);
	return err;
}

/* Finds and maps the target's file, and watches the process if the target is a pid. */
static int
target_find(struct dump *d, struct target *t, struct input *in)
{
	int err;

	in->path = t->what;
	if (is_kernel(t))
		return follow_map_kernel(d, &t->kp, &in->base, &in->size);
	if (is_number(t->what)) {
		follow_watch(t, follow_pid_of(t->what));
		if ((err = wait_for_trace(d, t)) != 0)
			return err;
	} else
		t->path = tnf_xstrdup(t->what);
	in->path = t->path;
	return map_file(d, in);
}

/* Watches the process that writes the file.  A file of the kernel or of an original writer
   counts as ended: nobody writes to it any more. */
static void
watch_writer(struct target *t, const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);

	if (x != NULL && x->kind == TNF_EXT_PROCESS)
		follow_watch(t, x->pid);
	else
		t->ended = true;
}

/* Adds the target to the stream; false: its file was refused, or it ended without a record. */
static bool
target_add(struct dump *d, struct target *t, struct input *in)
{
	int err;

	while ((err = tnf_stream_add_mem(d->stream, in->base, in->size, in->path,
	    &in->file)) == ENODATA && !t->ended && !interrupted)
		follow_sleep_ms(d->follow, LOOK_MAX_MS);
	if (err != 0) {
		input_refused(d, in->path, err);
		return false;
	}
	d->n_inputs++;
	if (!is_kernel(t) && t->pid == 0)
		watch_writer(t, in->file);
	return true;
}

void
follow_what(const struct dump *d, char *buf, size_t size)
{
	const struct follow *f = d->follow;
	size_t n = 0;

	for (unsigned i = 0; i < f->n && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s",
		    i > 0 ? ", " : "", f->t[i].what);
}

uint64_t
follow_missed(const struct dump *d)
{
	return d->follow->missed;
}

/* Reports missed blocks once a second at most, and at the end.  With --top the screen shows
   them. */
static void
tell_missed(struct dump *d, uint64_t blocks, bool last)
{
	struct follow *f = d->follow;
	char names[256];

	d->lost |= blocks > 0;
	f->missed += blocks;
	f->untold += blocks;
	if (f->untold == 0 || (!last &&
	    (top_asked(d) || clock_ns(CLOCK_MONOTONIC) < f->tell_next)))
		return;
	tnf_out_flush(&d->out);
	follow_what(d, names, sizeof names);
	dump_note(d, "%s: fell behind: %llu blocks were overwritten before "
	    "they were read (%llu in all): trace less, or into a larger buffer",
	    names, (unsigned long long)f->untold, (unsigned long long)f->missed);
	f->untold = 0;
	f->tell_next = clock_ns(CLOCK_MONOTONIC) + TELL_NS;
}

/* Reads what was committed since the last look.  With 'last' (the targets have ended, or Ctrl-C was
   typed) takes everything, without the delay FOLLOW_DELAY_NS. */
static bool
follow_look(struct dump *d, bool last)
{
	struct tnf_progress p;
	int err = tnf_stream_refresh(d->stream,
	    last ? INT64_MAX : clock_ns(CLOCK_MONOTONIC) - FOLLOW_DELAY_NS, &p);

	if (err != 0)
		dump_fatal(d, "%s", tnf_error_message(err));
	tell_missed(d, p.blocks_missed, last);
	return p.events > 0;
}

bool
follow_open(struct dump *d)
{
	/* A second signal ends the program at once. */
	struct sigaction sa = { .sa_handler = follow_on_interrupt,
	    .sa_flags = (int)SA_RESETHAND };
	struct follow *f = d->follow;
	int err;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	d->inputs = tnf_xcalloc(f->n, sizeof(*d->inputs));
	if ((err = tnf_stream_new(&d->stream)) != 0)
		dump_fatal(d, "%s", tnf_error_message(err));
	for (unsigned i = 0; i < f->n; i++)
		if (target_find(d, &f->t[i], &d->inputs[i]) != 0)
			return false;
	tnf_stream_follow(d->stream);
	for (unsigned i = 0; i < f->n; i++)
		if (!target_add(d, &f->t[i], &d->inputs[i]))
			return false;
	follow_look(d, false);
	return true;
}

struct live *
follow_live(struct dump *d, const struct tnf_file *file)
{
	for (unsigned i = 0; d->follow != NULL && i < d->n_inputs; i++) {
		if (d->inputs[i].file != file)
			continue;
		struct target *t = &d->follow->t[i];
		if (t->live == NULL && (is_kernel(t) || (t->pidfd >= 0 &&
		    tnf_file_ext(file) != NULL)))
			t->live = live_new(t->pid, is_kernel(t) ? 0 :
			    tnf_file_ext(file)->pid, t->kp);
		return t->live;
	}
	return NULL;
}

bool
follow_wait(struct dump *d)
{
	struct follow *f = d->follow;
	bool last = all_ended(f) || interrupted;

	tnf_out_flush(&d->out);
	cursor_save(d);
	if (!last)
		follow_sleep_ms(f, f->wait_ms);
	f->wait_ms = follow_look(d, last) ? LOOK_MIN_MS :
	    f->wait_ms < LOOK_MAX_MS ? f->wait_ms * 2 : LOOK_MAX_MS;
	if (f->wait_ms > LOOK_MAX_MS)
		f->wait_ms = LOOK_MAX_MS;
	if (last && !f->final) {
		f->final = true;	/* the caller prints what this last look has found */
		return true;
	}
	return !last;
}

void
follow_close(struct dump *d)
{
	struct follow *f = d->follow;

	tnf_out_flush(&d->out);
	cursor_save(d);
	tell_missed(d, 0, true);
	for (unsigned i = 0; i < f->n; i++) {
		if (f->t[i].pidfd >= 0)
			close(f->t[i].pidfd);
		live_free(f->t[i].live);
		free(f->t[i].path);
	}
	tnf_stream_close(d->stream);
	free(d->inputs);	/* the mappings last until the program ends */
	free(f);
	d->follow = NULL;
}
