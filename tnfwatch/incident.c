/*
 * incident.c - a child writes an incident.
 *
 * The child has the daemon's memory as it was when the child was started, and mapped files
 * as they are now.  The directory gets its name when it is whole, and is synced then; if a
 * child fails, only this incident is lost.  incident.json says why the incident was kept, and what is
 * in it.
 */
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "analysis/json.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/webhook.h"

#define INDENT	"  "

/* before"name": value */
static void
put_text(struct out *o, const char *before, const char *name, const char *value)
{
	tnf_out_format(o, "%s\"%s\": ", before, name);
	json_name(o, value);
}

static void
put_member(struct out *o, const char *name, const char *value)
{
	put_text(o, ",\n" INDENT, name, value);
}

/* "name": ns of the monotonic clock, and "wall" for "time", else "name_wall": the date */
static void
put_time(struct out *o, const char *name, int64_t mono, int64_t mono_to_wall)
{
	bool time = strcmp(name, "time") == 0;

	tnf_out_format(o, "\"%s\": %" PRId64 ", \"%s%swall\": ", name, mono, time ? "" : name,
	    time ? "" : "_");
	json_wall(o, mono + mono_to_wall);
}

void
incident_json_firing(struct out *o, const struct firing *w, int64_t mono_to_wall)
{
	put_text(o, "{", "trigger", w->trigger);
	out_lit(o, ", ");
	put_time(o, "time", w->time, mono_to_wall);
	tnf_out_format(o, ", \"noticed\": %" PRId64, w->noticed);
	put_text(o, ", ", "source", w->source);
	put_text(o, ", ", "reason", w->reason);
	if (w->note != NULL)
		put_text(o, ", ", "note", w->note);
	if (w->trace != NULL)
		put_text(o, ", ", "trace", w->trace);
	out_lit(o, ", \"event\": ");
	out_str(o, w->event != NULL ? w->event : "null");
	out_char(o, '}');
}

static void
put_firings(struct out *o, const struct window *w, int64_t mono_to_wall)
{
	out_lit(o, ",\n" INDENT "\"firings\": [");
	for (size_t i = 0; i < w->n; i++) {
		out_str(o, i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT);
		incident_json_firing(o, &w->firing[i], mono_to_wall);
	}
	tnf_out_format(o, "],\n" INDENT "\"firings_more\": %" PRIu64, w->more);
}

static void
put_trigger(struct out *o, const struct config *c, const struct firing *first)
{
	const char *name = first != NULL ? first->trigger : "";
	/* A question has no section, even if a section has its name. */
	int i = first != NULL && !first->asked ? config_trigger_find(c, name) : -1;
	const struct config_trigger *t = i >= 0 ? &c->trigger[i] : NULL;

	put_text(o, ",\n" INDENT "\"trigger\": {", "name", name);
	put_text(o, ", ", "when", t != NULL ? t->when : NULL);
	tnf_out_format(o, ", \"after_ns\": %" PRId64 "}", t != NULL ? t->after : 0);
}

static void
put_ended(struct out *o, const struct source *s)
{
	if (s->ended == 0)
		return;
	out_lit(o, ", \"ended\": {");
	if (s->status < 0)
		out_lit(o, "\"how\": null");
	else if (WIFSIGNALED(s->status))
		tnf_out_format(o, "\"signal\": %d", WTERMSIG(s->status));
	else
		tnf_out_format(o, "\"exit\": %d", WEXITSTATUS(s->status));
	out_char(o, '}');
}

static void
put_frozen(struct out *o, const struct incident_facts *x, const struct source *s)
{
	char why[256];
	int64_t time;

	if (!source_frozen(s, &time, why, sizeof why))
		return;
	out_lit(o, ", \"frozen\": {");
	put_time(o, "time", time, x->mono_to_wall);
	put_text(o, ", ", "why", why);
	out_char(o, '}');
}

static void
put_channel(struct out *o, const struct incident_facts *x, const struct source *s)
{
	struct channel_status st;

	if (s->channel == NULL)
		return;
	channel_status(s->channel, &st);
	tnf_out_format(o, ", \"channel\": {\"events\": %" PRIu64 ", ", st.events);
	put_time(o, "since", st.since, x->mono_to_wall);
	out_char(o, '}');
}

