/*
 * selector.c - does a probe have what the user asked for?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/selector.h"
#include "prex/util.h"

int
spec_init(struct spec *s, const char *text, bool is_regex)
{
	int error;

	s->text = tnf_xstrdup(text);
	s->is_regex = is_regex;
	s->regex = NULL;
	s->any = false;
	if (!is_regex)
		return 0;
	s->regex = tnf_xcalloc(1, sizeof *s->regex);
	error = regcomp(s->regex, text, REG_NOSUB);
	if (error == 0) {
		s->any = regexec(s->regex, "\1", 0, NULL, 0) == 0;
		return 0;
	}
	free(s->regex);
	s->regex = NULL;
	return error;
}

void
spec_free(struct spec *s)
{
	if (s->regex != NULL)
		regfree(s->regex);
	free(s->regex);
	free(s->text);
}

bool
spec_match(const struct spec *s, const char *text)
{
	if (!s->is_regex)
		return strcmp(s->text, text) == 0;
	return s->regex != NULL && regexec(s->regex, text, 0, NULL, 0) == 0;
}

bool
specs_match(const struct specs *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (spec_match(&l->v[i], text))
			return true;
	return false;
}

void
specs_add(struct specs *l, struct spec s)
{
	l->v = tnf_xreallocarray(l->v, l->n + 1, sizeof *l->v);
	l->v[l->n++] = s;
}

void
specs_free(struct specs *l)
{
	while (l->n > 0)
		spec_free(&l->v[--l->n]);
	free(l->v);
	l->v = NULL;
}

struct selectors *
selectors_new(void)
{
	struct selectors *l = tnf_xcalloc(1, sizeof *l);

	l->refs = 1;
	return l;
}

struct selectors *
selectors_ref(struct selectors *l)
{
	l->refs++;
	return l;
}

void
selectors_unref(struct selectors *l)
{
	if (l == NULL || --l->refs > 0)
		return;
	while (l->n-- > 0) {
		spec_free(&l->v[l->n].attr);
		spec_free(&l->v[l->n].value);
	}
	free(l->v);
	free(l);
}

void
selectors_add(struct selectors *l, struct spec attr, struct spec value)
{
	l->v = tnf_xreallocarray(l->v, l->n + 1, sizeof *l->v);
	l->v[l->n].attr = attr;
	l->v[l->n++].value = value;
}

/*
 * The points of the kernel that can be imported are some thousands.  They have to
 * be chosen: $all and its like, or "what is off", do not mean them, before
 * somebody uses them.
 */
static bool
selector_chooses(const struct selector *s, const struct attrs *attrs)
{
	if (!attrs->imported || attrs->used)
		return true;
	return !s->value.any && !s->attr.any && strcmp(s->attr.text, "enable") != 0 &&
	    strcmp(s->attr.text, "trace") != 0;
}

/* A word with a dot is nobody's key: it is a name, "system.event". */
static bool
names_import(const struct selector *s, const struct attrs *attrs)
{
	if (!attrs->imported || s->attr.is_regex || s->value.is_regex ||
	    strcmp(s->attr.text, "keys") != 0 || strchr(s->value.text, '.') == NULL)
		return false;
	for (size_t i = 0; i < attrs->n; i++)
		if (strcmp(attrs->v[i].name, "name") == 0)
			return strcmp(attrs->v[i].text, s->value.text) == 0;
	return false;
}

static bool
selector_match(const struct selector *s, const struct attrs *attrs)
{
	if (!selector_chooses(s, attrs))
		return false;
	if (names_import(s, attrs))
		return true;
	for (size_t i = 0; i < attrs->n; i++) {
		const struct attr *a = &attrs->v[i];

		if (!spec_match(&s->attr, a->name))
			continue;
		for (size_t j = 0; j < a->n_values; j++)
			if (spec_match(&s->value, a->values[j]))
				return true;
	}
	return false;
}

bool
selectors_match(const struct selectors *l, const struct attrs *attrs,
    bool *used)
{
	bool any = false;

	for (size_t i = 0; i < l->n && (!any || used != NULL); i++) {
		if (!selector_match(&l->v[i], attrs))
			continue;
		any = true;
		if (used != NULL)
			used[i] = true;
	}
	return any;
}

char *
selector_text(const struct selector *s)
{
	int a = s->attr.is_regex ? '/' : '\'';
	int v = s->value.is_regex ? '/' : '\'';

	return tnf_xasprintf("%c%s%c=%c%s%c", a, s->attr.text, a, v,
	    s->value.text, v);
}

void
selectors_print(const struct selectors *l)
{
	for (size_t i = 0; i < l->n; i++) {
		char *text = selector_text(&l->v[i]);

		printf("%s ", text);
		free(text);
	}
}

/*
 * Probes whose hooks are passed a few thousand times a second at most.  A probe at
 * a system call, a wake-up or every page fault is not for this list.
 */
static const char *const always[] = {
	"thread_create", "thread_exit", "strategy", "biodone", "major_fault",
	"pagein", "pageout", "pageout_scan_start", "pageout_scan_end",
	"swapout_lwp", NULL
};

struct selectors *
always_selectors(void)
{
	struct selectors *set = selectors_new();
	struct spec attr, value;

	for (size_t i = 0; always[i] != NULL; i++) {
		spec_init(&attr, "name", false);
		spec_init(&value, always[i], false);
		selectors_add(set, attr, value);
	}
	return set;
}
