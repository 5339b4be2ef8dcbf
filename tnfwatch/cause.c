/*
 * cause.c - has the same cause made an incident before?  A cause is the trigger, the probe, and the
 * first two lines of why.txt without their numbers.
 *
 * The writer of an incident asks so when all files are there, and before the incident has its name:
 * why.txt is made from them.  It compares with the incidents that are kept, so a restart forgets
 * nothing.
 */
#include <stdio.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/watch.h"

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

/* Is the incident younger than that? */
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
