/*
 * handle.c - handles come and go, and have probes; calls that every kind answers for itself.
 */
#include "libtnfctl/fast.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/proc.h"

tnfctl_handle_t *
tnfctl_handle_new(const struct target_ops *ops, pid_t pid)
{
	tnfctl_handle_t *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	h->ops = ops;
	h->pid = pid;
	h->replaced = -1;
	return h;
}

static void
call_destroy(tnfctl_handle_t *h)
{
	for (size_t i = 0; i < h->nprobes && h->destroy != NULL; i++)
		h->destroy(h->probes[i]->client);
}

static void
probes_destroy(tnfctl_handle_t *h)
{
	call_destroy(h);
	for (size_t i = 0; i < h->nprobes; i++) {
		tnfctl_import_free(h->probes[i]->import);
		tnfctl_fast_free(h->probes[i]->fast);
		free(h->probes[i]->attrs);
		free(h->probes[i]->func_names);
		free(h->probes[i]->func_addrs);
		free(h->probes[i]);
	}
	free(h->probes);
	h->probes = NULL;
	h->nprobes = 0;
}

void
tnfctl_handle_empty(tnfctl_handle_t *h)
{
	probes_destroy(h);
	tnfctl_imports_free(h);
	tnfctl_room_free(h->fast);
	h->fast = NULL;
	tnfctl_functions_forget();
	while (h->nfiles > 0)
		free(h->files[--h->nfiles]);
	free(h->files);
	tnfctl_objects_free(h);
	tnf_map_free(&h->pooled);
	free(h->trace_file);
	*h = (tnfctl_handle_t){ .ops = h->ops, .priv = h->priv, .pid = h->pid,
	    .given = h->given, .given_size = h->given_size, .replaced = h->replaced };
}

void
tnfctl_handle_free(tnfctl_handle_t *h)
{
	if (h != NULL) {
		tnfctl_handle_empty(h);
		tnfctl_buffer_drop_replaced(h);
		free(h->given);
	}
	free(h);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	tnfctl_errcode_t err;

	if (h == NULL)
		return TNFCTL_ERR_NONE;
	if ((unsigned int)op > TNFCTL_TARG_SUSPEND && h->ops->cont != NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "tnfctl_close: no such action");
	err = h->ops->close(h, op);
	if (!h->leaving)
		tnfctl_handle_free(h);
	return err;
}

tnfctl_errcode_t
tnfctl_wrong_kind(const char *why)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s", why != NULL ? why :
	    "this kind of handle cannot do that");
}

