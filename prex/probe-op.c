/*
 * probe-op.c - applies a command to each probe that it selects, now and when probes
 * come later.
 */
#include "prex/shell.h"

struct visit {
	struct shell *sh;
	probe_visit_f *visit;
	void	*arg;
};

struct id_list {
	unsigned long *v;
	size_t	 n;
};

struct application {
	const struct probe_op *op;
	struct id_list chosen;	/* all probes that it is about, ... */
	struct id_list fast;	/* ... and those that the library can switch at once */
	size_t	 next, next_fast; /* of them, when probes are gone through again */
	size_t	 undone;	/* so many of the chosen ones are not as they shall be */
	bool	*used;		/* which of its selectors have matched; NULL: nobody asks */
	unsigned slow;		/* probes that stay off, as only the kernel could record them */
	tnfctl_errcode_t no_kernel;	/* why it cannot */
};

#define SLOW_TOLD	5u	/* of these, each with its reason */

/* Makes the kernel's buffer, if there is none: it gets the events of imported probes. */
static tnfctl_errcode_t
need_buffer(struct shell *sh, tnfctl_handle_t *h, const struct probe_op *op)
{
	tnfctl_errcode_t err;
	size_t made = 0;

	if (sh->has_buffer || (strcmp(op->name, "enable") != 0 && strcmp(op->name, "trace") != 0))
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

/* Tells of an imported probe that cannot be had and stays off; the other probes go on. */
static void
tell_if_off(struct shell *sh, const struct probe_op *op, tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	tnfctl_probe_state_t state;

	if (strcmp(op->name, "enable") == 0 &&
	    tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE && !state.enabled)
		shell_tell_detail(sh);
}

/* True if the process itself records this probe. */
static bool
is_fast(const struct tnf_probe_attrs *attrs)
{
	struct attribute a;

	return tnf_probe_attrs_find(attrs, "fast", &a) && a.value_len == 3 &&
	    memcmp(a.value, "yes", 3) == 0;
}

/* Tells of a probe that only the kernel could record, if that cannot be; the others go on. */
static tnfctl_errcode_t
tell_if_slow(struct shell *sh, struct application *a, const struct tnf_probe_attrs *attrs,
    tnfctl_errcode_t err)
{
	struct attribute name, fast;

	if (!tnf_probe_attrs_find(attrs, "fast", &fast))
		return err;
	if (a->no_kernel == TNFCTL_ERR_NONE && err != TNFCTL_ERR_ACCES)
		shell_tell_detail(sh);
	a->no_kernel = err;
	if (strcmp(a->op->name, "enable") == 0 && tnf_probe_attrs_find(attrs, "name", &name) &&
	    a->slow++ < SLOW_TOLD)
		shell_say(sh, "%.*s: not on: not fast%.*s%s", (int)name.value_len, name.value,
		    (int)fast.value_len - 2, fast.value + 2,
		    err == TNFCTL_ERR_ACCES ? ": the kernel could have it: that needs root" : "");
	return TNFCTL_ERR_NONE;
}

/* Tells of a probe that cannot be switched on, if an expression has selected it; the others go on.
   One that is named is an error. */
static tnfctl_errcode_t
tell_if_refused(struct shell *sh, struct application *a, tnfctl_errcode_t err)
{
	bool regex = false;

	for (size_t i = 0; i < a->op->selectors->n; i++)
		regex |= a->op->selectors->v[i].value.is_regex;
	if (!regex || strcmp(a->op->name, "enable") != 0)
		return err;
	if (a->slow++ < SLOW_TOLD)
		shell_tell_detail(sh);
	return TNFCTL_ERR_NONE;
}

/* A USDT probe of a process that is held may be a fast one: has the library find out, for which a
   program that has not begun runs to its start. */
static tnfctl_errcode_t
decide(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p, struct tnf_probe_attrs *attrs)
{
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err;

	if (sh->started)
		tnfctl_import_add(h, "fast", "start");
	tnfctl_probe_describe(h, p);
	if ((err = tnfctl_probe_state_get(h, p, &state)) == TNFCTL_ERR_NONE)
		attrs->own = state.attr_string;
	return err;
}

/* True if a probe has been switched that could not be made a fast one, so that the kernel is to have
   it. */
static bool
is_kernels_now(tnfctl_handle_t *h, tnfctl_probe_t *p, struct tnf_probe_attrs *attrs)
{
	tnfctl_probe_state_t state;

	if (!is_fast(attrs) || tnfctl_probe_state_get(h, p, &state) != TNFCTL_ERR_NONE)
		return false;
	attrs->own = state.attr_string;
	return !is_fast(attrs);
}

static tnfctl_errcode_t
apply_to(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p,
    const struct tnf_probe_attrs *given, void *arg)
{
	struct application *a = arg;
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct tnf_probe_attrs attrs = *given;
	struct attribute at;
	bool added = tnf_probe_attrs_find(&attrs, "origin", &at);

	if (added && sh->mode == MODE_USER && !sh->watched && !sh->options->no_fast &&
	    !tnf_probe_attrs_find(&attrs, "fast", &at))
		err = decide(sh, h, p, &attrs);
	if (err == TNFCTL_ERR_NONE && added && sh->mode == MODE_USER && !is_fast(&attrs)) {
		err = a->no_kernel != TNFCTL_ERR_NONE ? a->no_kernel : need_buffer(sh, h, a->op);
		if (err != TNFCTL_ERR_NONE)
			return tell_if_slow(sh, a, &attrs, err);
	}
	if (err == TNFCTL_ERR_NONE) {
		err = a->op->apply(h, p, (void *)a->op);
		if (err != TNFCTL_ERR_NONE && added && sh->mode == MODE_USER && !is_fast(&attrs))
			return tell_if_refused(sh, a, err);
	}
	if (added && is_kernels_now(h, p, &attrs)) {
		if ((err = need_buffer(sh, h, a->op)) == TNFCTL_ERR_NONE)
			err = a->op->apply(h, p, (void *)a->op);
		if (err != TNFCTL_ERR_NONE)
			return tell_if_slow(sh, a, &attrs, err);
	}
	if (err == TNFCTL_ERR_NONE && added)
		tell_if_off(sh, a->op, h, p);
	return err;
}

/* Applies the command to a probe that has come if its selectors match. */
static tnfctl_errcode_t
apply_if(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p, const struct tnf_probe_attrs *attrs, void *arg)
{
	const struct application *a = arg;

	return tnf_selectors_match(a->op->selectors, attrs, a->used) ? apply_to(sh, h, p, attrs, arg) : TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
visit_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct visit *v = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err;
	struct tnf_probe_attrs attrs;

	if ((err = tnfctl_probe_state_get(h, p, &state)) != TNFCTL_ERR_NONE)
		return err;
	attrs_of_probe(&attrs, &state, &v->sh->fcns);
	err = v->visit(v->sh, h, p, &attrs, v->arg);
	free((void *)attrs.funcs);
	return err;
}

tnfctl_errcode_t
probes_visit(struct shell *sh, probe_visit_f *visit, void *arg)
{
	struct visit v = { sh, visit, arg };

	return tnfctl_probe_look(sh->target, visit_one, &v);
}

static void
id_add(struct id_list *l, unsigned long id)
{
	/* It grows by doubling. */
	if ((l->n & (l->n - 1)) == 0)
		l->v = tnf_xreallocarray(l->v, l->n == 0 ? 1 : 2 * l->n, sizeof *l->v);
	l->v[l->n++] = id;
}

static bool
is_switch(const struct probe_op *op)
{
	return op->apply == tnfctl_probe_enable || op->apply == tnfctl_probe_disable;
}

/* Notes the probe if the command is about it. */
static tnfctl_errcode_t
choose(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p, const struct tnf_probe_attrs *attrs,
    void *arg)
{
	struct application *a = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err;

	if (!tnf_selectors_match(a->op->selectors, attrs, a->used))
		return TNFCTL_ERR_NONE;
	if ((err = tnfctl_probe_state_get(h, p, &state)) != TNFCTL_ERR_NONE)
		return err;
	id_add(&a->chosen, state.id);
	if (is_switch(a->op) && sh->mode == MODE_USER && is_fast(attrs))
		id_add(&a->fast, state.id);
	return TNFCTL_ERR_NONE;
}

/* True if the probe is in the list, whose next place is *next.  Probes come in the same order again, by their
   numbers, but some may have gone meanwhile. */
static bool
is_next(const struct id_list *l, size_t *next, unsigned long id)
{
	while (*next < l->n && l->v[*next] < id)
		++*next;
	if (*next == l->n || l->v[*next] != id)
		return false;
	++*next;
	return true;
}

/* Keeps the probe among the chosen ones if it is not as the command wants it, or if it is not fast any more: it is
   the kernel's then, which must have a buffer. */
static tnfctl_errcode_t
keep_undone(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct application *a = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err != TNFCTL_ERR_NONE || !is_next(&a->chosen, &a->next, state.id))
		return err;
	if (!is_next(&a->fast, &a->next_fast, state.id) || state.enabled != (a->op->apply == tnfctl_probe_enable) ||
	    !is_fast(&(struct tnf_probe_attrs){ .own = state.attr_string }))
		a->chosen.v[a->undone++] = state.id;
	return err;
}

