/*
 * probe-op.c - what the six probe commands have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/family.h"
#include "prex/kernel.h"
#include "prex/probe-op.h"
#include "prex/shell.h"
#include "prex/unmatched.h"
#include "prex/util.h"

struct visit {
	struct shell *sh;
	const struct probe_op *op;
	bool	*used;		/* which of its selectors have matched */
	probe_visit_f *visit;
	void	*arg;
};

/* Events of imported probes go to the kernel's buffer. */
static tnfctl_errcode_t
need_buffer(struct shell *sh, tnfctl_handle_t *h, const struct probe_op *op)
{
	tnfctl_errcode_t err;
	size_t made = 0;

	if (sh->has_buffer ||
	    (strcmp(op->name, "enable") != 0 && strcmp(op->name, "trace") != 0))
		return TNFCTL_ERR_NONE;
	err = tnfctl_import_buffer(h, sh->watched ? sh->buffer_size : 0, &made);
	if (err != TNFCTL_ERR_NONE)
		return err;
	sh->has_buffer = true;
	if (made != 0)
		shell_say(sh, "the kernel has a buffer of %zu kbytes now: tnfxtract "
		    "copies it, prex -k removes it (buffer dealloc)", made / 1024);
	return TNFCTL_ERR_NONE;
}

/* An imported probe that cannot be had stays off, and the others are not kept from it. */
static void
tell_if_off(struct shell *sh, const struct probe_op *op, tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	tnfctl_probe_state_t state;

	if (strcmp(op->name, "enable") == 0 &&
	    tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE && !state.enabled)
		shell_tell_detail(sh);
}

static tnfctl_errcode_t
apply_to(struct shell *sh, const struct probe_op *op, bool *used,
    tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err;
	struct tnf_probe_attrs attrs;
	struct attribute origin;
	bool match, imported;

	if ((err = tnfctl_probe_state_get(h, p, &state)) != TNFCTL_ERR_NONE)
		return err;
	attrs_of_probe(&attrs, &state, &sh->fcns);
	match = tnf_selectors_match(op->selectors, &attrs, used);
	imported = tnf_probe_attrs_find(&attrs, "origin", &origin);
	if (match && imported && sh->mode == MODE_USER)
		err = need_buffer(sh, h, op);
	if (match && err == TNFCTL_ERR_NONE) {
		err = op->apply(h, p, (void *)op);
		if (err == TNFCTL_ERR_NONE && imported)
			tell_if_off(sh, op, h, p);
	}
	free((void *)attrs.funcs);
	return err;
}

tnfctl_errcode_t
probe_op_apply(struct shell *sh, const struct probe_op *op, tnfctl_handle_t *h,
    tnfctl_probe_t *p)
{
	return apply_to(sh, op, NULL, h, p);
}

static tnfctl_errcode_t
apply_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct visit *v = arg;

	return apply_to(v->sh, v->op, v->used, h, p);
}

static tnfctl_errcode_t
apply_to_all(tnfctl_handle_t *h, void *visit)
{
	return tnfctl_probe_apply(h, apply_one, visit);
}

static tnfctl_errcode_t
visit_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct visit *v = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err;
	struct tnf_probe_attrs attrs;

	if ((err = tnfctl_probe_state_get(h, p, &state)) != TNFCTL_ERR_NONE)
		return err;
	attrs_of_probe(&attrs, &state, &v->sh->fcns);
	v->visit(v->sh, p, &attrs, v->arg);
	free((void *)attrs.funcs);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
probes_visit(struct shell *sh, probe_visit_f *visit, void *arg)
{
	struct visit v = { .sh = sh, .visit = visit, .arg = arg };

	return tnfctl_probe_apply(sh->target, visit_one, &v);
}

static tnfctl_errcode_t
is_named(tnfctl_handle_t *h, tnfctl_probe_t *p, void *name)
{
	tnfctl_probe_state_t state;
	const char *s;
	size_t n = strlen(name);

	if (tnfctl_probe_state_get(h, p, &state) != TNFCTL_ERR_NONE ||
	    strncmp(state.attr_string, "name ", 5) != 0)
		return TNFCTL_ERR_NONE;
	s = state.attr_string + 5;
	return strncmp(s, name, n) == 0 && s[n] == ';' ? TNFCTL_ERR_USR1 : TNFCTL_ERR_NONE;
}

