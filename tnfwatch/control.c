/*
 * control.c - answers requests to a running tnfwatch, over a socket in its directory.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "common/proc.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/history.h"

#define CONTROL_WORDS	8
#define PATIENCE_MS	200	/* of the daemon, with one who asks */

int
control_open(const struct config *c)
{
	struct sockaddr_un a;
	int fd, e;

	if (!client_address(c, &a) ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		return -1;
	/* A socket that is there belongs to a tnfwatch that has ended: we hold the lock. */
	unlink(a.sun_path);
	mode_t mask = umask(0177);
	e = bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 16) == 0 ? 0 : errno;
	umask(mask);
	if (e == 0)
		return fd;
	close(fd);
	errno = e;
	return -1;
}

static int
words_cut(char *line, const char *words[CONTROL_WORDS])
{
	int n = 0;
	char *p;

	line[strcspn(line, "\n")] = '\0';
	while (n < CONTROL_WORDS && (p = strsep(&line, "\t")) != NULL)
		words[n++] = p;
	return n;
}

static void
answer_fire(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	int64_t time = n > 2 && *words[2] != '\0' ? strtoll(words[2], NULL, 10) : now_mono();
	const char *note = n > 3 && *words[3] != '\0' ? words[3] : NULL;

	if (n < 2 || !daemon_fire(d, words[1], time, note))
		fprintf(f, "error\n%s: no such trigger: its [trigger] is not in %s\n",
		    n > 1 ? words[1] : "", d->config->file);
	else if (!d->window.open)
		fprintf(f, "error\n%s: no incident: its limit, once, every or same_cause: "
		    "tnfwatch status\n", words[1]);
	else
		fprintf(f, "ok\n%s\n", d->window.id);
}

/* The state of an incident: "open" while it may be kept, "kept", "lost". */
static void
answer_incident(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	const char *id = n > 1 ? words[1] : "";
	bool open = d->window.open && strcmp(d->window.id, id) == 0;

	for (size_t i = 0; i < WRITERS_MAX; i++)
		open |= d->writer[i].pid > 0 && strcmp(d->writer[i].id, id) == 0;
	fprintf(f, "ok\n%s\n", open ? "open" : strchr(id, '/') == NULL && *id != '\0' &&
	    path_exists("%s/incidents/%s", d->config->directory, id) ? "kept" : "lost");
}

static void
answer_mark(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	if (n > 1)
		self_mark(words[1], by);
	fputs("ok\n", f);
}

/* The time (monotonic) from which on we have all that was recorded here: the first source's
   beginning, or later if another source has lost older events. */
static int64_t
daemon_since(const struct daemon *d)
{
	int64_t first = now_mono(), cut = 0, since;

	for (const struct source *s = d->sources; s != NULL; s = s->next) {
		if (!source_since(s, &since))
			continue;
		if (since < first)
			first = since;
		if (since > cut && !source_is_whole(s))
			cut = since;
	}
	return first > cut ? first : cut;
}

/* Keeps all present history for another machine's question.  The answer is the incident's name, and
   from when on (ns since 1970) it has everything. */
static void
answer_pin(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	daemon_pin(d, n > 1 ? words[1] : "");
	fprintf(f, "ok\n%s\n%" PRId64 "\n", d->window.id, daemon_since(d) + now_wall() - now_mono());
}

static double
seconds_of(int64_t ns)
{
	return (double)ns / 1e9;
}

static void
status_self(const struct daemon *d, FILE *f, int64_t now)
{
	double up = seconds_of(now - d->started), own = cpu_seconds(RUSAGE_SELF);
	double children = cpu_children(d);
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	fprintf(f, "up %.0f s, %.2f %% of a CPU, %ld MiB at most\n", up,
	    up > 0 ? 100 * (own + children) / up : 0, u.ru_maxrss / 1024);
	getrusage(RUSAGE_CHILDREN, &u);
	if (up > 0)
		fprintf(f, "of that its children %.2f %%; the largest of those that have ended had "
		    "%ld MiB\n", 100 * children / up, u.ru_maxrss / 1024);
	fprintf(f, "its longest look took %.0f ms; the latest began %.0f ms late, as the machine let it\n",
	    1e3 * seconds_of(d->look_long), 1e3 * seconds_of(d->look_late));
	fprintf(f, "%s: keep %.0f s, incidents kept %" PRIu64 ", lost %" PRIu64 "\n",
	    d->config->file, seconds_of(d->config->keep), d->written, d->failed);
	if (*d->scans != '\0')
		fprintf(f, "%s\n", d->scans);
	if (*d->kernel_why != '\0')
		fprintf(f, "%s\n", d->kernel_why);
	if (d->not_taken > 0)
		fprintf(f, "%" PRIu64 " processes could not be watched; the last one: %s\n",
		    d->not_taken, d->refused);
	if (d->short_rings.removed > 0)
		fprintf(f, "%" PRIu64 " rings of programs that ended before they were attached to were "
		    "removed early: there were too many of them for a section\n",
		    d->short_rings.removed);
	if (d->window.open)
		fprintf(f, "open: %s\n", d->window.id);
}

/* Prints how far back the source reaches; false: less than was promised. */
static bool
status_reach(const struct daemon *d, FILE *f, const struct source *s, int64_t now)
{
	int64_t since, reach;
	bool kept;

	if (!source_since(s, &since)) {
		fprintf(f, "%10s  ", "-");
		return true;
	}
	reach = now - since;
	kept = reach >= d->config->keep || source_is_whole(s);
	fprintf(f, "%9.1fs%s ", seconds_of(reach), kept ? " " : "!");
	return kept;
}