static tnfctl_errcode_t
apply_to_chosen(tnfctl_handle_t *h, tnfctl_probe_t *p, void *visit)
{
	const struct visit *v = visit;
	struct application *a = v->arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	return err != TNFCTL_ERR_NONE || !is_next(&a->chosen, &a->next, state.id) ? err : visit_one(h, p, visit);
}

/* Chooses probes while the process runs, and has the library switch those at once that it can.  The other ones
   are switched one by one, and so are those with which it failed: then the reason is told. */
static tnfctl_errcode_t
apply_all(tnfctl_handle_t *h, void *visit)
{
	const struct visit *v = visit;
	struct application *a = v->arg;
	struct visit choosing = { v->sh, choose, a };
	tnfctl_errcode_t err;

	a->chosen.n = a->fast.n = a->next = a->next_fast = a->undone = 0;
	err = tnfctl_probe_look(h, visit_one, &choosing);
	if (err == TNFCTL_ERR_NONE && a->fast.n > 0) {
		tnfctl_probe_apply_ids(h, a->fast.n, a->fast.v, a->op->apply, NULL);
		err = tnfctl_probe_look(h, keep_undone, a);
		a->chosen.n = a->undone;
	}
	a->next = 0;
	return err != TNFCTL_ERR_NONE || a->chosen.n == 0 ? err : tnfctl_probe_apply(h, apply_to_chosen, visit);
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

/* The functions that a selector asks for, to be freed, or NULL; *kind: the kind of probe.  A name
   that a probe has means that probe. */
static char *
functions_asked(struct shell *sh, const struct tnf_selector *s, const char **kind)
{
	if (strcmp(s->attr.text, "name") == 0 && !s->value.is_regex &&
	    tnfctl_probe_apply(sh->target, is_named, s->value.text) != TNFCTL_ERR_NONE)
		return NULL;
	return tnf_selector_functions(s, kind);
}

/* Imports the functions that selectors name: files have thousands, and only these become probes. */
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
		if (err != TNFCTL_ERR_NONE && strcmp(l->v[i].attr.text, "name") == 0)
			continue;
		if (shell_ok(sh, ERROR_TARGET, err, "error in importing functions: ") && tell)
			shell_tell_detail(sh);
	}
}

