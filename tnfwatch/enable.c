/*
 * enable.c - which probes "enable = thread io name=/re/" means, and how they get on.
 */
#include "format/selector.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/watch.h"

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

/* A probe in a trace must have been enabled and traced. */
bool
enable_has(const struct enable *e, const struct tnf_probe *p, bool *used)
{
	autofree char *text = tnf_xasprintf("name %s;%s", p->name,
	    p->attrs != NULL ? p->attrs : "");
	const struct tnf_probe_attrs attrs = { .enabled = true, .traced = true, .own = text };

	return tnf_selectors_match(e->selectors, &attrs, used);
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
enable_means(const struct enable *e, const tnfctl_probe_state_t *state, bool *used)
{
	static const char incident[] = "name " TRIGGER_INCIDENT_PROBE ";";

	if (strncmp(state->attr_string, incident, strlen(incident)) == 0)
		return true;
	if (e == NULL)
		return false;
	const struct tnf_probe_attrs attrs = { state->enabled, state->traced, state->obj_name, "",
	    state->attr_string };

	return tnf_selectors_match(e->selectors, &attrs, used);
}

/* The state while probes of a handle are switched on. */
struct enable_run {
	const struct enable *enable;
	struct enabled *done;
	bool	*used;		/* by which words a probe is meant; NULL: that is not asked */
	enable_found_fn *found;	/* is told of each probe, and none is switched on; or NULL */
	void	*arg;
	size_t	 buffer;	/* the size of the kernel's buffer, which a process's probes may
				   need; 0: the handle is the kernel's own */
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

/* True if somebody else's program has the probe, and the kernel is to record it for us. */
static bool
is_for_kernel(const struct enable_run *run, const struct tnf_probe_attrs *attrs)
{
	struct attribute a;

	if (run->buffer == 0 || !tnf_probe_attrs_find(attrs, "origin", &a))
		return false;
	return !tnf_probe_attrs_find(attrs, "fast", &a) || a.value_len != 3 ||
	    memcmp(a.value, "yes", 3) != 0;
}

/* Traces and enables a probe, as far as it is not.  Returns whether it is on then; 'why' says
   why not. */
static bool
is_on(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *state, tnfctl_errcode_t *err,
    char *why, size_t size)
{
	*err = TNFCTL_ERR_NONE;
	if (!state->traced)
		*err = tnfctl_probe_trace(h, p, NULL);
	if (*err != TNFCTL_ERR_NONE || state->enabled)
		return *err == TNFCTL_ERR_NONE;
	if ((*err = tnfctl_probe_enable(h, p, NULL)) != TNFCTL_ERR_NONE)
		return false;
	snprintf(why, size, "%s", tnfctl_error_detail());
	*err = tnfctl_probe_state_get(h, p, state);
	return *err == TNFCTL_ERR_NONE && state->enabled;
}

/* Switches a probe on; one that cannot be had stays off, and the others go on. */
static tnfctl_errcode_t
enable_on(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *state,
    const struct enable_run *run, bool by_kernel)
{
	struct enabled *done = run->done;
	char why[sizeof done->refused] = "";
	tnfctl_errcode_t err;
	size_t made;

	if (by_kernel && !done->by_kernel &&
	    (err = tnfctl_import_buffer(h, run->buffer, &made)) != TNFCTL_ERR_NONE)
		return err;
	if (is_on(h, p, state, &err, why, sizeof why)) {
		done->by_kernel |= by_kernel;
		enabled_add(done, state->attr_string);
	} else if (*why != '\0')
		memcpy(done->refused, why, sizeof why);
	return err;
}

static tnfctl_errcode_t
enable_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct enable_run *run = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err != TNFCTL_ERR_NONE)
		return err;
	bool meant = enable_means(run->enable, &state, run->used);
	if (run->found != NULL)
		run->found(run->arg, state.attr_string, meant);
	if (!meant || run->found != NULL)
		return err;
	const struct tnf_probe_attrs attrs = { .own = state.attr_string };
	return enable_on(h, p, &state, run, is_for_kernel(run, &attrs));
}

tnfctl_errcode_t
enable_probe(const struct enable *e, tnfctl_handle_t *h, tnfctl_probe_t *p, struct enabled *done)
{
	return enable_one(h, p, &(struct enable_run){ .enable = e, .done = done });
}

