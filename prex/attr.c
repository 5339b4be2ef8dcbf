/*
 * attr.c - an attribute string becomes attributes with values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/names.h"
#include "prex/util.h"

#define BLANK	" \t"

static void
add_value(struct attr *a, const char *s, size_t len)
{
	a->values = xreallocarray(a->values, a->n_values + 1, sizeof *a->values);
	a->values[a->n_values++] = xstrndup(s, len);
}

static void
cut_values(struct attr *a)
{
	const char *p = a->text, *end;

	while (*(p += strspn(p, BLANK)) != '\0') {
		if (*p == '\'' && (end = strchr(p + 1, '\'')) != NULL) {
			add_value(a, p + 1, end - p - 1);
			p = end + 1;
			continue;
		}
		end = p + strcspn(p, BLANK);
		add_value(a, p, end - p);
		p = end;
	}
	if (a->n_values == 0)
		add_value(a, "", 0);
}

static void
attrs_add(struct attrs *l, char *name, char *text)
{
	struct attr *a;

	l->v = xreallocarray(l->v, l->n + 1, sizeof *l->v);
	a = &l->v[l->n++];
	memset(a, 0, sizeof *a);
	a->name = name;
	a->text = text;
	cut_values(a);
}

/* Up to the next semicolon that is not inside single quotes. */
static size_t
segment_len(const char *s)
{
	const char *p;

	for (p = s; *p != '\0' && *p != ';'; p++)
		if (*p == '\'') {
			const char *q = strchr(p + 1, '\'');

			if (q != NULL)
				p = q;
		}
	return p - s;
}

static void
add_segment(struct attrs *l, const char *s, size_t len)
{
	char *seg = xstrndup(s, len);
	char *name = seg + strspn(seg, BLANK);
	size_t n = strcspn(name, BLANK);

	if (n > 0)
		attrs_add(l, xstrndup(name, n),
		    xstrdup(name[n] != '\0' ? name + n + 1 : ""));
	free(seg);
}

void
attrs_parse(struct attrs *l, const char *s)
{
	size_t len;

	for (;; s += len + 1) {
		len = segment_len(s);
		add_segment(l, s, len);
		if (s[len] == '\0')
			return;
	}
}

/* "&debug other_function func@0x4711": the newest connection first. */
static char *
funcs_text(const tnfctl_probe_state_t *st, const struct names *fcns)
{
	char *s = xstrdup(""), *one, *t;
	const struct name *f;
	size_t i;

	for (i = 0; st->func_addrs != NULL && st->func_addrs[i] != 0; i++) {
		const char *sym = st->func_names != NULL ?
		    st->func_names[i] : NULL;

		if (sym == NULL || *sym == '\0')
			one = xasprintf("func@0x%lx",
			    (unsigned long)st->func_addrs[i]);
		else if ((f = names_find_symbol(fcns, sym)) != NULL)
			one = xasprintf("&%s", f->name);
		else
			one = xstrdup(sym);
		t = xasprintf("%s%s%s", s, i > 0 ? " " : "", one);
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
	attrs_add(l, xstrdup("enable"), xstrdup(st->enabled ? "on" : "off"));
	attrs_add(l, xstrdup("trace"), xstrdup(st->traced ? "on" : "off"));
	if (st->obj_name != NULL)
		attrs_add(l, xstrdup("object"), xstrdup(st->obj_name));
	attrs_add(l, xstrdup("funcs"), funcs_text(st, fcns));
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