static void
put_source(struct out *o, const struct incident_facts *x, const struct incident_source *is)
{
	static const char *const kinds[] = { "process", "file", "kernel" };
	const struct source *s = is->source;
	int64_t first = x->d->window.n > 0 ? x->d->window.firing[0].time : x->end;

	put_text(o, "{", "name", s->name);
	put_text(o, ", ", "kind", kinds[s->kind]);
	if (s->pid != 0) {
		tnf_out_format(o, ", \"pid\": %d", (int)s->pid);
		put_text(o, ", ", "comm", s->comm);
	}
	out_lit(o, ", \"files\": [");
	for (size_t i = 0; i < is->n_files; i++) {
		out_str(o, i > 0 ? ", " : "");
		json_name(o, is->files[i]);
	}
	tnf_out_format(o, "], \"bytes\": %" PRIu64, is->size);
	if (is->since != 0) {
		out_lit(o, ", ");
		put_time(o, "since", is->since, x->mono_to_wall);
		tnf_out_format(o, ", \"reach_ns\": %" PRId64 ", \"promise_kept\": %s",
		    first - is->since, *is->why == '\0' ? "true" : "false");
	}
	if (*is->why != '\0')
		put_text(o, ", ", "why", is->why);
	tnf_out_format(o, ", \"events_lost\": %" PRIu64 ", \"blocks_not_read\": %" PRIu64, s->lost,
	    s->missed);
	put_channel(o, x, s);
	put_ended(o, s);
	put_frozen(o, x, s);
	out_char(o, '}');
}

static void
put_machine(struct out *o)
{
	struct utsname u;

	if (uname(&u) == 0) {
		put_member(o, "host", u.nodename);
		put_member(o, "release", u.release);
		put_member(o, "machine", u.machine);
	}
	put_member(o, "boot", boot_id());
	put_member(o, "tnfwatch", TNF_VERSION);
}

static void
incident_json(struct out *o, const struct incident_facts *x)
{
	const struct daemon *d = x->d;
	const struct window *w = &d->window;

	tnf_out_format(o, "{\n" INDENT "\"version\": 1,\n" INDENT "\"number\": %" PRIu64, x->number);
	put_member(o, "id", w->id);
	put_trigger(o, d->config, w->n > 0 ? &w->firing[0] : NULL);
	if (w->n > 0) {
		out_lit(o, ",\n" INDENT);
		put_time(o, "time", w->firing[0].time, x->mono_to_wall);
		put_member(o, "reason", w->firing[0].reason);
	}
	out_lit(o, ",\n" INDENT);
	put_time(o, "end", x->end, x->mono_to_wall);
	tnf_out_format(o, ",\n" INDENT "\"keep_ns\": %" PRId64, d->config->keep);
	put_firings(o, w, x->mono_to_wall);
	out_lit(o, ",\n" INDENT "\"sources\": [");
	for (size_t i = 0; i < x->n_sources; i++) {
		out_str(o, i > 0 ? ",\n" INDENT INDENT : "\n" INDENT INDENT);
		put_source(o, x, &x->sources[i]);
	}
	out_char(o, ']');
	put_machine(o);
	put_member(o, "configuration", d->config->text);
	out_lit(o, "\n}\n");
}

#define WRITE_SECONDS	600

struct incident {
	struct daemon *d;
	char	*temp;		/* name of the directory so far */
	int	 all, dir;	/* of all incidents; of this one */
	bool	 same;		/* an incident with the same cause is there */
	struct incident_source *sources;
	size_t	 n_sources;
};

static void
note_file(void *arg, const char *name)
{
	struct incident_source *is = arg;

	is->files = tnf_xreallocarray(is->files, is->n_files + 1, sizeof *is->files);
	is->files[is->n_files++] = tnf_xstrdup(name);
}

/* A file name that is free: two sections may mean the same pid, one after the other. */
static char *
free_name(const struct incident *in, const struct source *s)
{
	char *name = tnf_xasprintf("%s.tnf", s->id);

	for (int i = 2; faccessat(in->dir, name, F_OK, 0) == 0; i++) {
		free(name);
		name = tnf_xasprintf("%s.%d.tnf", s->id, i);
	}
	return name;
}

static int
put_ring(struct incident *in, struct incident_source *is, struct source *s)
{
	autofree char *name = free_name(in, s);
	int fd = openat(in->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), e;

	if (fd < 0)
		e = errno;
	else {
		if ((e = source_write(s, fd)) == 0)
			note_file(is, name);
		else
			unlinkat(in->dir, name, 0);
		if (close(fd) != 0 && e == 0)
			e = errno;
	}
	return e;
}

