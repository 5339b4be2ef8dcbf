/*
 * list-probes.c - one line per matching probe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/cmd.h"
#include "prex/list.h"
#include "prex/printable.h"
#include "prex/probe-op.h"
#include "prex/shell.h"
#include "prex/unmatched.h"
#include "prex/util.h"

static const char *const default_attrs[] = {
	"name", "enable", "trace", "file", "line", "funcs", NULL
};

/* An imported probe has these where not all of it can be had: they say why. */
static const char *const remarks[] = { "unavailable", "unread", "returns", NULL };

struct request {
	const struct tnf_selectors *selectors;
	struct specs specs;
	bool	with_remarks;
	bool	*used;		/* which selectors have matched */
};

static void
print_part(const char *s, size_t len)
{
	char *text = tnf_xstrndup(s, len);

	print_text(stdout, text);
	free(text);
}

static void
print_one(const struct attribute *a)
{
	print_part(a->name, a->name_len);
	putchar('=');
	if (a->value_len > 0)
		print_part(a->value, a->value_len);
	else
		fputs("<no value>", stdout);
	putchar(' ');
}

static void
print_attr(const struct tnf_probe_attrs *attrs, const struct tnf_spec *spec)
{
	struct tnf_probe_attrs_at at = { 0 };
	struct attribute a;
	bool found = false;

	while (tnf_probe_attrs_next(attrs, &at, &a)) {
		if (!tnf_spec_match(spec, a.name, a.name_len))
			continue;
		print_one(&a);
		found = true;
	}
	if (!found)
		printf("<no attr> ");
}

/* The slots of a probe that may be imported are found when somebody asks. */
static bool
list_probes_describe(struct shell *sh, tnfctl_probe_t *p, struct tnf_probe_attrs *ret)
{
	tnfctl_probe_state_t state;

	/* Where that fails, the attributes say why. */
	tnfctl_probe_describe(sh->target, p);
	if (tnfctl_probe_state_get(sh->target, p, &state) != TNFCTL_ERR_NONE)
		return false;
	attrs_of_probe(ret, &state, &sh->fcns);
	return true;
}

/* To describe a function reads its debugging information: only where its slots or such
   were asked for. */
static bool
needs_description(const struct request *r, const struct tnf_probe_attrs *attrs)
{
	struct attribute origin;

	if (!tnf_probe_attrs_find(attrs, "origin", &origin))
		return false;
	for (const char *const *name = remarks; *name != NULL; name++)
		if (specs_match(&r->specs, *name))
			return true;
	return specs_match(&r->specs, "slots") ||
	    (r->with_remarks && origin.value_len == 4 && memcmp(origin.value, "usdt", 4) == 0);
}

static void
print_remarks(const struct tnf_probe_attrs *attrs)
{
	struct attribute a;

	for (const char *const *name = remarks; *name != NULL; name++)
		if (tnf_probe_attrs_find(attrs, *name, &a))
			print_one(&a);
}

static void
list_probes_print_probe(struct shell *sh, tnfctl_probe_t *p, const struct tnf_probe_attrs *attrs,
    void *arg)
{
	const struct request *r = arg;
	struct tnf_probe_attrs more;
	struct attribute origin;
	bool described;

	if (!tnf_selectors_match(r->selectors, attrs, r->used))
		return;
	described = needs_description(r, attrs) && list_probes_describe(sh, p, &more);
	if (described)
		attrs = &more;	/* what the others point to may be gone */
	for (size_t i = 0; i < r->specs.n; i++)
		print_attr(attrs, &r->specs.v[i]);
	if (r->with_remarks && tnf_probe_attrs_find(attrs, "origin", &origin))
		print_remarks(attrs);
	putchar('\n');
	if (described)
		free((void *)more.funcs);
}

static void
add_default_specs(struct specs *l)
{
	for (const char *const *name = default_attrs; *name != NULL; name++)
		specs_add_text(l, *name, false);
}

void
list_probes(struct shell *sh, const struct args *a)
{
	struct request r = { .selectors = a->selectors, .specs = a->specs };
	struct specs defaults = { 0 };
	tnfctl_errcode_t err;
	struct name *set;

	if (a->set != NULL) {
		if ((set = names_find(&sh->sets, a->set)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC,
			    "missing or invalid set");
			return;
		}
		r.selectors = set->selectors;
	}
	if (r.specs.n == 0) {
		add_default_specs(&defaults);
		r.specs = defaults;
		r.with_remarks = true;
	}
	r.used = tnf_xcalloc(r.selectors->n + 1, sizeof *r.used);
	functions_ask(sh, r.selectors, false);
	err = probes_visit(sh, list_probes_print_probe, &r);
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_SEMANTIC, err, "listing error : ");
	else
		unmatched_tell(sh, "list probes", a->set, r.selectors, r.used);
	free(r.used);
	specs_free(&defaults);
}
