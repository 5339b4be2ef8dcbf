/*
 * list-probes.c - one line per matching probe.
 */
#include <stdio.h>
#include <stdlib.h>

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

struct request {
	const struct selectors *selectors;
	struct specs specs;
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

	if (tnfctl_probe_describe(sh->target, p) != TNFCTL_ERR_NONE ||
	    tnfctl_probe_state_get(sh->target, p, &state) != TNFCTL_ERR_NONE)
		return false;
	attrs_of_probe(ret, &state, &sh->fcns);
	return true;
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
	described = attrs->imported && specs_match(&r->specs, "slots") &&
	    list_probes_describe(sh, p, &more);
	for (size_t i = 0; i < r->specs.n; i++)
		print_attr(described ? &more : attrs, &r->specs.v[i]);
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
