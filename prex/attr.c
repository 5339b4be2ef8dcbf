/*
 * attr.c - an attribute string becomes attributes with values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/attributes.h"
#include "prex/attr.h"
#include "prex/names.h"
#include "prex/util.h"

static void
add_value(struct attr *a, const char *s, size_t len)
{
	a->values = tnf_xreallocarray(a->values, a->n_values + 1, sizeof *a->values);
	a->values[a->n_values++] = tnf_xstrndup(s, len);
}

static void
cut_values(struct attr *a)
{
	const char *p = a->text, *end = p + strlen(p), *word;
	size_t len;

	while (attribute_word(&p, end, &word, &len))
		add_value(a, word, len);
	if (a->n_values == 0)
		add_value(a, "", 0);
}

static void
attrs_add(struct attrs *l, char *name, char *text)
{
	struct attr *a;

	l->v = tnf_xreallocarray(l->v, l->n + 1, sizeof *l->v);
	a = &l->v[l->n++];
	memset(a, 0, sizeof *a);
	a->name = name;
	a->text = text;
	cut_values(a);
}

void
attrs_parse(struct attrs *l, const char *s)
{
	struct attribute a;

	while (attribute_next(&s, true, &a))
		attrs_add(l, tnf_xstrndup(a.name, a.name_len), tnf_xstrndup(a.value, a.value_len));
}

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
attrs_of_probe(struct attrs *l, const tnfctl_probe_state_t *st,
    const struct names *fcns)
{
	memset(l, 0, sizeof *l);
	attrs_add(l, tnf_xstrdup("enable"), tnf_xstrdup(st->enabled ? "on" : "off"));
	attrs_add(l, tnf_xstrdup("trace"), tnf_xstrdup(st->traced ? "on" : "off"));
	if (st->obj_name != NULL)
		attrs_add(l, tnf_xstrdup("object"), tnf_xstrdup(st->obj_name));
	attrs_add(l, tnf_xstrdup("funcs"), funcs_text(st, fcns));
	attrs_parse(l, st->attr_string);
	l->used = st->enabled || st->traced;
	for (size_t i = 0; i < l->n; i++)
		l->imported |= strcmp(l->v[i].name, "origin") == 0;
}

void
attrs_free(struct attrs *l)
{
	while (l->n > 0) {
		struct attr *a = &l->v[--l->n];

		while (a->n_values > 0)
			free(a->values[--a->n_values]);
		free(a->values);
		free(a->name);
		free(a->text);
	}
	free(l->v);
	l->v = NULL;
}
