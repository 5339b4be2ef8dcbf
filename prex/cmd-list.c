/*
 * cmd-list.c - list probes, their values, sets, functions, the history and the trace file.
 */
#include "prex/shell.h"

static const char *const default_attrs[] = {
	"name", "enable", "trace", "file", "line", "funcs", NULL
};

/* Attributes that say why not all of an imported probe can be had. */
static const char *const remarks[] = { "unavailable", "unread", "returns", "fast", NULL };

struct request {
	const struct tnf_selectors *selectors;
	struct specs specs;
	bool	with_remarks;
	bool	*used;		/* which selectors have matched */
};

static void
print_part(const char *s, size_t len)
{
	autofree char *text = tnf_xstrndup(s, len);

	print_text(stdout, text);
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

/* Must the probe be described?  That reads a function's debugging information, and so is done
   only if its slots or the like were asked for. */
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

static tnfctl_errcode_t
list_probes_print_probe(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p,
    const struct tnf_probe_attrs *attrs, void *arg)
{
	const struct request *r = arg;
	struct tnf_probe_attrs more;
	struct attribute origin;
	bool described;

	if (!tnf_selectors_match(r->selectors, attrs, r->used))
		return TNFCTL_ERR_NONE;
	described = needs_description(r, attrs) && attrs_describe(sh, p, &more);
	if (described)
		attrs = &more;	/* what the others point to may be gone */
	for (size_t i = 0; i < r->specs.n; i++)
		print_attr(attrs, &r->specs.v[i]);
	if (r->with_remarks && tnf_probe_attrs_find(attrs, "origin", &origin))
		print_remarks(attrs);
	putchar('\n');
	if (described)
		free((void *)more.funcs);
	return TNFCTL_ERR_NONE;
}

static void
list_probes(struct shell *sh, const struct args *a)
{
	struct request r = { .selectors = a->selectors, .specs = a->specs };
	struct specs defaults = { 0 };
	tnfctl_errcode_t err;
	struct name *set;

	if (a->set != NULL) {
		if ((set = names_find(&sh->sets, a->set)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC, "missing or invalid set");
			return;
		}
		r.selectors = set->selectors;
	}
	if (r.specs.n == 0) {
		for (const char *const *name = default_attrs; *name != NULL; name++)
			specs_add_text(&defaults, *name, false);
		r.specs = defaults;
		r.with_remarks = true;
	}
	r.used = tnf_xcalloc(r.selectors->n + 1, sizeof *r.used);
	functions_ask(sh, r.selectors, false);
	err = probes_visit(sh, list_probes_print_probe, &r);
	if (shell_ok(sh, ERROR_SEMANTIC, err, "listing error : "))
		unmatched_tell(sh, "list probes", a->set, r.selectors, r.used);
	free(r.used);
	specs_free(&defaults);
}

static void
list_sets(struct shell *sh, const struct args *a)
{
	struct name *s;

	TAILQ_FOREACH(s, &sh->sets, entry) {
		printf("$%-8s ", s->name);
		selectors_print(s->selectors);
		putchar('\n');
	}
}

static void
list_fcns(struct shell *sh, const struct args *a)
{
	struct name *f;

	TAILQ_FOREACH(f, &sh->fcns, entry)
		printf("&%-8s %-24s\n", f->name, f->symbol);
}

static void
list_history(struct shell *sh, const struct args *a)
{
	for (size_t i = 0; i < sh->history.n; i++) {
		const struct probe_op *op = &sh->history.v[i];

		printf("[%zu] %-7s ", i, op->name);
		if (op->fcn != NULL)
			printf("&%s ", op->fcn);
		selectors_print(op->selectors);
		if (op->stacks.asked)
			printf("stack=%u ustack=%u ", op->stacks.kernel, op->stacks.user);
		if (op->args != NULL)
			printf("args '%s' ", op->args);
		if (op->where != NULL)
			printf("where '%s'", op->where);
		if (op->freezes)
			printf("%sthen freeze", op->where != NULL ? " " : "");
		putchar('\n');
	}
}

static void
list_tracefile(struct shell *sh, const struct args *a)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;
	const char *name;

	if (sh->mode == MODE_KERNEL) {
		shell_error(sh, ERROR_PLAIN, "There is no trace file in kernel mode!");
		return;
	}
	err = tnfctl_trace_attrs_get(sh->target, &attrs);
	name = sh->plan.name != NULL ? sh->plan.name : attrs.trace_file_name;
	if (!shell_ok(sh, ERROR_TARGET, err, "cannot read tracing status : "))
		return;
	if (name == NULL)
		shell_error(sh, ERROR_TARGET, "the target has no trace file");
	else {
		fputs("Current trace file is: ", stdout);
		print_text(stdout, name);
		putchar('\n');
	}
}

