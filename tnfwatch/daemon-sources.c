/*
 * daemon-sources.c - sources come, end and go.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/history.h"

#define KERNEL_RETRY	(5 * SECOND)
#define ENDED_TELL	(200 * MS)	/* triggers hear of an end so much later: the connector has told the status by then */
#define ENDED_READ	(1 * SECOND)	/* an ended source is polled for so long, and once at least */
#define DIRECTORIES_LOOK	(1 * SECOND)
#define TAKER_RETRY	(1 * SECOND)
#define SHARE		4	/* a source's file may have limit / SHARE bytes, ... */
#define SHARE_MIN	((uint64_t)4 << 20)	/* ... or so many, if that is more */

static bool
has_id(const struct daemon *d, const char *id)
{
	for (const struct source *s = d->sources; s != NULL; s = s->next)
		if (strcmp(s->id, id) == 0)
			return true;
	return false;
}

/* Gives the source an id of its own, with which the names of its segments and of its files in
   incidents begin.  If another source has the id (the process became another program, or has the
   number of one that ended), a number is added.  A source with a ring of ours has the ring's name. */
static void
source_choose_id(const struct daemon *d, struct source *s)
{
	const char *slash = s->ours ? strrchr(s->path, '/') : NULL;

	if (slash != NULL) {
		free(s->id);
		s->id = tnf_xasprintf("%.*s", (int)(strlen(slash + 1) - strlen(".tnf")),
		    slash + 1);
	}
	autofree char *stem = tnf_xstrdup(s->id);
	for (int i = 2; has_id(d, s->id); i++) {
		free(s->id);
		s->id = tnf_xasprintf("%s.%d", stem, i);
	}
}

/*
 * Returns how many bytes a source's file may have: the largest of its section's size, a quarter of
 * "limit", and SHARE_MIN.  We set a bound since the file takes room in each incident, and its owner can make
 * the file larger.
 */
static uint64_t
source_size_max(const struct config *c, const struct source *s)
{
	uint64_t most = c->limit / SHARE > SHARE_MIN ? c->limit / SHARE : SHARE_MIN;
	const struct config_process *p = s->kind == SOURCE_PROCESS ? config_process_find(c, s->name) : NULL;

	return p != NULL && p->size > most ? p->size : most;
}

void
daemon_source_add(struct daemon *d, struct source *s, int64_t from)
{
	struct source **at = &d->sources;

	source_choose_id(d, s);
	while (*at != NULL)
		at = &(*at)->next;
	*at = s;
	s->all = &d->sources;
	s->most = source_size_max(d->config, s);
	s->fires_from = daemon_short_from(d, s, from);
	source_engine(s, d->engine);
	if (s->pidfd >= 0)
		daemon_watch_fd(d, s->pidfd);
}

/* Sets the channel as the configuration has it.  If the configuration has none any more, the channel
   stays as long as an incident may need its events: source_keep_channel(). */
static void
kernel_channel(const struct config *c, struct source *s)
{
	if (s->channel == NULL && c->kernel_channel == NULL)
		return;
	if (s->channel == NULL)
		s->channel = channel_new();
	channel_set(s->channel, c->kernel_channel, c->kernel_channel_keep);
}

static void
kernel_source_begin(struct daemon *d, int64_t now)
{
	struct enabled done = { .n = 0 };
	char why[sizeof d->kernel_why];
	struct source *s = NULL;

	d->kernel_retry = now + KERNEL_RETRY;
	if (kernel_set_up(d->config, false, &done, why, sizeof why))
		s = source_kernel(why, sizeof why);
	if (s != NULL) {
		*d->kernel_why = '\0';
		s->probes = tnf_xstrdup(done.names);
		kernel_channel(d->config, s);
		daemon_source_add(d, s, now);
		return;
	}
	if (strcmp(why, d->kernel_why) != 0)
		say("%s", why);
	snprintf(d->kernel_why, sizeof d->kernel_why, "%s", why);
}

static struct source *
kernel_of(const struct daemon *d)
{
	struct source *s = d->sources;

	while (s != NULL && s->kind != SOURCE_KERNEL)
		s = s->next;
	return s;
}

/* True if the configuration watches the kernel, or a process whose events come from the kernel. */
static bool
wants_kernel(const struct daemon *d)
{
	bool wants = d->config->kernel;

	for (const struct source *s = d->sources; s != NULL && !wants; s = s->next)
		wants = s->by_kernel && config_process_find(d->config, s->name) != NULL;
	return wants;
}