static void
status_source(const struct daemon *d, FILE *f, const struct source *s, int64_t now)
{
	double age = seconds_of(now - s->opened);
	struct channel_status ch;
	struct history_status h;
	char why[256];
	uint64_t wanted;
	int64_t since;
	bool kept;

	fprintf(f, "%-24s %9.0f ", s->id, s->rate);
	kept = status_reach(d, f, s, now);
	fprintf(f, "%10" PRIu64 " %8" PRIu64 " %7.2f%%", s->lost, s->missed,
	    age > 0 ? 100 * seconds_of(s->busy) / age : 0);
	history_status(s->history, &h);
	if (h.segments > 0)
		fprintf(f, "  %zu segments, %" PRIu64 " KiB (of %" PRIu64 ")", h.segments,
		    h.bytes / 1024, h.raw / 1024);
	channel_status(s->channel, &ch);
	if (s->channel != NULL)
		fprintf(f, "  channel %" PRIu64 " events of %.0f s, %" PRIu64 " KiB", ch.events,
		    seconds_of(now - ch.since), ch.bytes / 1024);
	if (!kept && (wanted = history_size_wanted(s->history)) > 0)
		fprintf(f, "  less than keep: it is overwritten faster than it can be copied: %s = %" PRIu64 "k "
		    "would do", s->kind == SOURCE_KERNEL ? "buffer" : "size", (wanted + 1023) / 1024);
	else if (!kept)
		fprintf(f, "  less than keep: a larger %s, or fewer probes, reaches back further",
		    s->kind == SOURCE_KERNEL ? "buffer" : "size");
	if (h.refused > 0)
		fprintf(f, "  limit reached");
	if (h.error != 0)
		fprintf(f, "  segments: %s", strerror(h.error));
	if (source_frozen(s, &since, why, sizeof why))
		fprintf(f, "  frozen %.0f s ago: %s", seconds_of(now - since), why);
	if (*s->broken != '\0')
		fprintf(f, "  %s", s->broken);
	else if (s->ended != 0)
		fprintf(f, s->status < 0 ? "  ended" : WIFSIGNALED(s->status) ?
		    "  ended by signal %d" : "  ended with status %d",
		    WIFSIGNALED(s->status) ? WTERMSIG(s->status) : WEXITSTATUS(s->status));
	putc('\n', f);
}

static void
status_trigger(const struct daemon *d, FILE *f, size_t i)
{
	const struct config_trigger *t = &d->config->trigger[i];
	const struct trigger_counts *st = &d->counts[i];

	fprintf(f, "%-24s %9" PRIu64 " %9" PRIu64 " %10" PRIu64 "  %s\n", t->name, st->fired,
	    st->incidents, st->suppressed, t->when != NULL ? t->when : "(from outside)");
}

static void
control_status(const struct daemon *d, FILE *f)
{
	int64_t now = now_mono();

	status_self(d, f, now);
	fprintf(f, "\n%-24s %9s %10s  %10s %8s %8s\n", "source", "events/s", "reaches", "lost",
	    "missed", "cost");
	for (const struct source *s = d->sources; s != NULL; s = s->next)
		status_source(d, f, s, now);
	fprintf(f, "\n%-24s %9s %9s %10s\n", "trigger", "fired", "incidents", "suppressed");
	for (size_t i = 0; i < d->config->n_triggers; i++)
		status_trigger(d, f, i);
}

static void
answer_status(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	fputs("ok\n", f);
	control_status(d, f);
}

static void
answer_metrics(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	fputs("ok\n", f);
	metrics_put(d, f);
}

static const struct {
	const char *word;
	void	(*answer)(struct daemon *, FILE *, int n, const char **words, const char *by);
} requests[] = {
	{ "status", answer_status },
	{ "metrics", answer_metrics },
	{ "fire", answer_fire },
	{ "incident", answer_incident },
	{ "mark", answer_mark },
	{ "pin", answer_pin },
};

static void
control_answer(struct daemon *d, FILE *f, char *line, const char *by)
{
	const char *words[CONTROL_WORDS];
	int n = words_cut(line, words);

	for (size_t i = 0; n > 0 && i < sizeof requests / sizeof requests[0]; i++)
		if (strcmp(words[0], requests[i].word) == 0) {
			requests[i].answer(d, f, n, words, by);
			return;
		}
	fputs("error\nno such request: the programs are of different versions\n", f);
}

/* True if the sender may ask.  'by' says who it is. */
static bool
control_may(int fd, char *by, size_t size)
{
	struct ucred who;
	socklen_t n = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 ||
	    (who.uid != 0 && who.uid != geteuid()))
		return false;
	tnf_who_is(who.uid, who.pid, by, size);
	return true;
}

static void
control_send(int fd, const char *text, size_t size)
{
	ssize_t n;

	while (size > 0 && (n = send(fd, text, size, MSG_NOSIGNAL)) > 0) {
		text += n;
		size -= (size_t)n;
	}
}

/* Serves one request.  Our clients send a request in one piece. */
void
control_serve(struct daemon *d, int socket)
{
	const struct timeval patience = { .tv_usec = PATIENCE_MS * 1000 };
	char line[REQUEST_MAX], by[128], *text = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;
	autoclose int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (control_may(fd, by, sizeof by) && (n = recv(fd, line, sizeof line - 1, 0)) > 0 &&
	    (f = open_memstream(&text, &size)) != NULL) {
		line[n] = '\0';
		control_answer(d, f, line, by);
		fclose(f);
		control_send(fd, text, size);
	}
	free(text);
}
