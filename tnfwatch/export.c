/*
 * export.c - tnfwatch export: one archive of an incident, to give away, also without its texts.
 *
 * With --redact the archive has one trace of all sources, in which tokens stand for texts, and
 * what incident.json has of times and numbers.  Its name tells no more than the time.
 */
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/watch.h"

#define JSON_MAX	(16u << 20)
#define STAMP		16	/* characters of the time that an incident's name begins with */

static struct {
	const char *file;	/* NULL: the name of what is in it, with .tar.gz, here */
	bool	 redact;
} options;

/* Runs a program and waits for it; false: it failed, and has said why. */
static bool
run(char **argv)
{
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		execvp(argv[0], argv);
		say("%s: %s: install it", argv[0], strerror(errno));
		_exit(127);
	}
	return child_wait(pid) == 0;
}

/* Packs one directory below 'parent'. */
static bool
pack(const char *parent, const char *name)
{
	autofree char *file = options.file != NULL ? tnf_xstrdup(options.file) :
	    tnf_xasprintf("%s.tar.gz", name);
	char *argv[] = { (char *)(uintptr_t)"tar", (char *)(uintptr_t)"-czf", file,
	    (char *)(uintptr_t)"-C", (char *)(uintptr_t)parent, (char *)(uintptr_t)"--",
	    (char *)(uintptr_t)name, NULL };

	return run(argv);
}

/* True if a member of incident.json keeps its text. */
static bool
is_harmless(const char *name, size_t n)
{
	static const char *const names[] = { "wall", "kind", "probe", "machine", "tnfwatch" };

	if (n > 5 && memcmp(name + n - 5, "_wall", 5) == 0)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return true;
	return false;
}

/* The end of a JSON text that begins at 'p' with a quote, behind its last quote. */
static const char *
string_end(const char *p)
{
	for (p++; *p != '\0' && *p != '"'; p++)
		if (*p == '\\' && p[1] != '\0')
			p++;
	return p + (*p == '"');
}

/* The state of a copy of JSON without the texts that are values. */
struct json_copy {
	const char *name;	/* of the last member, and its length */
	size_t	 n;
	unsigned depth, args;	/* of objects; of the "args" of an event, which name their members
				   themselves; 0: outside */
};

static void
redact_between(struct json_copy *j, const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p == '{' && (++j->depth, j->args == 0) && j->n == 4 && memcmp(j->name, "args", 4) == 0)
			j->args = j->depth;
		else if (*p == '}' && j->depth-- == j->args)
			j->args = 0;
}

static void
redact_json(FILE *f, const char *p)
{
	struct json_copy j = { .name = "" };
	const char *end;

	for (; *p != '\0'; p = end) {
		if (*p != '"') {
			end = p + strcspn(p, "\"");
			redact_between(&j, p, end);
			fwrite(p, 1, (size_t)(end - p), f);
			continue;
		}
		end = string_end(p);
		if (*end == ':') {
			j.name = p + 1;
			j.n = (size_t)(end - p - 2);
		}
		if (*end == ':' || (j.args == 0 && is_harmless(j.name, j.n)))
			fwrite(p, 1, (size_t)(end - p), f);
		else
			fputs("\"-\"", f);
	}
}

static bool
put_json(const char *from, const char *to)
{
	autofree char *path = tnf_xasprintf("%s/incident.json", from);
	autofree char *text = path_text(JSON_MAX, "%s", path);
	autofree char *out = tnf_xasprintf("%s/incident.json", to);
	FILE *f = text != NULL ? fopen(out, "wxe") : NULL;
	bool good = f != NULL;

	if (good)
		redact_json(f, text);
	else
		say("%s: %s", text != NULL ? out : path, strerror(errno));
	if (f != NULL && fclose(f) != 0) {
		say("%s: %s", out, strerror(errno));
		good = false;
	}
	return good;
}

/* Makes one trace of all: a text then has the same token wherever it is. */
static bool
put_trace(const char *from, const char *to)
{
	static const char *const first[] = { "--to", "tnf", "--redact", "--output" };
	struct dirent **found = NULL;
	int n = scandir(from, &found, incident_is_trace, alphasort), at = 0;
	char **argv = tnf_xcalloc((size_t)(n > 0 ? n : 0) + 8, sizeof *argv);
	bool good = true;

	argv[at++] = tnf_program_path("tnfdump");
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		argv[at++] = tnf_xstrdup(first[i]);
	argv[at++] = tnf_xasprintf("%s/trace.tnf", to);
	for (int i = 0; i < n; i++) {
		argv[at++] = tnf_xasprintf("%s/%s", from, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	/* An incident of a source that never recorded has no trace. */
	if (n > 0)
		good = run(argv);
	names_free(argv, (size_t)at);
	return good;
}

static bool
export_redacted(const char *id, const char *path)
{
	const char *tmp = getenv("TMPDIR");
	char *parent = tnf_xasprintf("%s/tnf-export-XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	char *name = tnf_xasprintf("incident-%.*s", STAMP, id);
	bool good;

	if (mkdtemp(parent) == NULL) {
		say("%s: %s", parent, strerror(errno));
		free(parent);
		free(name);
		return false;
	}
	autofree char *to = tnf_xasprintf("%s/%s", parent, name);
	if (!(good = mkdir(to, 0700) == 0))
		say("%s: %s", to, strerror(errno));
	good = good && put_trace(path, to) && put_json(path, to) && pack(parent, name);
	remove_all(AT_FDCWD, parent);
	free(name);
	free(parent);
	return good;
}

static int
export_one(const struct config *c, const char *id, const char *path)
{
	autofree char *incidents = tnf_xasprintf("%s/incidents", c->directory);
	bool good;

	umask(077);
	good = options.redact ? export_redacted(id, path) : pack(incidents, id);
	return good ? 0 : 1;
}

int
export_run(const struct watch_options *o, int argc, char **argv)
{
	const char *id = NULL;

	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--redact") == 0)
			options.redact = true;
		else if (argv[i][0] != '-' && id == NULL)
			id = argv[i];
		else if (argv[i][0] != '-' && options.file == NULL)
			options.file = argv[i];
		else
			id = options.file = "";
	if (id == NULL || *id == '\0') {
		fputs("usage: tnfwatch export ID [FILE] [--redact]\n", stderr);
		return 2;
	}
	return with_incident(o, id, export_one);
}