/* If an unwanted source has this process and ring, its section has been renamed: gives it the new
   section and returns true, so that no event of the ring is kept twice.  Otherwise returns false. */
static bool
source_take_over(struct daemon *d, const struct taker_report *r)
{
	struct source *s = d->sources;

	while (s != NULL && (s->kind != SOURCE_PROCESS || !s->unwanted || s->ended != 0 ||
	    s->pid != r->pid || strcmp(s->path, r->path) != 0))
		s = s->next;
	if (s == NULL)
		return false;
	free(s->name);
	s->name = tnf_xstrdup(d->config->process[r->process].name);
	free(s->probes);
	s->probes = tnf_xstrdup(r->probes.names);
	s->unwanted = false;
	source_engine(s, d->engine);
	return true;
}

static struct source *
source_of_path(struct daemon *d, const char *path)
{
	for (struct source *s = d->sources; s != NULL; s = s->next)
		if (s->kind == SOURCE_PROCESS && strcmp(s->path, path) == 0)
			return s;
	return NULL;
}

static struct source *
source_of_pid(struct daemon *d, pid_t pid)
{
	for (struct source *s = d->sources; s != NULL; s = s->next)
		if (s->pid == pid && s->kind == SOURCE_PROCESS && s->ended == 0 && !s->unwanted)
			return s;
	return NULL;
}

/* True if the text can be a section's name, which gets into names of files and into the status. */
static bool
is_stem(const char *from, size_t n)
{
	autofree char *stem = tnf_xstrndup(from, n);

	return config_name_good(stem);
}

/*
 * True if the path is one that a taker of ours would have given to the ring of this process.  Rings
 * of ours are removed when the process ends.  A process that had a trace file before we came tells
 * us the path itself, which may be any: we must not remove that file.
 */
static bool
is_our_ring(const struct config *c, const char *path, pid_t pid)
{
	size_t n = strlen(c->rings);
	const char *name = path + n + 1, *dash;
	char *end;

	if (strncmp(path, c->rings, n) != 0 || path[n] != '/' || strchr(name, '/') != NULL ||
	    (dash = strrchr(name, '-')) == NULL || !is_stem(name, (size_t)(dash - name)) ||
	    dash[1] < '0' || dash[1] > '9' || strtol(dash + 1, &end, 10) != pid)
		return false;
	if (*end == '.' && end[1] >= '0' && end[1] <= '9')
		strtol(end + 1, &end, 10);
	return strcmp(end, ".tnf") == 0;
}

static void
process_refused(struct daemon *d, const struct taker_report *r)
{
	d->not_taken++;
	char comm[sizeof r->comm];

	snprintf(comm, sizeof comm, "%s", r->comm);
	if (*comm == '\0')
		snprintf(comm, sizeof comm, "process %d", (int)r->pid);
	snprintf(d->refused, sizeof d->refused, "%s (%.40s): %.180s",
	    d->config->process[r->process].name, comm, r->detail);
	/* Only "program" and "pid" surely mean this process: the other keys can choose many, and the
	   log says nothing of them. */
	if (d->config->process[r->process].program != NULL ||
	    d->config->process[r->process].pid != 0)
		say("%s", d->refused);
}

static void
process_taken(struct daemon *d, const struct taker_report *r)
{
	const struct config_process *p = &d->config->process[r->process];
	struct source *s = source_of_pid(d, r->pid), *known;
	bool ours = is_our_ring(d->config, r->path, r->pid);

	if (*r->detail != '\0')
		process_refused(d, r);
	if (s != NULL ? strcmp(s->path, r->path) == 0 : source_take_over(d, r))
		return;
	/* The process has ended since the taker attached to it, and its ring is a source already. */
	if (ours && (known = source_of_path(d, r->path)) != NULL) {
		daemon_short_taken(known, r);
		return;
	}
	/* The process has become another program, but has not ended. */
	if (s != NULL) {
		s->ended = now_mono();
		s->ended_told = true;
	}
	s = source_process(p->name, r->pid, r->comm, r->path, ours);
	s->told = r->told;
	s->by_kernel = r->probes.by_kernel;
	s->probes = tnf_xstrdup(r->probes.names);
	daemon_source_add(d, s, d->started);
	if (s->by_kernel && kernel_of(d) == NULL)
		kernel_source_begin(d, now_mono());
}