/* Fills in the sets and functions that names stand for; false: there is no such one. */
static bool
probe_op_resolve(struct shell *sh, const struct args *a, struct probe_op *op)
{
	struct name *set;
	struct name *fcn;

	op->selectors = a->selectors;
	op->where = (char *)a->where;
	op->freezes = a->freezes;
	op->args = (char *)a->args;
	op->stacks = a->stacks;
	if (a->set != NULL) {
		if ((set = names_find(&sh->sets, a->set)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC, "no set named \"$%s\"", a->set);
			return false;
		}
		op->selectors = set->selectors;
	}
	if (a->fcn != NULL) {
		if ((fcn = names_find(&sh->fcns, a->fcn)) == NULL) {
			shell_error(sh, ERROR_SEMANTIC, "no function named \"&%s\"", a->fcn);
			return false;
		}
		op->fcn = fcn->name;
		op->symbol = fcn->symbol;
	}
	return true;
}

/* Adds a copy with references: the caller may free 'op'. */
static const struct probe_op *
history_add(struct history *h, const struct probe_op *op)
{
	struct probe_op *new;

	h->v = tnf_xreallocarray(h->v, h->n + 1, sizeof *h->v);
	new = &h->v[h->n++];
	*new = *op;
	new->selectors->refs++;
	if (op->fcn != NULL) {
		new->fcn = tnf_xstrdup(op->fcn);
		new->symbol = tnf_xstrdup(op->symbol);
	}
	if (op->where != NULL)
		new->where = tnf_xstrdup(op->where);
	if (op->args != NULL)
		new->args = tnf_xstrdup(op->args);
	return new;
}