/* Notes how far back the source reaches, and why not further. */
static void
note_reach(const struct incident *in, struct incident_source *is, const struct source *s)
{
	const struct config *c = in->d->config;
	struct history_status h;
	uint64_t wanted;
	int64_t first = in->d->window.n > 0 ? in->d->window.firing[0].time : now_mono();

	if (!source_since(s, &is->since))
		is->since = 0;
	history_status(s->history, &h);
	if (is->since == 0 || first - is->since >= c->keep)
		return;
	/* The source began later, and all its events since then are there. */
	if (source_is_whole(s))
		return;
	if (h.refused > 0)
		snprintf(is->why, sizeof is->why, "limit: segments have no more room");
	else if (h.error != 0)
		snprintf(is->why, sizeof is->why, "segments: %s", strerror(h.error));
	else if (h.missed > 0 && (wanted = history_size_wanted(s->history)) > 0)
		snprintf(is->why, sizeof is->why, "blocks were overwritten faster than they could be "
		    "copied: %s = %" PRIu64 "k would do", s->kind == SOURCE_KERNEL ? "buffer" : "size",
		    (wanted + 1023) / 1024);
	else if (h.missed > 0)
		snprintf(is->why, sizeof is->why, "blocks were overwritten before they were "
		    "copied: a larger ring helps");
	else
		snprintf(is->why, sizeof is->why, "tnfwatch has watched it for less than that");
}

static int
put_segments(struct incident *in, struct incident_source *is, struct source *s)
{
	is->source = s;
	note_reach(in, is, s);
	if (*s->broken != '\0')
		snprintf(is->why, sizeof is->why, "%s", s->broken);
	is->error = history_put(s->history, in->dir, s->id, note_file, is);
	return disk_refuses(is->error) ? is->error : 0;
}

/* Puts the source's channel, without the events of the copy of the ring, which is there now. */
static int
keep_channel(const struct incident *in, struct incident_source *is, struct source *s)
{
	if (s->channel == NULL)
		return 0;
	autofree char *ring = tnf_xasprintf("%s.tnf", s->id);
	source_note_context(s);
	return history_put_channel(s->history, s, in->dir, ring, note_file, is);
}

static int
put_rest(struct incident *in, struct incident_source *is, struct source *s)
{
	int e = put_ring(in, is, s);

	if (e == 0)
		e = keep_channel(in, is, s);
	if (disk_refuses(e))
		return e;
	/* The incident says that one source has nothing, or cannot be read. */
	if (e == 0 && is->error != 0 && *is->why == '\0')
		snprintf(is->why, sizeof is->why, "segments: %s", strerror(is->error));
	if (e != 0 && *is->why == '\0')
		snprintf(is->why, sizeof is->why, "%s", e == ENODATA ?
		    "nothing has been recorded" : tnf_error_message(e));
	return 0;
}

typedef int put_fn(struct incident *, struct incident_source *, struct source *);

/* Puts each source; the kernel's buffer comes first, as all programs write to it. */
static int
put_each(struct incident *in, put_fn *put)
{
	size_t n = 0;
	int e = 0;

	for (int kernel = 1; kernel >= 0; kernel--)
		for (struct source *s = in->d->sources; s != NULL && e == 0; s = s->next)
			if ((s->kind == SOURCE_KERNEL) == (kernel == 1))
				e = put(in, &in->sources[n++], s);
	in->n_sources = n;
	return e;
}

static int
put_sources(struct incident *in)
{
	size_t n = 0;

	for (const struct source *s = in->d->sources; s != NULL; s = s->next)
		n++;
	in->sources = tnf_xcalloc(n + 1, sizeof *in->sources);
	/* Segments may go for want of room while a ring is being copied. */
	int e = put_each(in, put_segments);
	return e != 0 ? e : put_each(in, put_rest);
}

static void
measure_files(struct incident *in)
{
	struct stat st;

	for (size_t i = 0; i < in->n_sources; i++) {
		struct incident_source *is = &in->sources[i];
		for (size_t j = 0; j < is->n_files; j++)
			if (fstatat(in->dir, is->files[j], &st, 0) == 0)
				is->size += (uint64_t)st.st_blocks * 512;
	}
}

