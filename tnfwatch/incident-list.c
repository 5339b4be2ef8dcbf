/*
 * incident-list.c - the incidents that are kept: which of them makes room for others, and whether one
 * of them had the same cause as a new one.
 *
 * A cause is the trigger, the probe, and the first two lines of why.txt without their numbers.  The
 * writer of an incident asks for it when all files are there, and before the incident has its name:
 * why.txt is made from them.  It compares with the incidents that are kept, so a restart forgets
 * nothing.
 */
#include <sys/file.h>

#include "tnfwatch/daemon.h"

#define REMOVED	".rm-"

char *
incident_name(const struct config *c, const char *trigger, int64_t wall,
    bool (*taken)(const void *arg, const char *id), const void *arg)
{
	time_t s = (time_t)(wall / SECOND);
	char when[32], *id;
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
	id = tnf_xasprintf("%s-%s", when, trigger);
	for (int i = 2; path_exists("%s/incidents/%s", c->directory, id) ||
	    path_exists("%s/incidents/" INCIDENT_TEMP "%s", c->directory, id) ||
	    (taken != NULL && taken(arg, id)); i++) {
		free(id);
		id = tnf_xasprintf("%s-%s.%d", when, trigger, i);
	}
	return id;
}

static int
is_incident(const struct dirent *d)
{
	return d->d_name[0] >= '0' && d->d_name[0] <= '9';
}

struct listed {
	char	*id;
	uint64_t number;
};

/* The number of an incident; 0: it was written before there were numbers. */
static uint64_t
incident_number(const struct config *c, const char *id)
{
	static const char member[] = "\"number\": ";
	autofree char *text = path_text(128, "%s/incidents/%s/incident.json", c->directory, id);
	const char *at = text != NULL ? strstr(text, member) : NULL;

	return at != NULL ? strtoull(at + strlen(member), NULL, 10) : 0;
}

static int
listed_compare(const void *a, const void *b)
{
	const struct listed *p = a, *q = b;

	if (p->number != q->number)
		return p->number > q->number ? 1 : -1;
	return strcmp(p->id, q->id);
}

static struct listed *
incidents_read(const struct config *c, size_t *ret)
{
	char *path = tnf_xasprintf("%s/incidents", c->directory);
	struct dirent **found = NULL;
	int n = scandir(path, &found, is_incident, NULL);

	free(path);
	if (n < 0)
		n = 0;
	struct listed *l = tnf_xcalloc((size_t)n + 1, sizeof *l);
	for (int i = 0; i < n; i++) {
		l[i].id = tnf_xstrdup(found[i]->d_name);
		l[i].number = incident_number(c, l[i].id);
		free(found[i]);
	}
	free(found);
	qsort(l, (size_t)n, sizeof *l, listed_compare);
	*ret = (size_t)n;
	return l;
}

size_t
incident_list(const struct config *c, char ***ret)
{
	size_t n;
	autofree struct listed *l = incidents_read(c, &n);

	*ret = tnf_xcalloc(n + 1, sizeof **ret);
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = l[i].id;
	return n;
}

bool
incidents_readable(const struct config *c)
{
	int fd = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents", c->directory), e = errno;

	if (fd >= 0)
		close(fd);
	else if (e != ENOENT)
		say("%s/incidents: %s", c->directory, strerror(e));
	return fd >= 0 || e == ENOENT;
}

uint64_t
incident_numbers(const struct config *c)
{
	size_t n;
	autofree struct listed *l = incidents_read(c, &n);
	uint64_t last = n > 0 ? l[n - 1].number : 0;

	for (size_t i = 0; i < n; i++)
		free(l[i].id);
	return last;
}

char *
incident_find(const struct config *c, const char *text)
{
	char **list, *found = NULL;
	size_t n = incident_list(c, &list), several = 0;

	for (size_t i = 0; i < n; i++) {
		bool same = strcmp(list[i], text) == 0;

		if (same || strncmp(list[i], text, strlen(text)) == 0) {
			several = same ? 1 : several + 1;
			free(found);
			found = tnf_xstrdup(list[i]);
		}
		if (same)
			break;
	}
	names_free(list, n);
	if (several == 1)
		return found;
	free(found);
	say("%s: %s: tnfwatch list names them", text, several == 0 ? "no such incident" :
	    "several incidents begin so");
	return NULL;
}