static void
taker_report(struct daemon *d, const struct taker_report *r)
{
	struct source *s;

	switch (r->what) {
	case TAKER_TAKEN:
		process_taken(d, r);
		break;
	case TAKER_FAILED:
		process_refused(d, r);
		break;
	case TAKER_ENDED:
		for (s = d->sources; s != NULL; s = s->next)
			if (s->pid == r->pid && !s->ended_told)
				s->status = r->status;
		daemon_short_ended(d, r->pid, r->status);
		break;
	case TAKER_SCANS:
		snprintf(d->scans, sizeof d->scans, "%.255s", r->detail);
		say("%s", d->scans);
		break;
	case TAKER_READY:
		daemon_ready(d);
		break;
	}
}

void
daemon_taker(struct daemon *d)
{
	struct taker_report r;
	ssize_t n;

	while ((n = recv(d->taker.fd, &r, sizeof r, MSG_DONTWAIT)) == (ssize_t)sizeof r)
		if (r.process < d->config->n_processes || r.what > TAKER_FAILED)
			taker_report(d, &r);
	if (n != 0)
		return;
	/* The taker has ended unexpectedly: another one is started later. */
	daemon_unwatch_fd(d, d->taker.fd);
	taker_stop(&d->taker);
	d->taker_retry = now_mono() + TAKER_RETRY;
}

static void
taker_restart(struct daemon *d, int64_t now)
{
	if (d->taker.fd >= 0 || now < d->taker_retry)
		return;
	d->taker_retry = now + TAKER_RETRY;
	if (taker_start(&d->taker, d->config) == 0)
		daemon_watch_fd(d, d->taker.fd);
}

void
daemon_process_ended(struct daemon *d, int pidfd)
{
	for (struct source *s = d->sources; s != NULL; s = s->next)
		if (s->pidfd == pidfd) {
			if (s->ended == 0)
				s->ended = now_mono();
			daemon_unwatch_fd(d, pidfd);
			close(pidfd);
			s->pidfd = -1;
			return;
		}
}

/* Adds the configuration's files and kernel that are not watched yet. */
static void
daemon_sources_missing(struct daemon *d)
{
	const struct config *c = d->config;
	struct source *s;

	for (size_t i = 0; i < c->n_files; i++) {
		for (s = d->sources; s != NULL; s = s->next)
			if (s->kind == SOURCE_FILE && strcmp(s->path, c->files[i].path) == 0)
				break;
		if (s == NULL)
			daemon_source_add(d, source_file(c->files[i].name, c->files[i].path), d->started);
	}
	if (wants_kernel(d) && kernel_of(d) == NULL)
		kernel_source_begin(d, now_mono());
}

static bool
wants_every_ring(void *arg, const char *path, const char *section)
{
	return true;
}

static void
add_leftover(void *arg, struct source *s)
{
	daemon_source_add(arg, s, INT64_MAX);
}

void
daemon_sources_begin(struct daemon *d)
{
	struct source *s;

	daemon_short_begin(d);
	leftover_rings(d->config, wants_every_ring, add_leftover, d);
	s = self_begin(d->config);

	if (s != NULL)
		daemon_source_add(d, s, INT64_MAX);
	daemon_sources_missing(d);
}

/* True if an incident may still need old events: its window is open, or the child that writes the
   incident has perhaps not come to them yet. */
static bool
is_held(const struct daemon *d)
{
	bool writes = false;

	for (size_t i = 0; i < WRITERS_MAX; i++)
		writes |= d->writer[i].pid > 0;
	return d->window.open || writes;
}

static void
source_keep_channel(const struct daemon *d, struct source *s, int64_t now)
{
	channel_tick(s->channel, now, is_held(d));
	if (d->config->kernel_channel == NULL && !is_held(d)) {
		channel_free(s->channel);
		s->channel = NULL;
	}
}

/* Moves events of the source's ring into its history: the ring alone perhaps does not reach back
   as far as "keep" promises. */
static void
source_keep_history(struct daemon *d, struct source *s, int64_t now)
{
	struct history_place place = { .keep = d->config->keep, .limit = d->config->limit / 2 };

	if (s->history == NULL && s->base != NULL && s->ended == 0 && s->kind != SOURCE_FILE) {
		autofree char *directory = tnf_xasprintf("%s/segments", d->config->directory);
		place.directory = d->config->in_memory ? NULL : directory;
		s->history = history_new(s, &place);
	}
	history_promise(s->history, &place);
	history_tick(s->history, s, now, is_held(d));
	source_keep_channel(d, s, now);
}

