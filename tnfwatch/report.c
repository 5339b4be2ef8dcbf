/*
 * report.c - what tnfdump makes of each incident when the incident is complete: a page, and why
 * the operation that fired took so long.
 */
#include <sys/resource.h>

#include "tnfwatch/daemon.h"

#define TEMP	".report"

/* The files, one after the other; 'why' is in the report. */
static const struct part {
	const char	*name;
	const char	*option;	/* NULL: the report's 'why' */
} parts[] = {
	{ "why.txt", NULL },
	{ "report.html", "--to=html" },
};
#define PARTS	(sizeof parts / sizeof *parts)
#define MEMORY	((rlim_t)128 << 20)	/* bytes of its own that tnfdump may ask for */
#define MARGIN	(10 * MS)		/* before the beginning of what fired */

/* True if the file is a segment whose events are all earlier.  A segment is written when its last
   event has come.  A ring has newer events. */
static bool
is_earlier(int dir, const char *name, int64_t wall)
{
	struct stat st;

	return strstr(name, ".tnf.zst") != NULL && fstatat(dir, name, &st, 0) == 0 &&
	    (int64_t)st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec < wall;
}

static int
incident_open(const struct config *c, const char *id)
{
	return path_open(O_RDONLY | O_DIRECTORY, "%s/incidents/%s", c->directory, id);
}

static _Noreturn void
report_main(int dir, char **argv)
{
	int fd = openat(dir, TEMP, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* The child ends with tnfwatch, which alone gives the page its name. */
	child_begin(getppid(), 10);
	setrlimit(RLIMIT_DATA, &(struct rlimit){ MEMORY, MEMORY });
	if (fd < 0 || fchdir(dir) != 0)
		_exit(126);
	dup2(null, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

/* Starts tnfdump for the traces in the directory; 0: there is none, or tnfdump cannot be
   started. */
static pid_t
report_start(int dir, const struct report *r)
{
	const struct part *part = &parts[r->part];
	int64_t begins = part->option == NULL && r->began - MARGIN < r->from ? r->began - MARGIN : r->from;
	int64_t wall = begins + now_wall() - now_mono();
	autofree char *program = tnf_program_path("tnfdump");
	autofree char *from = tnf_xasprintf("--from=@%lld", (long long)begins);
	autofree char *until = tnf_xasprintf("--until=@%lld", (long long)r->until);
	struct dirent **found = NULL;
	int n = scandirat(dir, ".", &found, incident_is_trace, alphasort), at = 0;
	pid_t pid = 0;

	autofree char **argv = tnf_xcalloc((size_t)(n > 0 ? n : 0) + 6, sizeof *argv);
	argv[at++] = program;
	argv[at++] = part->option != NULL ? (char *)(uintptr_t)part->option : r->why;
	argv[at++] = from;
	argv[at++] = until;
	for (int i = 0; i < n; i++)
		if (!is_earlier(dir, found[i]->d_name, wall))
			argv[at++] = found[i]->d_name;
	if (n > 0 && (pid = fork()) == 0)
		report_main(dir, argv);
	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	return pid > 0 ? pid : 0;
}

static void
report_free(struct report *r)
{
	free(r->id);
	free(r->why);
}

/* Goes on to the next part of the first report, or to the next report. */
static void
reports_advance(struct reports *r)
{
	if (++r->list[0].part < PARTS)
		return;
	report_free(&r->list[0]);
	memmove(r->list, r->list + 1, --r->n * sizeof *r->list);
}

static void
reports_next(struct reports *r, const struct config *c)
{
	int dir;

	while (r->pid == 0 && r->n > 0) {
		/* The incident may have been removed by now, or may have why.txt already. */
		if ((dir = incident_open(c, r->list[0].id)) >= 0) {
			if (faccessat(dir, parts[r->list[0].part].name, F_OK, 0) != 0)
				r->pid = report_start(dir, &r->list[0]);
			close(dir);
		}
		if (r->pid == 0)
			reports_advance(r);
	}
}

void
reports_clean(const struct config *c)
{
	char **list;
	size_t n = incident_list(c, &list);
	int dir;

	for (size_t i = 0; i < n; i++)
		if ((dir = incident_open(c, list[i])) >= 0) {
			unlinkat(dir, TEMP, 0);
			close(dir);
		}
	names_free(list, n);
}

/* The option of tnfdump that explains the operation of a trigger "duration(order) > 1s". */
static char *
report_why(const char *when)
{
	const char *pair = when != NULL ? strchr(when, '(') : NULL;
	size_t n = pair != NULL ? strcspn(pair + 1, "(),[ ") : 0;

	return n > 0 ? tnf_xasprintf("--why=%.*s", (int)n, pair + 1) : tnf_xstrdup("--why");
}

void
reports_add(struct reports *r, const struct config *c, const struct writer *w)
{
	if (r->n == REPORTS_MAX) {
		report_free(&r->list[1]);
		memmove(r->list + 1, r->list + 2, (--r->n - 1) * sizeof *r->list);
	}
	r->list[r->n++] = (struct report){ .id = tnf_xstrdup(w->id), .from = w->from,
	    .until = w->until, .began = w->began, .why = report_why(w->when) };
	reports_next(r, c);
}

/* Gives a part its name if it is whole. */
static void
report_settle(const struct config *c, const struct report *r, int status)
{
	autoclose int dir = incident_open(c, r->id);

	if (dir < 0)
		return;
	if (status != 0 || renameat(dir, TEMP, dir, parts[r->part].name) != 0)
		unlinkat(dir, TEMP, 0);
	else
		incident_make_room(c);
}

bool
report_why_now(const struct daemon *d, const struct config_trigger *t, const struct firing *f, int dir)
{
	struct report r = { .why = report_why(t->when), .from = f->began, .began = f->began,
	    .until = d->window.until };
	int status = child_wait(report_start(dir, &r));

	free(r.why);
	if (status == 0 && renameat(dir, TEMP, dir, parts[0].name) == 0)
		return true;
	unlinkat(dir, TEMP, 0);
	return false;
}

void
reports_ended(struct reports *r, const struct config *c, pid_t pid, int status)
{
	if (pid != r->pid || pid == 0)
		return;
	report_settle(c, &r->list[0], status);
	r->pid = 0;
	reports_advance(r);
	reports_next(r, c);
}

void
reports_stop(struct reports *r, const struct config *c)
{
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		child_wait(r->pid);
		report_settle(c, &r->list[0], -1);
		r->pid = 0;
	}
	for (size_t i = 0; i < r->n; i++)
		report_free(&r->list[i]);
	r->n = 0;
}