int
incident_is_trace(const struct dirent *d)
{
	const char *tnf = strstr(d->d_name, ".tnf");

	return d->d_name[0] != '.' && tnf != NULL &&
	    (strcmp(tnf, ".tnf") == 0 || strcmp(tnf, ".tnf.zst") == 0);
}

bool
incident_pinned(const struct config *c, const char *id)
{
	return path_exists("%s/incidents/%s/" INCIDENT_PINNED, c->directory, id);
}

/* Renames the incident first: then a half removed directory is no incident any more. */
int
incident_remove(const struct config *c, const char *id)
{
	autofree char *gone = tnf_xasprintf("%s%s", REMOVED, id);
	autoclose int dir = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents", c->directory);
	int e;

	if (dir < 0 || renameat(dir, id, dir, gone) != 0)
		e = errno;
	else
		e = remove_all(dir, gone);
	return e;
}

/* True if a writer, which an earlier tnfwatch has started, still writes the directory. */
static bool
is_being_written(int all, const char *name)
{
	autoclose int fd = openat(all, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
}

void
incident_clean(const struct config *c)
{
	int dir = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents", c->directory), e;
	struct dirent *d;
	DIR *list;

	if (dir < 0 || (list = fdopendir(dir)) == NULL)
		return;
	while ((d = readdir(list)) != NULL)
		if ((strncmp(d->d_name, INCIDENT_TEMP, strlen(INCIDENT_TEMP)) == 0 ||
		    strncmp(d->d_name, REMOVED, strlen(REMOVED)) == 0) &&
		    !is_being_written(dir, d->d_name) &&
		    (e = remove_all(dir, d->d_name)) != 0)
			say("%s/incidents/%s: cannot remove it: %s", c->directory, d->d_name,
			    strerror(e));
	closedir(list);
}

/* The length of "TIME-TRIGGER" in "TIME-TRIGGER.2". */
static size_t
stem_length(const char *id)
{
	size_t n = strlen(id), digits = n;

	while (digits > 0 && id[digits - 1] >= '0' && id[digits - 1] <= '9')
		digits--;
	return digits < n && digits > 0 && id[digits - 1] == '.' ? digits - 1 : n;
}

static bool
same_trigger(const char *a, const char *b)
{
	const char *x = strchr(a, '-'), *y = strchr(b, '-');
	size_t n = stem_length(a) - (size_t)(x != NULL ? x - a : 0);

	return x != NULL && y != NULL && n == stem_length(b) - (size_t)(y - b) &&
	    memcmp(x, y, n) == 0;
}

struct kept {
	char	*id;
	uint64_t size;
	bool	 stays;
};

/* The oldest incident of the trigger whose incidents take the most room: so a trigger that fires
   again and again does not cost the incidents of others.  n: there is none. */
static size_t
incident_to_remove(const struct kept *k, size_t n)
{
	size_t found = n;
	uint64_t most = 0, sum;

	for (size_t i = 0; i < n; i++) {
		sum = 0;
		for (size_t j = 0; j < n && !k[i].stays; j++)
			if (same_trigger(k[i].id, k[j].id))
				sum += k[j].size;
		if (!k[i].stays && (found == n || sum > most)) {
			most = sum;
			found = i;
		}
	}
	return found;
}

static uint64_t
incident_drop(const struct config *c, struct kept *k)
{
	uint64_t size = k->size;
	int e = incident_remove(c, k->id);

	k->stays = true;
	if (e != 0) {
		say("%s: cannot remove it: %s", k->id, strerror(e));
		return 0;
	}
	k->size = 0;
	say("%s: removed: limit = %llu bytes is reached", k->id, (unsigned long long)c->limit);
	return size;
}

void
incident_make_room(const struct config *c)
{
	uint64_t used = disk_usage(AT_FDCWD, c->directory), freed;
	char **list, *path;
	size_t n = incident_list(c, &list), i;
	struct kept *k = tnf_xcalloc(n + 1, sizeof *k);

	for (i = 0; i < n && used > c->limit; i++) {
		path = incident_path(c, list[i]);
		/* The newest incident stays: it has just been announced. */
		k[i] = (struct kept){ .id = list[i], .size = disk_usage(AT_FDCWD, path),
		    .stays = i + 1 == n || incident_pinned(c, list[i]) };
		free(path);
	}
	while (used > c->limit && (i = incident_to_remove(k, n)) < n) {
		freed = incident_drop(c, &k[i]);
		used -= freed < used ? freed : used;
	}
	names_free(list, n);
	free(k);
}

#define TEXT_MAX	(16u << 20)
#define CAUSE_LINES	2

char *
cause_json(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	size_t n = strlen(key), i = 0;
	char *s;

	if (at == NULL || at[n] != '"')
		return NULL;
	at += n + 1;
	s = tnf_xstrdup(at);
	while (*at != '\0' && *at != '"') {
		if (*at == '\\' && at[1] != '\0')
			at++;
		s[i++] = *at++;
	}
	s[i] = '\0';
	return s;
}

/* Bytes of a unit of time and the blank in front of it. */
static size_t
unit_size(const char *s)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	size_t n;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		n = strlen(units[i]);
		if (strncmp(s, units[i], n) == 0 && strchr(" ,;.)\n", s[n]) != NULL)
			return n;
	}
	return 0;
}