void
daemon_sources_poll(struct daemon *d, int64_t now, int64_t until)
{
	struct source *s;

	for (s = d->sources; s != NULL; s = s->next) {
		if (s->ended != 0)
			trigger_source_ended(s->trigger);
		if (s->ended == 0)
			source_poll(s, until);
		else if (now - s->ended < ENDED_READ || s->polled <= s->ended)
			source_poll(s, INT64_MAX);
		s->polled = now;
		/* A broken source is not read any more, so its history is kept no further. */
		if (*s->broken == '\0')
			source_keep_history(d, s, now);
	}
}

static void
source_tell_ended(struct daemon *d, struct source *s, int64_t now)
{
	if (s->ended == 0 || s->ended_told || s->unwanted || now - s->ended < ENDED_TELL)
		return;
	s->ended_told = true;
	trigger_ended(d->engine, s->trigger, s->comm, s->pid, s->status, s->ended);
}

void
daemon_source_drop(struct daemon *d, struct source **at)
{
	struct source *s = *at;

	if (s->pidfd >= 0)
		daemon_unwatch_fd(d, s->pidfd);
	*at = s->next;
	/* Files that another program or an earlier run has made are not removed. */
	if (s->ours && s->ended != 0)
		unlink(s->path);
	else if (s->kind == SOURCE_PROCESS)
		daemon_short_dropped(d, s);
	source_delete(s);
}

/* True if the source has ended and its history has been kept for as long as was promised, or if
   the source is not wanted any more. */
static bool
is_over(const struct daemon *d, const struct source *s, int64_t now)
{
	return s->unwanted || (s->ended != 0 && now - s->ended > d->config->keep);
}

/* Makes directories and the socket again if they were removed: segments, rings of new processes and
   clients need them. */
static void
directories_remake(struct daemon *d, int64_t now)
{
	const struct config *c = d->config;
	int control;

	if (now < d->directories_look)
		return;
	d->directories_look = now + DIRECTORIES_LOOK;
	if (!path_exists("%s/segments", c->directory) || !path_exists("%s/incidents", c->directory) ||
	    !path_exists("%s", c->rings) || !path_exists("%s", c->run))
		directories_make(c);
	if (path_exists("%s/watch.sock", c->run) || (control = control_open(c)) < 0)
		return;
	daemon_unwatch_fd(d, d->control);
	close(d->control);
	d->control = control;
	daemon_watch_fd(d, control);
}

void
daemon_sources_care(struct daemon *d, int64_t now)
{
	struct source **at = &d->sources;

	directories_remake(d, now);
	taker_restart(d, now);
	daemon_short_care(d, now);
	while (*at != NULL) {
		source_tell_ended(d, *at, now);
		if (is_over(d, *at, now) && !is_held(d))
			daemon_source_drop(d, at);
		else
			at = &(*at)->next;
	}
	if (now >= d->kernel_retry && kernel_of(d) == NULL && wants_kernel(d))
		kernel_source_begin(d, now);
}

/* Returns the time of the next tick.  A tick without events costs some 10 us a source.  While events
   come, the next tick is TICK_QUICK_MS and 1 ms for each source away, so that ticks cost at most a
   hundredth of a CPU.  Otherwise, and at the latest, it is TICK_MS away. */
static int64_t
tick_next(const struct daemon *d, int64_t now)
{
	int64_t quick = TICK_QUICK_MS * MS;
	bool busy = false;

	for (const struct source *s = d->sources; s != NULL; s = s->next) {
		quick += MS;
		busy |= now - s->seen < SECOND && s->pid != getpid();
	}
	return now + (busy && quick < TICK_MS * MS ? quick : TICK_MS * MS);
}

int64_t
daemon_due(const struct daemon *d, int64_t now)
{
	int64_t due = tick_next(d, now), one;

	for (const struct source *s = d->sources; s != NULL; s = s->next)
		if ((one = history_due(s->history, now)) < due)
			due = one;
	if ((one = daemon_window_due(d)) < due)
		due = one;
	return due < now + MS ? now + MS : due;
}

/* Lets go of all sources.  Their rings go on; the next tnfwatch takes them up. */
void
daemon_sources_end(struct daemon *d)
{
	struct source *s;

	while ((s = d->sources) != NULL) {
		d->sources = s->next;
		source_delete(s);
	}
	daemon_short_end(d);
}