/* "name=work_entry", where no probe is called so: the function, without its end. */
static char *
function_of_name(struct shell *sh, char *name, const char *end)
{
	size_t n = strlen(name), cut = strlen(end);

	return n <= cut || strcmp(name + n - cut, end) != 0 ||
	    tnfctl_probe_apply(sh->target, is_named, name) != TNFCTL_ERR_NONE ? NULL :
	    tnf_xstrndup(name, n - cut);
}

/* Which functions a selector asks for, to be freed, or NULL; *kind: as what. */
static char *
functions_asked(struct shell *sh, const struct tnf_selector *s, const char **kind)
{
	char *name;

	if (s->attr.is_regex)
		return NULL;
	if (strcmp(s->attr.text, "name") == 0 && !s->value.is_regex) {
		*kind = "function";
		if ((name = function_of_name(sh, s->value.text, "_entry")) != NULL)
			return name;
		*kind = "return";
		return function_of_name(sh, s->value.text, "_return");
	}
	*kind = s->attr.text;
	if (strcmp(*kind, "function") != 0 && strcmp(*kind, "return") != 0)
		return NULL;
	return s->value.is_regex ? tnf_xasprintf("/%s/", s->value.text) :
	    tnf_xstrdup(s->value.text);
}

/* Functions are thousands: they are probes when a selector names one. */
void
functions_ask(struct shell *sh, const struct tnf_selectors *l, bool tell)
{
	tnfctl_errcode_t err;
	const char *kind;
	char *pattern;

	for (size_t i = 0; i < l->n; i++) {
		if ((pattern = functions_asked(sh, &l->v[i], &kind)) == NULL)
			continue;
		err = tnfctl_import_add(sh->target, kind, pattern);
		free(pattern);
		/* A name may be meant for something else. */
		if (err != TNFCTL_ERR_NONE && strcmp(l->v[i].attr.text, "name") != 0)
			shell_tnfctl_error(sh, ERROR_TARGET, err,
			    "error in importing functions: ");
		else if (err == TNFCTL_ERR_NONE && tell)
			shell_tell_detail(sh);
	}
}

/* Fills in what the names stand for; false: there is no such thing. */
static bool
probe_op_resolve(struct shell *sh, const struct args *a, struct probe_op *op)
{
	struct name *set;
	struct name *fcn;

	op->selectors = a->selectors;
	op->where = (char *)a->where;
	op->args = (char *)a->args;
	if (a->set != NULL) {
		if ((set = names_find(&sh->sets, a->set)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC,
			    "no set named \"$%s\"", a->set);
			return false;
		}
		op->selectors = set->selectors;
	}
	if (a->fcn != NULL) {
		if ((fcn = names_find(&sh->fcns, a->fcn)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC,
			    "no function named \"&%s\"", a->fcn);
			return false;
		}
		op->fcn = fcn->name;
		op->symbol = fcn->symbol;
	}
	return true;
}

enum cmd_result
probe_op_run(struct shell *sh, const struct cmd *c, const struct args *a)
{
	struct probe_op op = { .name = c->name, .apply = c->apply };
	struct visit v = { .sh = sh };
	tnfctl_errcode_t err;

	if (!probe_op_resolve(sh, a, &op) || !trace_make(sh))
		return CMD_DONE;
	functions_ask(sh, op.selectors, strcmp(c->name, "enable") == 0);
	v.op = history_add(&sh->history, &op);
	v.used = tnf_xcalloc(op.selectors->n + 1, sizeof *v.used);
	err = apply_to_all(sh->target, &v);
	if (err == TNFCTL_ERR_NONE)
		err = family_each(sh->family, apply_to_all, &v);
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_TARGET, err,
		    "error on probe operation: ");
	else {
		if (strcmp(c->name, "enable") == 0 || strcmp(c->name, "disable") == 0)
			kernel_ask_rawio(sh, op.selectors, c->name[0] == 'e');
		unmatched_tell(sh, c->name, a->set, op.selectors, v.used);
	}
	free(v.used);
	return CMD_DONE;
}
