/*
 * attr.c - the attributes of a probe, and those that a command asks for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/names.h"
#include "prex/util.h"

/* "&debug other_function func@0x4711": the newest connection first. */
static char *
funcs_text(const tnfctl_probe_state_t *st, const struct names *fcns)
{
	char *s = tnf_xstrdup(""), *one, *t;
	const struct name *f;

	for (size_t i = 0; st->func_addrs != NULL && st->func_addrs[i] != 0; i++) {
		const char *sym = st->func_names != NULL ?
		    st->func_names[i] : NULL;

		if (sym == NULL || *sym == '\0')
			one = tnf_xasprintf("func@0x%lx",
			    (unsigned long)st->func_addrs[i]);
		else if ((f = names_find_symbol(fcns, sym)) != NULL)
			one = tnf_xasprintf("&%s", f->name);
		else
			one = tnf_xstrdup(sym);
		t = tnf_xasprintf("%s%s%s", s, i > 0 ? " " : "", one);
		free(s);
		free(one);
		s = t;
	}
	return s;
}

void
attrs_of_probe(struct tnf_probe_attrs *ret, const tnfctl_probe_state_t *st,
    const struct names *fcns)
{
	*ret = (struct tnf_probe_attrs){ .enabled = st->enabled, .traced = st->traced,
	    .object = st->obj_name, .funcs = funcs_text(st, fcns), .own = st->attr_string };
}

bool
specs_match(const struct specs *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (tnf_spec_match(&l->v[i], text, strlen(text)))
			return true;
	return false;
}

void
specs_add(struct specs *l, struct tnf_spec s)
{
	l->v = tnf_xreallocarray(l->v, l->n + 1, sizeof *l->v);
	l->v[l->n++] = s;
}

void
specs_add_text(struct specs *l, const char *text, bool is_regex)
{
	struct tnf_spec s;

	tnf_spec_init(&s, text, strlen(text), is_regex);
	specs_add(l, s);
}

void
specs_free(struct specs *l)
{
	while (l->n > 0)
		tnf_spec_free(&l->v[--l->n]);
	free(l->v);
	l->v = NULL;
}

char *
selector_text(const struct tnf_selector *s)
{
	int a = s->attr.is_regex ? '/' : '\'';
	int v = s->value.is_regex ? '/' : '\'';

	return tnf_xasprintf("%c%s%c=%c%s%c", a, s->attr.text, a, v,
	    s->value.text, v);
}

void
selectors_print(const struct tnf_selectors *l)
{
	for (size_t i = 0; i < l->n; i++) {
		char *text = selector_text(&l->v[i]);

		printf("%s ", text);
		free(text);
	}
}
