/*
 * attr.c - the attributes of probes, the values that they have in all probes, and the warning
 * of a command that has selected no probe.
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

/* The caller frees it. */
static char *
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

/*
 * Warns of a command that has selected no probe.
 *
 * Solaris said nothing: a user who had misspelt a name learnt it from an empty trace.
 * This is a warning and no error, as the probes may come with a library that the
 * target loads later.  The warning names attributes or values of the probes that the user
 * probably meant.
 */

/* Is the expression invalid?  The user was told so when it was read. */
static bool
is_invalid(const struct tnf_spec *s)
{
	return s->is_regex && s->regex == NULL;
}

/* May the selector match no probe without a warning?  It may if it is invalid, which the user
   has been told, and if it names an attribute that changes: with enable=off, say, it may be
   that no probe is off at the moment. */
static bool
may_be_unused(const struct tnf_selector *s)
{
	static const char *const switches[] = { "enable", "trace", NULL };

	if (is_invalid(&s->attr) || is_invalid(&s->value))
		return true;
	if (s->attr.is_regex)
		return false;
	if (strcmp(s->attr.text, "funcs") == 0)
		return true;
	for (const char *const *w = switches; *w != NULL; w++)
		if (strcmp(s->attr.text, *w) == 0)
			return s->value.is_regex || strcmp(s->value.text, "on") == 0 ||
			    strcmp(s->value.text, "off") == 0;
	return false;
}

/* Collects all attributes of all probes, with their values. */
static bool
collect_all(struct shell *sh, struct values *l)
{
	struct specs specs = { 0 };
	tnfctl_errcode_t err;

	specs_add_text(&specs, ".*", true);
	specs_add_text(&specs, "name", false);
	specs_add_text(&specs, "keys", false);
	err = values_collect(sh, &specs, l);
	specs_free(&specs);
	return err == TNFCTL_ERR_NONE;
}

/* The caller frees the array, not the words. */
static const char **
attribute_names(const struct values *l)
{
	const char **v = tnf_xcalloc(l->n + 1, sizeof *v);

	for (size_t i = 0; i < l->n; i++)
		v[i] = l->v[i].attr;
	return v;
}

static const struct value_list *
values_of(const struct values *l, const char *attr)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].attr, attr) == 0)
			return &l->v[i];
	return NULL;
}

static bool
has_value(const struct value_list *l, const char *value)
{
	for (size_t i = 0; l != NULL && i < l->values.n; i++)
		if (strcmp(l->values.v[i], value) == 0)
			return true;
	return false;
}

/* Guesses an attribute of nearly that name; NULL: no probe has one. */
static char *
hint_attribute(const struct values *l, const char *attr, const char *value)
{
	const char **names = attribute_names(l);
	const char *guess = tnf_word_guess(names, attr);

	free(names);
	return guess == NULL ? NULL : tnf_xasprintf("no probe has the attribute %s: "
	    "did you mean '%s'%s%s%s?", attr, guess, value != NULL ? "='" : "",
	    value != NULL ? value : "", value != NULL ? "'" : "");
}

/* Guesses the selector that the user meant by 'attr'='value'; NULL: no idea. */
static char *
hint_exact(const struct values *l, const char *attr, const char *value)
{
	const struct value_list *own = values_of(l, attr);
	const char *guess = NULL;
	char *hint;

	if (own == NULL && (hint = hint_attribute(l, attr, value)) != NULL)
		return hint;
	/* A value alone stands for keys=value. */
	for (size_t i = 0; strcmp(attr, "keys") == 0 && i < l->n; i++)
		if (has_value(&l->v[i], value))
			return tnf_xasprintf("no probe matches: did you mean "
			    "%s='%s'?", l->v[i].attr, value);
	if (own != NULL)
		guess = tnf_word_guess((const char *const *)own->values.v, value);
	if (guess == NULL && strcmp(attr, "keys") == 0 &&
	    (own = values_of(l, attr = "name")) != NULL)
		guess = tnf_word_guess((const char *const *)own->values.v, value);
	return guess == NULL ? NULL :
	    tnf_xasprintf("no probe matches: did you mean %s='%s'?", attr, guess);
}