TNFCTL_API tnfctl_errcode_t
tnfctl_continue(tnfctl_handle_t *h, tnfctl_event_t *ret,
    tnfctl_handle_t **ret_child)
{
	size_t which;

	return tnfctl_continue_any(&h, 1, &which, ret, ret_child);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_continue_any(tnfctl_handle_t *const *h, size_t n, size_t *ret_which,
    tnfctl_event_t *ret, tnfctl_handle_t **ret_child)
{
	*ret_which = 0;
	for (size_t i = 0; i < n; i++)
		if (h[i]->ops->cont == NULL)
			return tnfctl_wrong_kind(NULL);
	if (n == 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "no target to let run");
	return h[0]->ops->cont(h, n, ret_which, ret, ret_child);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_fate_get(tnfctl_handle_t *h, int *ret)
{
	return h->ops->fate == NULL ? tnfctl_wrong_kind(NULL) : h->ops->fate(h, ret);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_ended_get(tnfctl_handle_t *h, tnfctl_ended_t *ret, size_t room,
    size_t *ret_n)
{
	if (h->ops->ended == NULL)
		return tnfctl_wrong_kind(NULL);
	*ret_n = h->ops->ended(h, ret, room);
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_check_libs(tnfctl_handle_t *h)
{
	return h->ops->refresh(h);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_trace_attrs_get(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	return h->ops->attrs(h, ret);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_buffer_alloc(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	return h->ops->buffer_alloc(h, file, bytes);
}

static bool
has_word(const char *list, const char *word, size_t len)
{
	for (; *(list += strspn(list, " ")) != '\0'; list += strcspn(list, " "))
		if (strcspn(list, " ") == len && memcmp(list, word, len) == 0)
			return true;
	return false;
}

/* Can these be the members of a mark beside its own? */
static bool
are_members(const char *names)
{
	static const char digits[] = "0123456789", characters[] = "0123456789_"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned n = 0;
	size_t len;

	for (; *(names += strspn(names, " ")) != '\0'; names += len) {
		len = strcspn(names, " ");
		if (++n > TNFCTL_MARK_VALUES || strspn(names, characters) != len ||
		    strspn(names, digits) != 0 || len > TNFCTL_MARK_NAME ||
		    has_word(TNF_N_MARK_TEXT " " TNF_N_MARK_BY, names, len) ||
		    has_word(names + len, names, len))
			return false;
	}
	return true;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_mark(tnfctl_handle_t *h, const char *text, const char *by,
    const char *names, const int64_t *values)
{
	if (names == NULL)
		names = "";
	if (strlen(text) > TNF_STRING_MAX || strlen(by) > TNF_STRING_MAX)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "mark: it is longer than %u bytes: say less",
		    TNF_STRING_MAX);
	if (!are_members(names))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "mark: its members cannot be \"%s\": give at "
		    "most %u names, all different, none of them text or by, of letters, digits and _, "
		    "at most %u each", names, TNFCTL_MARK_VALUES, TNFCTL_MARK_NAME);
	if (h->ops->mark == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "mark: this target has no trace of its own: mark "
		    "the kernel's (prex -k)");
	return h->ops->mark(h, text, by, names, values);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_freeze(tnfctl_handle_t *h, const char *why)
{
	if (strlen(why) > TNFCTL_FREEZE_MAX)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "freeze: the reason is longer than %u "
		    "bytes: say less", TNFCTL_FREEZE_MAX);
	if (h->ops->freeze == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "freeze: this target has no trace of "
		    "its own: freeze the kernel's (prex -k)");
	return h->ops->freeze(h, why);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_import_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	return h->ops->import_add == NULL ? tnfctl_wrong_kind(NULL) : h->ops->import_add(h, kind, source);
}

tnfctl_probe_t *
tnfctl_probe_add(tnfctl_handle_t *h, const char *attrs)
{
	tnfctl_probe_t *p, **grown = tnf_grow(h->probes, h->nprobes, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	h->probes = grown;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return NULL;
	if ((p->attrs = strdup(attrs)) == NULL) {
		free(p);
		return NULL;
	}
	p->id = h->first_id + h->nprobes;
	p->new_probe = true;
	h->probes[h->nprobes++] = p;
	return p;
}

void
tnfctl_probes_created(tnfctl_handle_t *h, size_t first)
{
	for (size_t i = first; i < h->nprobes && h->create != NULL; i++)
		h->probes[i]->client = h->create(h, h->probes[i]);
}

bool
tnfctl_probe_is_kernels(const tnfctl_probe_t *p)
{
	return p->import != NULL && (p->fast == NULL || !p->fast->made);
}

static tnfctl_errcode_t
probes_look(tnfctl_handle_t *h)
{
	return h->ops->look ? h->ops->look(h) : TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_register_funcs(tnfctl_handle_t *h,
    void *(*create)(tnfctl_handle_t *, tnfctl_probe_t *),
    void (*destroy)(void *))
{
	tnfctl_errcode_t err = probes_look(h);

	if (err != TNFCTL_ERR_NONE)
		return err;
	call_destroy(h);
	h->create = create;
	h->destroy = destroy;
	tnfctl_probes_created(h, 0);
	return TNFCTL_ERR_NONE;
}

/* Applies to n probes; those that are switched on or off are so, as many as can be, at once.  Takes the list. */
static tnfctl_errcode_t
apply_list(tnfctl_handle_t *h, tnfctl_probe_t **v, size_t n, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (op == tnfctl_probe_enable || op == tnfctl_probe_disable)
		tnfctl_fast_set_many(h, v, n, op == tnfctl_probe_enable);
	for (size_t i = 0; i < n && err == TNFCTL_ERR_NONE; i++)
		if (v[i] != NULL && !v[i]->gone)
			err = op(h, v[i], arg);
	free(v);
	return err;
}

static tnfctl_probe_t **
new_list(size_t n)
{
	tnfctl_probe_t **v = reallocarray(NULL, n + 1, sizeof(tnfctl_probe_t *));

	if (v == NULL)
		tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	return v;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_apply(tnfctl_handle_t *h, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = probes_look(h);
	size_t n = h->nprobes;
	tnfctl_probe_t **v;

	if (err != TNFCTL_ERR_NONE)
		return err;
	if ((v = new_list(n)) == NULL)
		return TNFCTL_ERR_ALLOCFAIL;
	if (n > 0)
		memcpy(v, h->probes, n * sizeof(tnfctl_probe_t *));
	err = apply_list(h, v, n, op, arg);
	/* Those that came by it. */
	for (; err == TNFCTL_ERR_NONE && n < h->nprobes; n++)
		if (!h->probes[n]->gone)
			err = op(h, h->probes[n], arg);
	return err;
}

#define FEW		1024u	/* probes, for which the process need not run */
#define LOOK		64u	/* probes between looks at it */

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_look(tnfctl_handle_t *h, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = probes_look(h);

	if (h->nprobes > FEW)
		tnfctl_work(h, WORK_BEGIN);
	for (size_t i = 0; i < h->nprobes && err == TNFCTL_ERR_NONE; i++) {
		if (!h->probes[i]->gone)
			err = op(h, h->probes[i], arg);
		if (i % LOOK == 0)
			tnfctl_work(h, WORK_LOOK);
	}
	tnfctl_work(h, WORK_END);
	if (h->nprobes > FEW && h->ops->catch_up != NULL)
		h->ops->catch_up(h);
	return err;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_apply_ids(tnfctl_handle_t *h, unsigned long n, unsigned long *ids,
    tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = probes_look(h);
	tnfctl_probe_t **v;
	unsigned long i, at;

	if (err != TNFCTL_ERR_NONE)
		return err;
	if ((v = new_list(n)) == NULL)
		return TNFCTL_ERR_ALLOCFAIL;
	for (i = 0; i < n; i++) {
		at = ids[i] - h->first_id;
		if (ids[i] < h->first_id || at >= h->nprobes || h->probes[at]->gone)
			break;
		v[i] = h->probes[at];
	}
	err = apply_list(h, v, i, op, arg);
	return err != TNFCTL_ERR_NONE || i == n ? err : tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
	    "probe %lu: there is none of this number", ids[i]);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_state_get(tnfctl_handle_t *h, tnfctl_probe_t *p,
    tnfctl_probe_state_t *ret)
{
	tnfctl_probe_state_t s = { .id = p->id };
	tnfctl_errcode_t err = tnfctl_probe_is_kernels(p) ? tnfctl_import_state(h, p, &s) :
	    h->ops->probe_state(h, p, &s);

	if (err != TNFCTL_ERR_NONE)
		return err;
	s.attr_string = p->attrs;
	s.enabled = p->enabled ? B_TRUE : B_FALSE;
	s.traced = p->traced ? B_TRUE : B_FALSE;
	s.new_probe = p->new_probe ? B_TRUE : B_FALSE;
	s.client_registered_data = p->client;
	*ret = s;
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
probe_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	if (enabling && on)
		tnfctl_import_decide(h, p, true);
	if (p->fast != NULL)
		return tnfctl_fast_set(h, p, enabling, on);
	return p->import != NULL ? tnfctl_import_set(h, p, enabling, on) :
	    h->ops->probe_set(h, p, enabling, on);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_enable(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return probe_set(h, p, true, true);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_disable(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return probe_set(h, p, true, false);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_trace(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return probe_set(h, p, false, true);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_untrace(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return probe_set(h, p, false, false);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_disconnect_all(tnfctl_handle_t *h, tnfctl_probe_t *p,
    void *ignored)
{
	if (tnfctl_probe_is_kernels(p))
		return TNFCTL_ERR_NONE;
	if (h->ops->probe_disconnect == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "functions cannot be connected to the kernel's probes");
	return h->ops->probe_disconnect(h, p);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_connect(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *lib,
    const char *func)
{
	tnfctl_errcode_t err;

	tnfctl_import_decide(h, p, true);
	if ((err = tnfctl_fast_ready(h, p, false)) != TNFCTL_ERR_NONE)
		return err;
	if (tnfctl_probe_is_kernels(p))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "functions cannot be connected to "
		    "imported probes: the kernel runs those%s%s%s%s", p->import->slow ? ": " : "",
		    p->import->slow ? p->import->name : "", p->import->slow ? " is not fast: " : "",
		    p->import->slow ? p->import->slow : "");
	if (h->ops->probe_connect == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "functions cannot be connected to the kernel's probes");
	return h->ops->probe_connect(h, p, lib, func);
}