/* True if the configuration still has the section of this source. */
static bool
is_configured(const struct daemon *d, const struct source *s)
{
	const struct config *c = d->config;

	if (s->kind == SOURCE_KERNEL)
		return wants_kernel(d);
	if (s->pid == getpid())
		return true;
	if (s->kind == SOURCE_PROCESS)
		return config_process_find(c, s->name) != NULL;
	for (size_t i = 0; i < c->n_files; i++)
		if (strcmp(c->files[i].path, s->path) == 0)
			return true;
	return false;
}

/* Marks sources that are not configured any more: they fire no trigger from now on.  Such a source
   stays as long as an incident may need it: until the window is closed, and the writer of the
   incident has come to the source. */
static void
sources_change(struct daemon *d)
{
	for (struct source *s = d->sources; s != NULL; s = s->next) {
		s->unwanted = !is_configured(d, s);
		s->most = source_size_max(d->config, s);
		source_engine(s, s->unwanted ? NULL : d->engine);
		if (s->kind == SOURCE_KERNEL)
			kernel_channel(d->config, s);
	}
	daemon_sources_missing(d);
}

/* Makes the counts of a new configuration; a trigger that stays keeps its counts and limit. */
static struct trigger_counts *
counts_take_over(struct daemon *d, const struct config *c)
{
	struct trigger_counts *counts = tnf_xcalloc(c->n_triggers + 1, sizeof *counts);
	int j;

	for (size_t i = 0; i < d->config->n_triggers; i++) {
		j = config_trigger_find(c, d->config->trigger[i].name);
		if (j >= 0 && c->trigger[j].limit_n == d->config->trigger[i].limit_n) {
			counts[j] = d->counts[i];
			d->counts[i] = (struct trigger_counts){ .fired = 0 };
		}
		trigger_counts_free(&d->counts[i]);
	}
	return counts;
}

void
daemon_start_tell(struct daemon *d)
{
	int fd = -1;

	if (!start_is_asked(d->config))
		start_end(d->config);
	else if ((fd = start_tell(d->config)) < 0)
		say("%s: %s: programs that start are not told what to record, and are attached to a "
		    "moment later", d->config->run, strerror(errno));
	/* The old lock is released only now, so that the text is never without a lock. */
	if (d->start >= 0)
		close(d->start);
	d->start = fd;
}

static bool
same_places(const struct config *a, const struct config *b)
{
	return strcmp(a->directory, b->directory) == 0 && strcmp(a->run, b->run) == 0 &&
	    strcmp(a->rings, b->rings) == 0;
}

static void
reload_with(struct daemon *d, struct config *c)
{
	struct trigger_engine *old = d->engine;
	struct config *before = d->config;
	struct enabled done = { .n = 0 };
	struct trigger_counts *counts;
	struct taker taker;
	int e;

	/* The new taker looks at all processes before the old one goes. */
	if ((e = taker_start(&taker, c)) != 0) {
		say("%s: not read again: fork: %s", c->file, strerror(e));
		config_free(c);
		return;
	}
	daemon_taker(d);
	d->engine = daemon_engine(d, c);
	counts = counts_take_over(d, c);
	free(d->counts);
	d->counts = counts;
	d->config = c;
	*d->scans = '\0';
	d->not_taken = 0;
	if (c->kernel && kernel_of(d) != NULL &&
	    !kernel_set_up(c, before->kernel_pfilter != NULL, &done, d->kernel_why, sizeof d->kernel_why))
		say("%s", d->kernel_why);
	/* The taker switches the probes of processes on again. */
	for (struct source *s = d->sources; s != NULL; s = s->next)
		s->frozen = false;
	sources_change(d);
	daemon_start_tell(d);
	if (strcmp(c->webhook != NULL ? c->webhook : "",
	    before->webhook != NULL ? before->webhook : "") != 0)
		daemon_webhook(d);
	fleet_reload(d, before);
	trigger_engine_free(old);
	config_free(before);
	daemon_unwatch_fd(d, d->taker.fd);
	taker_stop(&d->taker);
	d->taker = taker;
	daemon_watch_fd(d, taker.fd);
	say("%s: read again", c->file);
}

void
daemon_reload(struct daemon *d)
{
	struct config *c;

	notify_reloading();
	c = config_read(d->config->file, stderr);
	if (c == NULL)
		say("%s: not read again: what was in force stays", d->config->file);
	else if (!same_places(c, d->config)) {
		say("%s: not read again: other directories need a restart", d->config->file);
		config_free(c);
	} else
		reload_with(d, c);
	notify("READY=1");
}