enum cmd_result
probe_op_run(struct shell *sh, const struct cmd *c, const struct args *args)
{
	struct probe_op op = { .name = c->name, .apply = c->apply };
	struct application a = { .op = NULL };
	struct visit v = { sh, apply_to, &a };
	tnfctl_errcode_t err;

	if (!probe_op_resolve(sh, args, &op) || (c->loads && !target_load(sh)) || !trace_make(sh))
		return CMD_DONE;
	functions_ask(sh, op.selectors, strcmp(c->name, "enable") == 0);
	a.op = history_add(&sh->history, &op);
	a.used = tnf_xcalloc(op.selectors->n + 1, sizeof *a.used);
	err = apply_all(sh->target, &v);
	if (err == TNFCTL_ERR_NONE)
		err = family_each(sh->family, apply_all, &v);
	sh->history.ended = clock_ns(CLOCK_BOOTTIME);
	free(a.chosen.v);
	free(a.fast.v);
	if (a.slow > SLOW_TOLD)
		shell_say(sh, "%u more are not on: \"list name fast probes keys=function\" says why",
		    a.slow - SLOW_TOLD);
	if (shell_ok(sh, ERROR_TARGET, err, "error on probe operation: ")) {
		if (strcmp(c->name, "enable") == 0 || strcmp(c->name, "disable") == 0)
			kernel_ask_rawio(sh, op.selectors, c->name[0] == 'e');
		unmatched_tell(sh, c->name, args->set, op.selectors, a.used);
	}
	free(a.used);
	return CMD_DONE;
}

/* libtnfctl's callback has no argument for us. */
static struct shell *follower;

/* The callback is called for probes that are there already, too; those of a child already have
   the settings of its parent. */
static _Thread_local bool introducing;

static void *
history_replay(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	struct shell *sh = follower;

	if (introducing)
		return NULL;
	for (size_t i = 0; i < sh->history.n; i++) {
		struct application a = { .op = &sh->history.v[i] };
		struct visit v = { sh, apply_if, &a };

		shell_ok(sh, ERROR_TARGET, visit_one(h, p, &v), "error on new (dlopened) probe : ");
	}
	return NULL;
}

tnfctl_errcode_t
history_follow(struct shell *sh, tnfctl_handle_t *h)
{
	tnfctl_errcode_t err;

	follower = sh;
	introducing = true;
	err = tnfctl_register_funcs(h, history_replay, NULL);
	introducing = false;
	return err;
}

tnfctl_errcode_t
history_repeat(tnfctl_handle_t *h)
{
	return tnfctl_register_funcs(h, history_replay, NULL);
}

void
history_catch_up(struct shell *sh, tnfctl_handle_t *h, pid_t child)
{
	int64_t tick = INT64_C(1000000000) / sysconf(_SC_CLK_TCK);

	if ((int64_t)tnf_proc_started(child) > sh->history.ended / tick)
		return;
	for (size_t i = 0; i < sh->history.n; i++) {
		struct probe_op op = sh->history.v[i];
		struct application a = { .op = &op };
		struct visit v = { sh, apply_to, &a };

		/* Repeated, "connect" would have functions run twice, and the child has the names of the arguments. */
		if (op.fcn != NULL || op.apply == tnfctl_probe_disconnect_all)
			continue;
		op.args = NULL;
		shell_ok(sh, ERROR_TARGET, apply_all(h, &v), "error on probe operation: ");
		free(a.chosen.v);
		free(a.fast.v);
	}
}

void
history_free(struct history *h)
{
	while (h->n > 0) {
		struct probe_op *op = &h->v[--h->n];

		tnf_selectors_unref(op->selectors);
		free(op->fcn);
		free(op->symbol);
		free(op->where);
		free(op->args);
	}
	free(h->v);
}