static char *
hint_selector(struct shell *sh, const struct values *l, const struct tnf_selector *s)
{
	const char *quote;
	char *hint = NULL;

	/* $all means none of the probes that may be imported. */
	if (l->n == 0 || (s->value.any && strcmp(s->attr.text, "keys") == 0))
		return tnf_xstrdup(sh->mode == MODE_KERNEL ?
		    "there are no probes" : "the target has no probes yet");
	if (!s->attr.is_regex && !s->value.is_regex)
		hint = hint_exact(l, s->attr.text, s->value.text);
	else if (!s->attr.is_regex && values_of(l, s->attr.text) == NULL)
		hint = hint_attribute(l, s->attr.text, NULL);
	if (hint != NULL)
		return hint;
	if (s->attr.is_regex || values_of(l, s->attr.text) == NULL)
		return tnf_xstrdup("no probe matches: see \"list values /.*/\"");
	/* A word with a dot selects tracepoints and USDT probes by name. */
	if (strcmp(s->attr.text, "keys") == 0 && !s->value.is_regex &&
	    strchr(s->value.text, '.') != NULL)
		return tnf_xstrdup("no probe matches: see \"list values name\"");
	quote = lex_is_plain(s->attr.text) ? "" : "'";
	return tnf_xasprintf("no probe matches: see \"list values %s%s%s\"",
	    quote, s->attr.text, quote);
}

static void
unmatched_tell_one(struct shell *sh, const struct values *l, const struct tnf_selector *s)
{
	autofree char *hint = hint_selector(sh, l, s), *text = selector_text(s);

	shell_warn(sh, "%s: %s", text, hint);
}

void
unmatched_tell(struct shell *sh, const char *command, const char *set,
    const struct tnf_selectors *selectors, const bool *used)
{
	struct values l;
	bool any = false, all = true;

	if (selectors->n == 0 && set != NULL)
		shell_warn(sh, "$%s: an empty set selects no probe", set);
	else if (selectors->n == 0)
		shell_warn(sh, "%s: no probe is selected: name some, or $all", command);
	for (size_t i = 0; i < selectors->n; i++) {
		bool fine = used[i] || may_be_unused(&selectors->v[i]);

		any |= fine;
		all &= fine;
	}
	if (all || (set != NULL && any) || sh->test_mode)
		return;
	if (collect_all(sh, &l))
		for (size_t i = 0; i < selectors->n; i++)
			if (!used[i] && !may_be_unused(&selectors->v[i]))
				unmatched_tell_one(sh, &l, &selectors->v[i]);
	values_free(&l);
}

static void
tell_attribute(struct shell *sh, const struct values *l, const struct tnf_spec *s)
{
	int mark = s->is_regex ? '/' : '\'';

	for (size_t i = 0; i < l->n; i++)
		if (tnf_spec_match(s, l->v[i].attr, strlen(l->v[i].attr)))
			return;
	autofree char *hint = s->is_regex ? NULL : hint_attribute(l, s->text, NULL);
	shell_warn(sh, "%c%s%c: %s", mark, s->text, mark,
	    hint != NULL ? hint : "no probe has such an attribute");
}

void
unmatched_attributes(struct shell *sh, const struct specs *specs)
{
	struct values l;

	if (specs->n == 0)
		shell_warn(sh, "list values: of no attribute: name some, "
		    "as in \"list values keys\"");
	if (specs->n == 0 || sh->test_mode)
		return;
	if (collect_all(sh, &l))
		for (size_t i = 0; i < specs->n; i++)
			if (!is_invalid(&specs->v[i]))
				tell_attribute(sh, &l, &specs->v[i]);
	values_free(&l);
}
