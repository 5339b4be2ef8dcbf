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
#include "prex/selector.h"
#include "prex/shell.h"
#include "prex/unmatched.h"
#include "prex/util.h"

static const char *const default_attrs[] = {
	"name", "enable", "trace", "file", "line", "funcs", NULL
};

/* An imported probe has these where not all of it can be had: they say why. */
static const char *const remarks[] = { "unavailable", "unread", NULL };

struct request {
	const struct selectors *selectors;
	struct specs specs;
	bool	with_remarks;
	bool	*used;		/* which selectors have matched */
};

static void
print_attr(const struct attrs *attrs, const struct spec *spec)
{
	bool found = false;

	for (size_t i = 0; i < attrs->n; i++) {
		const struct attr *a = &attrs->v[i];

		if (!spec_match(spec, a->name))
			continue;
		print_text(stdout, a->name);
		putchar('=');
		print_text(stdout, *a->text != '\0' ? a->text : "<no value>");
		putchar(' ');
		found = true;
	}
	if (!found)
		printf("<no attr> ");
}

/* The slots of a probe that may be imported are found when somebody asks. */
static bool
list_probes_describe(struct shell *sh, tnfctl_probe_t *p, struct attrs *ret)
{
	tnfctl_probe_state_t state;

	/* Where that fails, the attributes say why. */
	tnfctl_probe_describe(sh->target, p);
	if (tnfctl_probe_state_get(sh->target, p, &state) != TNFCTL_ERR_NONE)
		return false;
	attrs_of_probe(ret, &state, &sh->fcns);
	return true;
}

static const char *
attr_text(const struct attrs *attrs, const char *name)
{
	for (size_t i = 0; i < attrs->n; i++)
		if (strcmp(attrs->v[i].name, name) == 0)
			return attrs->v[i].text;
	return NULL;
}

/* To describe a function reads its debugging information: only where its slots or such
   were asked for. */
static bool
needs_description(const struct request *r, const struct attrs *attrs)
{
	const char *origin = attr_text(attrs, "origin");

	if (!attrs->imported)
		return false;
	for (const char *const *name = remarks; *name != NULL; name++)
		if (specs_match(&r->specs, *name))
			return true;
	return specs_match(&r->specs, "slots") ||
	    (r->with_remarks && origin != NULL && strcmp(origin, "usdt") == 0);
}

static void
print_remarks(const struct attrs *attrs)
{
	struct spec spec;

	for (const char *const *name = remarks; *name != NULL; name++) {
		if (attr_text(attrs, *name) == NULL)
			continue;
		spec_init(&spec, *name, false);
		print_attr(attrs, &spec);
		spec_free(&spec);
	}
}

static void
list_probes_print_probe(struct shell *sh, tnfctl_probe_t *p, const struct attrs *attrs,
    void *arg)
{
	const struct request *r = arg;
	struct attrs more;
	bool described;

	if (!selectors_match(r->selectors, attrs, r->used))
		return;
	described = needs_description(r, attrs) && list_probes_describe(sh, p, &more);
	for (size_t i = 0; i < r->specs.n; i++)
		print_attr(described ? &more : attrs, &r->specs.v[i]);
	if (r->with_remarks && attrs->imported)
		print_remarks(described ? &more : attrs);
	putchar('\n');
	if (described)
		attrs_free(&more);
}

static void
add_default_specs(struct specs *l)
{
	struct spec spec;

	for (const char *const *name = default_attrs; *name != NULL; name++) {
		spec_init(&spec, *name, false);
		specs_add(l, spec);
	}
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
	functions_ask(sh, r.selectors);
	err = probes_visit(sh, list_probes_print_probe, &r);
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_SEMANTIC, err, "listing error : ");
	else
		unmatched_tell(sh, "list probes", a->set, r.selectors, r.used);
	free(r.used);
	specs_free(&defaults);
}
