/*
 * enable.c - which probes "enable = thread io name=/re/" means.
 */
#include <stdio.h>
#include <string.h>

#include "format/selector.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/util.h"

struct enable {
	char	*text;
	struct tnf_selectors *selectors;
};

struct enable *
enable_parse(const char *text, char *err, size_t size, size_t *offset)
{
	struct tnf_selectors *l = tnf_selectors_parse(text, err, size, offset);
	struct enable *e;

	if (l != NULL && l->n == 0) {
		snprintf(err, size, "nothing is named: write keys, or $all");
		tnf_selectors_unref(l);
		l = NULL;
	}
	if (l == NULL)
		return NULL;
	e = tnf_xcalloc(1, sizeof *e);
	e->text = tnf_xstrdup(text);
	e->selectors = l;
	return e;
}

void
enable_free(struct enable *e)
{
	if (e == NULL)
		return;
	tnf_selectors_unref(e->selectors);
	free(e->text);
	free(e);
}

const char *
enable_text(const struct enable *e)
{
	return e->text;
}

struct enable_run {
	const struct enable *enable;
	struct enabled *done;
};

/* "name N;..." */
static void
enabled_add(struct enabled *e, const char *attrs)
{
	size_t at = strlen(e->names), n;

	e->n++;
	if (strncmp(attrs, "name ", 5) != 0)
		return;
	attrs += 5;
	n = strcspn(attrs, ";");
	if (at + n + 2 <= sizeof e->names)
		snprintf(e->names + at, sizeof e->names - at, "%.*s\n", (int)n, attrs);
}

/* A probe in a trace must have been enabled and traced. */
static bool
trace_means(const struct enable *e, const struct tnf_probe *p, bool *used)
{
	char *text = tnf_xasprintf("name %s;%s", p->name, p->attrs != NULL ? p->attrs : "");
	const struct tnf_probe_attrs attrs = { .enabled = true, .traced = true, .own = text };
	bool has = tnf_selectors_match(e->selectors, &attrs, used);

	free(text);
	return has;
}

bool
enable_has(const struct enable *e, const struct tnf_probe *p)
{
	return trace_means(e, p, NULL);
}

bool *
enable_used(const struct enable *e, const struct tnf_probe *probes, size_t n_probes, size_t *n)
{
	bool *used = tnf_xcalloc(e->selectors->n + 1, sizeof *used);

	for (size_t i = 0; i < n_probes; i++)
		trace_means(e, &probes[i], used);
	*n = e->selectors->n;
	return used;
}

char *
enable_word(const struct enable *e, size_t i)
{
	const struct tnf_selector *s = &e->selectors->v[i];
	const char *quote = s->value.is_regex ? "/" : "";

	return tnf_xasprintf("%s=%s%s%s", s->attr.text, quote, s->value.text, quote);
}

/* The probe by which a program asks for an incident is always meant. */
static bool
enable_means(const struct enable *e, const tnfctl_probe_state_t *state)
{
	static const char incident[] = "name " TRIGGER_INCIDENT_PROBE ";";

	if (strncmp(state->attr_string, incident, strlen(incident)) == 0)
		return true;
	if (e == NULL)
		return false;
	const struct tnf_probe_attrs attrs = { state->enabled, state->traced, state->obj_name, "",
	    state->attr_string };

	return tnf_selectors_match(e->selectors, &attrs, NULL);
}

static tnfctl_errcode_t
enable_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct enable_run *run = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err != TNFCTL_ERR_NONE || !enable_means(run->enable, &state))
		return err;
	enabled_add(run->done, state.attr_string);
	if (!state.traced && (err = tnfctl_probe_trace(h, p, NULL)) != TNFCTL_ERR_NONE)
		return err;
	return state.enabled ? TNFCTL_ERR_NONE : tnfctl_probe_enable(h, p, NULL);
}

tnfctl_errcode_t
enable_probe(const struct enable *e, tnfctl_handle_t *h, tnfctl_probe_t *p, struct enabled *done)
{
	return enable_one(h, p, &(struct enable_run){ e, done });
}

tnfctl_errcode_t
enable_apply(const struct enable *e, tnfctl_handle_t *h, struct enabled *done)
{
	struct enable_run run = { e, done };

	return tnfctl_probe_apply(h, enable_one, &run);
}