char *
cause_numberless(const char *text)
{
	char *s = tnf_xstrdup(text), *to = s;
	size_t n;

	while (*text != '\0') {
		if ((n = strspn(text, "0123456789.")) > 0 && *text != '.') {
			*to++ = '#';
			text += n;
			text += unit_size(text);
		} else
			*to++ = *text++;
	}
	*to = '\0';
	return s;
}

/* The cause of an incident; NULL: it is not known.  The caller frees it. */
static char *
cause_of(const struct config *c, const char *name)
{
	autofree char *json = path_text(TEXT_MAX, "%s/incidents/%s/incident.json", c->directory,
	    name);
	autofree char *why = path_text(TEXT_MAX, "%s/incidents/%s/why.txt", c->directory, name);
	char *end = why;

	if (json == NULL || why == NULL)
		return NULL;
	autofree char *trigger = cause_json(json, "\n  \"trigger\": {\"name\": ");
	autofree char *probe = cause_json(json, "\"probe\":");
	for (int i = 0; i < CAUSE_LINES && end != NULL; i++)
		end = strchr(end + (i > 0), '\n');
	if (end != NULL)
		*end = '\0';
	autofree char *text = tnf_xasprintf("%s\n%s\n%s", trigger != NULL ? trigger : "",
	    probe != NULL ? probe : "", why);
	return cause_numberless(text);
}

/* True if the incident is younger than 'age'. */
static bool
is_young(const struct config *c, const char *id, int64_t age)
{
	autofree char *path = tnf_xasprintf("%s/incidents/%s/incident.json", c->directory, id);
	struct stat st;

	return stat(path, &st) == 0 && now_wall() - (int64_t)st.st_mtim.tv_sec * SECOND < age;
}

bool
cause_is_known(const struct daemon *d, const char *name, int dir)
{
	const struct config_trigger *t = daemon_window_section(d);
	const struct firing *f = window_trigger(&d->window);
	char **ids, *cause, *other;
	bool known = false;
	size_t n;

	if (t == NULL || t->same == 0 || f == NULL || f->began == f->time ||
	    !report_why_now(d, t, f, dir) || (cause = cause_of(d->config, name)) == NULL)
		return false;
	n = incident_list(d->config, &ids);
	for (size_t i = n; i-- > 0 && !known;) {
		other = is_young(d->config, ids[i], t->same) ? cause_of(d->config, ids[i]) : NULL;
		known = other != NULL && strcmp(cause, other) == 0;
		free(other);
	}
	names_free(ids, n);
	free(cause);
	return known;
}