/* The number of words that have meant no probe so far. */
static unsigned
unused_words(const struct enable *e, const bool *used)
{
	unsigned n = 0;

	for (size_t i = 0; i < e->selectors->n; i++)
		n += !used[i];
	return n;
}

/* Adds the USDT probes of each of the files to those of the kernel. */
static tnfctl_errcode_t
import_files(tnfctl_handle_t *h, const char *files)
{
	char *copy = tnf_xstrdup(files), *rest = copy, *file;
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	while (err == TNFCTL_ERR_NONE && (file = strsep(&rest, " \t")) != NULL)
		if (*file != '\0')
			err = tnfctl_import_add(h, "usdt", file);
	free(copy);
	return err;
}

/* Adds the functions that words name.  Without 'import', only if the words have meant no probe so
   far; with it, the probes that are there may be of other files. */
static tnfctl_errcode_t
import_functions(tnfctl_handle_t *h, const struct enable_run *run, const char *import)
{
	const struct tnf_selectors *l = run->enable->selectors;
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	const char *kind;
	char *pattern;

	for (size_t i = 0; i < l->n && err == TNFCTL_ERR_NONE; i++) {
		if ((run->used[i] && import == NULL) || (pattern = tnf_selector_functions(&l->v[i], &kind)) == NULL)
			continue;
		err = tnfctl_import_add(h, kind, pattern);
		free(pattern);
		/* A name may be meant for something else. */
		if (strcmp(l->v[i].attr.text, "name") == 0)
			err = TNFCTL_ERR_NONE;
	}
	return err;
}

static tnfctl_errcode_t
import_all(tnfctl_handle_t *h, const struct enable_run *run, const char *import)
{
	tnfctl_errcode_t err;

	if (run->buffer == 0)
		err = tnfctl_import_add(h, "tracepoint", NULL);
	else
		err = tnfctl_import_add(h, "usdt", NULL);
	if (err == TNFCTL_ERR_NONE && import != NULL)
		err = import_files(h, import);
	return err == TNFCTL_ERR_NONE ? import_functions(h, run, import) : err;
}

/* Goes through the probes that are there and then, if words have meant none of them, through
   all again with those that are looked for. */
static tnfctl_errcode_t
enable_all(tnfctl_handle_t *h, struct enable_run *run, const char *import)
{
	const struct enable *e = run->enable;
	tnfctl_errcode_t err = tnfctl_probe_apply(h, enable_one, run);

	/* In the kernel, an 'import' alone asks for the probes of its files. */
	if (e == NULL || err != TNFCTL_ERR_NONE || (import == NULL && unused_words(e, run->used) == 0))
		return err;
	if ((err = import_all(h, run, import)) != TNFCTL_ERR_NONE)
		return err;
	if (run->done != NULL) {
		run->done->n = 0;
		*run->done->names = '\0';
	}
	return tnfctl_probe_apply(h, enable_one, run);
}

tnfctl_errcode_t
enable_apply(const struct enable *e, tnfctl_handle_t *h, size_t buffer, const char *import,
    struct enabled *done)
{
	autofree bool *used = e != NULL ? tnf_xcalloc(e->selectors->n + 1, sizeof *used) : NULL;
	struct enable_run run = { .enable = e, .done = done, .used = used, .buffer = buffer };
	tnfctl_errcode_t err = enable_all(h, &run, import);

	done->unused = e != NULL ? unused_words(e, used) : 0;
	return err;
}

bool
enable_imports(const struct enable *e, size_t i)
{
	const char *kind;
	char *pattern = tnf_selector_functions(&e->selectors->v[i], &kind);

	free(pattern);
	return pattern != NULL || strchr(e->selectors->v[i].value.text, '.') != NULL;
}

size_t
enable_words(const struct enable *e)
{
	return e != NULL ? e->selectors->n : 0;
}

tnfctl_errcode_t
enable_find(const struct enable *e, tnfctl_handle_t *h, bool process, const char *import,
    bool *used, enable_found_fn *found, void *arg)
{
	struct enable_run run = { .enable = e, .used = used, .found = found, .arg = arg,
	    .buffer = process };

	return enable_all(h, &run, import);
}