static void
list_values(struct shell *sh, const struct args *a)
{
	struct values l;
	bool ok = shell_ok(sh, ERROR_TARGET, values_collect(sh, &a->specs, &l),
	    "probe traversal error : ");

	for (size_t i = 0; ok && i < l.n; i++) {
		print_text(stdout, l.v[i].attr);
		puts(" =");
		for (size_t j = 0; j < l.v[i].values.n; j++) {
			fputs("\t   ", stdout);
			print_text(stdout, l.v[i].values.v[j]);
			putchar('\n');
		}
	}
	values_free(&l);
	if (ok)
		unmatched_attributes(sh, &a->specs);
}

static const char *const words[] = {
	"sets", "fcns", "history", "tracefile", "probes", "values", NULL
};

static void (*const lists[])(struct shell *, const struct args *) = {
	list_sets, list_fcns, list_history, list_tracefile, list_probes, list_values
};

/* An identifier before "probes" is an attribute.  So an identifier can be short for a word of
   ours only if the statement has no such word otherwise. */
static bool
cmd_list_abbreviates(const struct statement *st, const struct token *tok, const char *word)
{
	if (tok->kind != TOK_IDENT || strncmp(word, tok->text, strlen(tok->text)) != 0)
		return false;
	for (size_t i = st->next; i < st->n; i++)
		if (token_is_word(&st->v[i], "probes"))
			return false;
	return true;
}

/* Without the word "probes" a set or a selector is read as an attribute: the hint says so. */
static void
hint_probes(struct statement *st, const struct token *tok)
{
	if (tok->kind == TOK_SET)
		statement_hint(st, tnf_xasprintf("list: \"probes\" is missing: "
		    "list probes %s", tok->text));
	else if (tok->kind == TOK_EQUAL)
		statement_hint(st, tnf_xstrdup("list: \"probes\" is missing: "
		    "list probes attribute=value"));
}

static bool
parse_probes(struct shell *sh, struct statement *st, struct args *a)
{
	for (;;) {
		const struct token *tok = statement_peek(st);

		if (token_is_word(tok, "probes") || cmd_list_abbreviates(st, tok, "probes")) {
			st->next++;
			a->word = "probes";
			return parse_target(sh, st, a);
		}
		if (!parse_spec(sh, st, a)) {
			hint_probes(st, tok);
			return false;
		}
	}
}

static bool
cmd_list_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);

	if (token_is_word(tok, "probes") ||
	    (tok->kind != TOK_WORD && st->n > 2 && !cmd_list_abbreviates(st, tok, "values")))
		return parse_probes(sh, st, a);
	if (tok->kind != TOK_WORD && tok->kind != TOK_IDENT)
		return parse_probes(sh, st, a);
	if ((a->word = parse_one_of(st, words)) == NULL)
		return tok->kind == TOK_IDENT && parse_probes(sh, st, a);
	if (strcmp(a->word, "probes") == 0)
		return parse_target(sh, st, a);
	while (strcmp(a->word, "values") == 0 && parse_spec(sh, st, a))
		;
	return true;
}

static enum cmd_result
cmd_list_run(struct shell *sh, const struct args *a)
{
	for (size_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], a->word) == 0)
			lists[i](sh, a);
	return CMD_DONE;
}

const struct cmd cmd_list = {
	.name = "list",
	.usage = "[attribute ...] probes $set\n"
	    "[attribute ...] probes selector ...\n"
	    "values attribute ...\n"
	    "sets\nfcns\nhistory\ntracefile",
	.summary = "List probes, attribute values, sets, functions, ...",
	.help =
	    "Lists the selected probes with the given attributes (without any: name enable\n"
	    "trace file line funcs), the values that attributes have in all probes, the\n"
	    "sets, the functions, the probe commands given so far, or the name of the trace\n"
	    "file.  \"list /.*/ probes $all\" shows everything; words of the language are\n"
	    "quoted, as in  list name 'enable' probes $all .\n",
	.modes = MODE_BOTH,
	.words = words,
	.complete = COMPLETE_LIST,
	.parse = cmd_list_parse,
	.run = cmd_list_run,
};