static int
put_json(struct incident *in, int64_t end)
{
	struct incident_facts facts = { .d = in->d, .sources = in->sources,
	    .n_sources = in->n_sources, .end = end,
	    .mono_to_wall = in->d->window.n > 0 ? in->d->window.mono_to_wall :
	    now_wall() - now_mono(),
	    .number = in->d->numbers };
	int fd = openat(in->dir, "incident.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct out o;

	if (fd < 0)
		return errno;
	measure_files(in);
	int e = tnf_out_init(&o, fd);
	if (e == 0) {
		incident_json(&o, &facts);
		e = tnf_out_close(&o);
	}
	if (close(fd) != 0 && e == 0)
		e = errno;
	return e;
}

/* Gives a whole incident its name.  A disk may need a second to have all files: until then a
   note in the directory says so, in case the machine goes down before. */
static int
incident_commit(struct incident *in)
{
	const char *id = in->d->window.id;
	int e = unsynced_note(in->dir);

	if (e == 0 && renameat(in->all, in->temp, in->all, id) != 0)
		e = errno;
	if (e != 0)
		return e;
	/* If the disk refuses the incident after all, it loses its name again. */
	if ((e = unsynced_sync(in->dir, in->all)) != 0)
		renameat(in->all, id, in->all, in->temp);
	return e;
}

/* Opens the directory of all incidents, which somebody may have removed. */
static int
incidents_open(const struct config *c)
{
	autofree char *path = tnf_xasprintf("%s/incidents", c->directory);
	int e = make_directory(path);

	errno = e;
	return e != 0 ? -1 : path_open(O_RDONLY | O_DIRECTORY, "%s/incidents", c->directory);
}

static int
incident_write(struct incident *in)
{
	int64_t end = now_mono();

	in->temp = tnf_xasprintf("%s%s", INCIDENT_TEMP, in->d->window.id);
	in->all = incidents_open(in->d->config);
	if (in->all < 0 || mkdirat(in->all, in->temp, 0700) != 0)
		return errno;
	in->dir = openat(in->all, in->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* While the directory is locked, no tnfwatch takes it for one that was left. */
	if (in->dir >= 0)
		flock(in->dir, LOCK_EX | LOCK_NB);
	int e = in->dir < 0 ? errno : put_sources(in);
	if (e == 0)
		e = put_json(in, end);
	if (e == 0 && (in->same = cause_is_known(in->d, in->temp, in->dir)))
		e = ECANCELED;
	if (e == 0)
		e = incident_commit(in);
	if (e != 0)
		remove_all(in->all, in->temp);
	return e;
}

/* The command gets the directory as its last argument. */
static void
run_command(const char *command, const char *path, const char *trigger)
{
	autofree char *text = tnf_xasprintf("%s \"$@\"", command);
	pid_t pid = fork();

	if (pid == 0) {
		setenv("TNF_INCIDENT", path, 1);
		setenv("TNF_TRIGGER", trigger, 1);
		execl("/bin/sh", "sh", "-c", text, "tnfwatch", path, (char *)NULL);
		_exit(127);
	}
	int status = child_wait(pid);
	if (status != 0)
		say("run = %s: %s %d", command, WIFSIGNALED(status) ? "killed by signal" :
		    "exit status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Only a trigger has commands: a question of another machine runs none. */
static void
run_commands(const struct incident *in, const char *path)
{
	const struct config_trigger *t = daemon_window_section(in->d);

	if (t != NULL && t->run != NULL)
		run_command(t->run, path, t->name);
}

static _Noreturn void
writer_main(struct daemon *d, int written)
{
	struct incident in = { .d = d, .all = -1, .dir = -1 };
	int e;

	prctl(PR_SET_NAME, "tnfwatch-write");
	/* The writer must not hold these locks: the daemon may be started again while the writer works. */
	close(d->lock);
	close(d->lock_run);
	close(d->control);
	close(d->epoll);
	close(d->signals);
	/* If a command of a trigger outlives the daemon, it must not hold the lock for
	   programs that start. */
	if (d->start >= 0)
		close(d->start);
	if (d->taker.fd >= 0)
		close(d->taker.fd);
	if (d->webhook != NULL)
		webhook_forked(d->webhook);
	signal(SIGPIPE, SIG_IGN);
	/* The writer must end, whatever is mapped and however slow the disk is. */
	alarm(WRITE_SECONDS);
	e = incident_write(&in);
	alarm(0);
	if (in.same)
		_exit(INCIDENT_SAME);
	if (e != 0) {
		say("%s: lost: %s", d->window.id, strerror(e));
		_exit(1);
	}
	/* A child that is to ask other machines asks them now. */
	asker_go(written);
	/* Commands run without the daemon's priority. */
	setpriority(PRIO_PROCESS, 0, 0);
	char *path = incident_path(d->config, d->window.id);
	say("%s: kept: %s", path, d->window.firing[0].reason);
	journal_incident(d->config, &d->window, path);
	run_commands(&in, path);
	_exit(0);
}

int
incident_start(struct daemon *d, int written, pid_t *ret)
{
	sigset_t none;

	fflush(NULL);
	segment_worker_pause();
	if ((*ret = fork()) == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		writer_main(d, written);
	}
	int e = errno;
	segment_worker_go_on();
	return *ret > 0 ? 0 : e;
}
