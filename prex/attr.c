/*
 * attr.c - the attributes of probes, and the values that they have in all probes.
 */
#include "prex/shell.h"

/* "&debug other_function func@0x4711": the newest connection first. */
static char *
funcs_text(const tnfctl_probe_state_t *st, const struct names *fcns)
{
	char *s = tnf_xstrdup(""), *one;
	const struct name *f;

	for (size_t i = 0; st->func_addrs != NULL && st->func_addrs[i] != 0; i++) {
		const char *sym = st->func_names != NULL ? st->func_names[i] : NULL;

		if (sym == NULL || *sym == '\0')
			one = tnf_xasprintf("func@0x%lx", (unsigned long)st->func_addrs[i]);
		else if ((f = names_find_symbol(fcns, sym)) != NULL)
			one = tnf_xasprintf("&%s", f->name);
		else
			one = tnf_xstrdup(sym);
		s = string_append(s, " ", one);
		free(one);
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
attrs_describe(struct shell *sh, tnfctl_probe_t *p, struct tnf_probe_attrs *ret)
{
	tnfctl_probe_state_t state;

	/* If this fails, the attributes say why. */
	tnfctl_probe_describe(sh->target, p);
	if (tnfctl_probe_state_get(sh->target, p, &state) != TNFCTL_ERR_NONE)
		return false;
	attrs_of_probe(ret, &state, &sh->fcns);
	return true;
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

	return tnf_xasprintf("%c%s%c=%c%s%c", a, s->attr.text, a, v, s->value.text, v);
}

void
selectors_print(const struct tnf_selectors *l)
{
	for (size_t i = 0; i < l->n; i++) {
		autofree char *text = selector_text(&l->v[i]);

		printf("%s ", text);
	}
}

struct collect {
	const struct specs *specs;
	struct values *values;
};

static struct value_list *
values_list_of(struct values *l, const char *attr, size_t len)
{
	struct value_list *v;

	for (size_t i = 0; i < l->n; i++)
		if (strncmp(l->v[i].attr, attr, len) == 0 && l->v[i].attr[len] == '\0')
			return &l->v[i];
	l->v = tnf_xreallocarray(l->v, l->n + 1, sizeof *l->v);
	v = &l->v[l->n++];
	memset(v, 0, sizeof *v);
	v->attr = tnf_xstrndup(attr, len);
	return v;
}

static void
collect_attr(struct values *l, const struct attribute *a)
{
	struct value_list *v = values_list_of(l, a->name, a->name_len);
	const char *p = a->value, *end = p + a->value_len, *word;
	size_t len, n = v->values.n;

	while (attribute_word(&p, end, &word, &len))
		strings_add(&v->values, tnf_xstrndup(word, len));
	if (v->values.n == n)
		strings_add(&v->values, tnf_xstrdup(""));
}

/* Are values asked for?  Of probes that may be imported, only values of named attributes are. */
static bool
is_asked_for(const struct specs *l, bool unused, const struct attribute *a)
{
	for (size_t i = 0; i < l->n; i++)
		if (tnf_spec_match(&l->v[i], a->name, a->name_len) && !(unused && l->v[i].any))
			return true;
	return false;
}

static tnfctl_errcode_t
values_collect_probe(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p,
    const struct tnf_probe_attrs *attrs, void *arg)
{
	struct collect *c = arg;
	bool unused = tnf_probe_attrs_unused_import(attrs);
	struct tnf_probe_attrs_at at = { 0 };
	struct attribute a;

	while (tnf_probe_attrs_next(attrs, &at, &a))
		if (is_asked_for(c->specs, unused, &a))
			collect_attr(c->values, &a);
	return TNFCTL_ERR_NONE;
}

static int
values_compare(const void *a, const void *b)
{
	return strcmp(((const struct value_list *)a)->attr, ((const struct value_list *)b)->attr);
}

tnfctl_errcode_t
values_collect(struct shell *sh, const struct specs *specs, struct values *l)
{
	struct collect c = { .specs = specs, .values = l };
	tnfctl_errcode_t err;

	memset(l, 0, sizeof *l);
	if ((err = probes_visit(sh, values_collect_probe, &c)) != TNFCTL_ERR_NONE)
		return err;
	if (l->n > 0)
		qsort(l->v, l->n, sizeof *l->v, values_compare);
	for (size_t i = 0; i < l->n; i++)
		strings_sort(&l->v[i].values);
	return TNFCTL_ERR_NONE;
}

void
values_free(struct values *l)
{
	while (l->n > 0) {
		struct value_list *v = &l->v[--l->n];

		strings_free(&v->values);
		free(v->attr);
	}
	free(l->v);
}
