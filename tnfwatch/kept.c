/*
 * kept.c - the commands about incidents: list, show, pin, rm.
 */
#include "common/text.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/watch.h"

#define JSON_MAX	(16u << 20)

static char *
json_reason(const char *text)
{
	return cause_json(text, "\n  \"reason\": ");
}

static void
list_one(const struct config *c, const char *id)
{
	autofree char *path = incident_path(c, id);
	autofree char *text = path_text(JSON_MAX, "%s/incident.json", path);
	autofree char *reason = text != NULL ? json_reason(text) : NULL;

	tnf_printable_printf(stdout, "%-44s %8" PRIu64 "K %s %s\n", id,
	    disk_usage(AT_FDCWD, path) / 1024, incident_pinned(c, id) ? "pinned" : "      ",
	    reason != NULL ? reason : "");
}

/* Incidents of one cause: of one trigger, with the same reason but for its numbers. */
struct cause {
	char	*trigger, *reason;
	char	*first, *last;		/* ids */
	unsigned n;
};

/* The cause of an incident: its first trigger, and its reason. */
static void
cause_of(const struct config *c, const char *id, struct cause *ret)
{
	autofree char *text = path_text(JSON_MAX, "%s/incidents/%s/incident.json", c->directory, id);
	autofree char *reason = text != NULL ? json_reason(text) : NULL;
	char *trigger = text != NULL ? cause_json(text, "\n  \"trigger\": {\"name\": ") : NULL;

	*ret = (struct cause){ .trigger = trigger != NULL ? trigger : tnf_xstrdup(""),
	    .reason = cause_numberless(reason != NULL ? reason : ""), .n = 1,
	    .first = tnf_xstrdup(id), .last = tnf_xstrdup(id) };
}

static void
cause_free(struct cause *k)
{
	free(k->trigger);
	free(k->reason);
	free(k->first);
	free(k->last);
}

/* Adds an incident to its cause, if the cause is in the list. */
static bool
causes_join(struct cause *list, size_t n, struct cause *k)
{
	char *last;

	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].trigger, k->trigger) == 0 && strcmp(list[i].reason, k->reason) == 0) {
			last = list[i].last;
			list[i].last = k->last;
			k->last = last;
			list[i].n++;
			return true;
		}
	return false;
}

/* The causes of all incidents, in the order of their first; the caller frees them. */
static struct cause *
causes_read(const struct config *c, char **ids, size_t n_ids, size_t *n)
{
	struct cause *list = tnf_xcalloc(n_ids + 1, sizeof *list), k;

	*n = 0;
	for (size_t i = 0; i < n_ids; i++) {
		cause_of(c, ids[i], &k);
		if (causes_join(list, *n, &k))
			cause_free(&k);
		else
			list[(*n)++] = k;
	}
	return list;
}

static void
list_causes(const struct config *c, char **ids, size_t n_ids)
{
	size_t n;
	struct cause *list = causes_read(c, ids, n_ids, &n);

	for (size_t i = 0; i < n; i++) {
		const struct cause *k = &list[i];

		/* The time stands in front of the id. */
		tnf_printable_printf(stdout, "%5u  %.16s  %.16s  %-20s %s\n", k->n, k->first, k->last,
		    k->trigger, k->reason);
		cause_free(&list[i]);
	}
	free(list);
}

int
list_run(const struct watch_options *o, int argc, char **argv)
{
	bool causes = argc > 0 && strcmp(argv[0], "--causes") == 0;
	struct config *c;
	char **list;

	if (argc > 0 && !causes) {
		fputs("usage: tnfwatch list [--causes]\n", stderr);
		return 2;
	}
	c = config_read_places(o->config);
	if (c == NULL || !incidents_readable(c)) {
		config_free(c);
		return 1;
	}
	size_t n = incident_list(c, &list);
	if (causes)
		list_causes(c, list, n);
	for (size_t i = 0; i < n && !causes; i++)
		list_one(c, list[i]);
	names_free(list, n);
	config_free(c);
	return fflush(stdout) == 0 ? 0 : 1;
}

int
with_incident(const struct watch_options *o, const char *text,
    int (*fn)(const struct config *, const char *id, const char *path))
{
	struct config *c = config_read_places(o->config);
	autofree char *id = c != NULL && incidents_readable(c) ? incident_find(c, text) : NULL;
	int status = 1;

	if (id != NULL) {
		autofree char *path = incident_path(c, id);
		status = fn(c, id, path);
	}
	config_free(c);
	return status;
}

/* The first line of "show": what was different, and how often it was. */
static void
show_cause(const struct config *c, const char *id)
{
	char **ids;
	size_t n_ids = incident_list(c, &ids), n;
	struct cause *list = causes_read(c, ids, n_ids, &n), k;

	cause_of(c, id, &k);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].trigger, k.trigger) == 0 && strcmp(list[i].reason, k.reason) == 0)
			tnf_printable_printf(stdout, list[i].n == 1 ? "%s: %s: once\n" :
			    "%s: %s: %u times, first %.16s, last %.16s\n", k.trigger, k.reason,
			    list[i].n, list[i].first, list[i].last);
		cause_free(&list[i]);
	}
	cause_free(&k);
	free(list);
	names_free(ids, n_ids);
}

/* The verdict: what stands in why.txt before the tree. */
static void
show_why(const char *path)
{
	autofree char *text = path_text(JSON_MAX, "%s/why.txt", path);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0' && strncmp(line, "   at ms", 8) != 0)
		tnf_printable_printf(stdout, "%s\n", line);
}

static int
show_one(const struct config *c, const char *id, const char *path)
{
	autofree char *text = path_text(JSON_MAX, "%s/incident.json", path);
	struct dirent **list;
	int n = text != NULL ? scandir(path, &list, NULL, alphasort) : -1;

	if (n < 0) {
		say("%s: %s", path, strerror(errno));
		return 1;
	}
	show_cause(c, id);
	show_why(path);
	tnf_printable_printf(stdout, "%s\n", path);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.')
			tnf_printable_printf(stdout, "    %s\n", list[i]->d_name);
		free(list[i]);
	}
	free(list);
	/* The configuration, which is the last member, is long and left out. */
	const char *last = strstr(text, "\n  \"configuration\": ");
	fwrite(text, 1, last != NULL ? (size_t)(last - text) : strlen(text), stdout);
	putchar('\n');
	return fflush(stdout) == 0 ? 0 : 1;
}

int
show_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], show_one);
}

static int
pin_one(const struct config *c, const char *id, const char *path)
{
	autofree char *file = tnf_xasprintf("%s/%s", path, INCIDENT_PINNED);
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		say("%s: %s", file, strerror(errno));
	else
		close(fd);
	return fd >= 0 ? 0 : 1;
}

int
pin_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], pin_one);
}

static int
rm_one(const struct config *c, const char *id, const char *path)
{
	int e = incident_remove(c, id);

	if (e != 0)
		say("%s: %s", path, strerror(e));
	return e == 0 ? 0 : 1;
}

int
rm_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], rm_one);
}
