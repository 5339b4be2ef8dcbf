/*
 * fake-tnfctl.c - a target that is a table, to test the shell without one.
 *
 * It stands in for libtnfctl, of which only the errors (error.c) are the real
 * ones.  The program's name is that of the table; prex
 * -p and -k take it from $PREX_FAKE.  One thing per line:
 *
 *	object PATH	the probes that follow belong to it
 *	probe ATTRS	an attribute string
 *	symbol NAME	can be connected
 *	later		from here on, objects come with a "dlopen" event
 *	event NAME	what tnfctl_continue() returns next: dlopen exit exec
 *			gone wait (for a signal)
 *	failing NAME	operations on this probe fail
 *	slow NAME	it turns out not to be fast once it is switched on
 *	going NAME	its object goes while fast probes are switched
 *	broken		a buffer cannot be written to
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/tnfctl.h>

#include "prex/target.h"

/* libtnfctl/error.c */
tnfctl_errcode_t tnfctl_error_set(tnfctl_errcode_t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

enum { MAX = 64 };

struct tnfctl_probe {
	unsigned long id;
	char	*attrs, *object;
	int	enabled, traced, present, failing, slow, going;
	char	*funcs[MAX];
	uintptr_t addrs[MAX];
	size_t	n_funcs;
};

struct tnfctl_handle {
	struct tnfctl_probe probes[MAX];
	size_t	n_probes;
	char	*symbols[MAX];
	size_t	n_symbols;
	char	*events[MAX];
	size_t	n_events, event;
	int	kernel, broken;
	char	*file;
	size_t	size;
	int	tracing, filter;
	pid_t	pids[MAX];
	int	n_pids;
	void	*(*create)(tnfctl_handle_t *, tnfctl_probe_t *);
};

static void
add_probe(tnfctl_handle_t *h, const char *attrs, const char *object, int later)
{
	struct tnfctl_probe *p = &h->probes[h->n_probes];

	p->id = h->n_probes++ + h->kernel;
	p->attrs = strdup(attrs);
	p->object = strdup(object);
	p->present = !later;
	p->traced = !h->kernel && strstr(attrs, "origin ") == NULL;
}

static void
read_line(tnfctl_handle_t *h, const char *word, const char *rest)
{
	static char object[256];
	static int later;
	size_t i;

	if (strcmp(word, "object") == 0)
		snprintf(object, sizeof object, "%s", rest);
	else if (strcmp(word, "probe") == 0)
		add_probe(h, rest, object, later);
	else if (strcmp(word, "symbol") == 0)
		h->symbols[h->n_symbols++] = strdup(rest);
	else if (strcmp(word, "event") == 0)
		h->events[h->n_events++] = strdup(rest);
	else if (strcmp(word, "recording") == 0) {
		h->file = strdup(rest);
		h->size = 1 << 20;
	} else if (strcmp(word, "broken") == 0)
		h->broken = 1;
	else if (strcmp(word, "later") == 0)
		later = 1;
	else
		for (i = 0; i < h->n_probes; i++) {
			if (strstr(h->probes[i].attrs, rest) == NULL)
				continue;
			h->probes[i].failing |= strcmp(word, "failing") == 0;
			h->probes[i].slow |= strcmp(word, "slow") == 0;
			h->probes[i].going |= strcmp(word, "going") == 0;
		}
}

static tnfctl_errcode_t
open_table(const char *path, int kernel, tnfctl_handle_t **ret)
{
	FILE *fp = path != NULL ? fopen(path, "r") : NULL;
	tnfctl_handle_t *h;
	char *line = NULL, *rest;
	size_t size = 0;

	if (fp == NULL)
		return TNFCTL_ERR_FILENOTFOUND;
	h = calloc(1, sizeof *h);
	h->kernel = kernel;
	while (getline(&line, &size, fp) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rest = line + strcspn(line, " ");
		if (*rest != '\0')
			*rest++ = '\0';
		read_line(h, line, rest);
	}
	free(line);
	fclose(fp);
	*ret = h;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_exec_open(const char *pgm, char *const *argv, char *const *envp,
    const char *preload, const char *path, tnfctl_handle_t **ret)
{
	return open_table(pgm, 0, ret);
}

tnfctl_errcode_t
tnfctl_pid_open(pid_t pid, tnfctl_handle_t **ret)
{
	if (pid == 1)
		return tnfctl_error_set(TNFCTL_ERR_ACCES,
		    "process 1: not ours: try it as root");
	if (pid == 2)
		return tnfctl_error_set(TNFCTL_ERR_NOLIBTNFPROBE, NULL);
	tnfctl_error_set(TNFCTL_ERR_NONE, pid == 4 ?
	    "process 4: somebody has stopped it: cont it" : NULL);
	return open_table(getenv("PREX_FAKE"), 0, ret);
}

tnfctl_errcode_t
tnfctl_pid_load(pid_t pid, tnfctl_handle_t **ret)
{
	return tnfctl_pid_open(pid, ret);
}

tnfctl_errcode_t
tnfctl_kernel_open(tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err = open_table(getenv("PREX_FAKE"), 1, ret);

	if (err == TNFCTL_ERR_NONE)
		(*ret)->filter = getenv("PREX_FAKE_FILTER") != NULL;
	return err;
}

tnfctl_errcode_t
tnfctl_kernel_look(tnfctl_handle_t **ret)
{
	return tnfctl_kernel_open(ret);
}

tnfctl_errcode_t
tnfctl_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	static const char *const names[] = {
		"default", "kill", "resume", "suspend"
	};
	size_t i;

	if (!h->kernel)
		fprintf(stderr, "closed: %s\n", names[op]);
	for (i = 0; i < h->n_probes; i++) {
		free(h->probes[i].attrs);
		free(h->probes[i].object);
	}
	for (i = 0; i < h->n_symbols; i++)
		free(h->symbols[i]);
	for (i = 0; i < h->n_events; i++)
		free(h->events[i]);
	free(h->file);
	free(h);
	return TNFCTL_ERR_NONE;
}

static void
load_later(tnfctl_handle_t *h)
{
	size_t i;

	for (i = 0; i < h->n_probes; i++)
		if (!h->probes[i].present) {
			h->probes[i].present = 1;
			if (h->create != NULL)
				h->create(h, &h->probes[i]);
		}
}

/* No signal may come between the message and the wait. */
static void
wait_for_signal(void)
{
	sigset_t block, old;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &old);
	fputs("target runs\n", stderr);
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

tnfctl_errcode_t
tnfctl_continue(tnfctl_handle_t *h, tnfctl_event_t *event,
    tnfctl_handle_t **child)
{
	const char *name = h->event < h->n_events ?
	    h->events[h->event++] : "exit";

	*event = TNFCTL_EVENT_EXIT;
	if (strcmp(name, "dlopen") == 0) {
		load_later(h);
		*event = TNFCTL_EVENT_DLOPEN;
	} else if (strcmp(name, "exec") == 0) {
		*event = TNFCTL_EVENT_EXEC;
	} else if (strcmp(name, "gone") == 0) {
		*event = TNFCTL_EVENT_TARGGONE;
	} else if (strcmp(name, "wait") == 0) {
		wait_for_signal();
		*event = TNFCTL_EVENT_EINTR;
	}
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_fate_get(tnfctl_handle_t *h, int *status)
{
	return TNFCTL_ERR_NOTARGET;
}

tnfctl_errcode_t
tnfctl_exec_follow(tnfctl_handle_t *h)
{
	return TNFCTL_ERR_BADARG;
}

tnfctl_errcode_t
tnfctl_ended_get(tnfctl_handle_t *h, tnfctl_ended_t *ret, size_t room,
    size_t *n)
{
	*n = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_continue_any(tnfctl_handle_t *const *h, size_t n, size_t *which,
    tnfctl_event_t *event, tnfctl_handle_t **child)
{
	*which = 0;
	return tnfctl_continue(h[0], event, child);
}

tnfctl_errcode_t
tnfctl_trace_attrs_get(tnfctl_handle_t *h, tnfctl_trace_attrs_t *a)
{
	memset(a, 0, sizeof *a);
	a->targ_pid = h->kernel ? 0 : 4711;
	a->trace_file_name = h->file;
	a->trace_buf_size = h->size;
	a->trace_min_size = 131072;
	a->trace_buf_state = h->size == 0 ? TNFCTL_BUF_NONE :
	    h->broken ? TNFCTL_BUF_BROKEN : TNFCTL_BUF_OK;
	a->trace_state = h->tracing;
	a->filter_state = h->filter;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_buffer_alloc(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	if (bytes < 131072)
		return TNFCTL_ERR_SIZETOOSMALL;
	if (bytes > 1u << 30)
		return TNFCTL_ERR_INTERNAL;
	free(h->file);
	h->file = file != NULL ? strdup(file) : NULL;
	h->size = (bytes + 4095) / 4096 * 4096;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_buffer_exchange(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	if (strstr(file, "/nosuch/") != NULL)
		return TNFCTL_ERR_FILENOTFOUND;
	printf("fake: records into %s\n", strrchr(file, '/') + 1);
	return tnfctl_buffer_alloc(h, file, bytes);
}

void
tnfctl_buffer_prepare(const char *file, unsigned int bytes)
{
}

tnfctl_errcode_t
tnfctl_buffer_fill_set(tnfctl_handle_t *h, boolean_t fill)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_setting_set(tnfctl_handle_t *h, const char *name, unsigned int value)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_setting_get(tnfctl_handle_t *h, const char *name, unsigned int *value)
{
	*value = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_lost_get(tnfctl_handle_t *h, tnfctl_lost_t *lost)
{
	const char *n = getenv("PREX_FAKE_LOST");

	memset(lost, 0, sizeof *lost);
	lost->total = n != NULL ? strtoul(n, NULL, 10) : 0;
	lost->cpu_max = lost->total / 2;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_rule_add(tnfctl_handle_t *h, const char *rule)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_rule_delete(tnfctl_handle_t *h, const char *rule)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_rule_apply(tnfctl_handle_t *h, void (*fn)(void *arg, const char *rule),
    void *arg)
{
	if (getenv("PREX_FAKE_RULE") != NULL)
		fn(arg, getenv("PREX_FAKE_RULE"));
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_mark(tnfctl_handle_t *h, const char *text, const char *by,
    const char *names, const int64_t *values)
{
	if (strlen(text) > 255)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "mark: it is longer than 255 bytes: say less");
	if (h->kernel && !h->tracing)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "mark: tracing is off");
	printf("fake: mark '%s'%s\n", text, strchr(by, '[') != NULL ? " by somebody" : "");
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_freeze(tnfctl_handle_t *h, const char *why)
{
	printf("fake: freeze '%s'\n", why);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_frozen_get(tnfctl_handle_t *h, int64_t *time, char *why, size_t size)
{
	*time = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_args(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *args)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG, "args: only USDT probes, functions and tracepoints have them");
}

tnfctl_errcode_t
tnfctl_probe_stacks(tnfctl_handle_t *h, tnfctl_probe_t *p, unsigned int kernel, unsigned int user)
{
	printf("fake: stacks of %u and %u frames\n", kernel, user);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_freezes(tnfctl_handle_t *h, tnfctl_probe_t *p, boolean_t freezes)
{
	if (freezes)
		printf("fake: it freezes\n");
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_pid_watch(pid_t pid, tnfctl_handle_t **ret)
{
	return TNFCTL_ERR_NOPROCESS;
}

tnfctl_errcode_t
tnfctl_import_buffer(tnfctl_handle_t *h, size_t size, size_t *ret)
{
	printf("fake: the kernel has a buffer\n");
	*ret = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_coverage_get(tnfctl_handle_t *h, tnfctl_span_t **ret, size_t *n)
{
	*ret = NULL;
	*n = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_buffer_dealloc(tnfctl_handle_t *h)
{
	if (h->tracing)
		return TNFCTL_ERR_BADDEALLOC;
	h->size = 0;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_trace_state_set(tnfctl_handle_t *h, boolean_t on)
{
	if (on && h->size == 0)
		return TNFCTL_ERR_NOBUF;
	h->tracing = on;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_state_set(tnfctl_handle_t *h, boolean_t on)
{
	h->filter = on;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_list_get(tnfctl_handle_t *h, pid_t **pids, int *n)
{
	*pids = malloc(sizeof h->pids);
	memcpy(*pids, h->pids, sizeof h->pids);
	*n = h->n_pids;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_list_add(tnfctl_handle_t *h, pid_t pid)
{
	if (pid > 99999)
		return TNFCTL_ERR_NOPROCESS;
	if (h->n_pids == MAX)
		return TNFCTL_ERR_ALLOCFAIL;
	h->pids[h->n_pids++] = pid;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_filter_list_follow(tnfctl_handle_t *h, pid_t pid)
{
	return tnfctl_filter_list_add(h, pid);
}

tnfctl_errcode_t
tnfctl_filter_list_delete(tnfctl_handle_t *h, pid_t pid)
{
	int i;

	if (pid > 99999)
		return TNFCTL_ERR_NOPROCESS;
	for (i = 0; i < h->n_pids; i++)
		if (h->pids[i] == pid)
			h->pids[i] = h->pids[--h->n_pids];
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_apply(tnfctl_handle_t *h, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err;
	size_t i;

	for (i = 0; i < h->n_probes; i++) {
		if (!h->probes[i].present)
			continue;
		err = op(h, &h->probes[i], arg);
		if (err != TNFCTL_ERR_NONE)
			return err;
	}
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_look(tnfctl_handle_t *h, tnfctl_probe_op_t op, void *arg)
{
	return tnfctl_probe_apply(h, op, arg);
}

tnfctl_errcode_t
tnfctl_probe_apply_ids(tnfctl_handle_t *h, unsigned long n, unsigned long *ids, tnfctl_probe_op_t op,
    void *arg)
{
	for (size_t i = 0; i < h->n_probes; i++)
		h->probes[i].present &= !h->probes[i].going;
	for (size_t i = 0; i < h->n_probes; i++)
		for (unsigned long k = 0; k < n; k++)
			if (h->probes[i].present && h->probes[i].id == ids[k])
				op(h, &h->probes[i], arg);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_register_funcs(tnfctl_handle_t *h,
    void *(*create)(tnfctl_handle_t *, tnfctl_probe_t *),
    void (*destroy)(void *))
{
	h->create = create;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_state_get(tnfctl_handle_t *h, tnfctl_probe_t *p,
    tnfctl_probe_state_t *st)
{
	memset(st, 0, sizeof *st);
	st->id = p->id;
	st->attr_string = p->attrs;
	st->enabled = p->enabled;
	st->traced = p->traced;
	st->obj_name = h->kernel ? NULL : p->object;
	st->func_names = (const char *const *)p->funcs;
	st->func_addrs = p->addrs;
	return TNFCTL_ERR_NONE;
}

/* The kernel has it from now on. */
static void
become_slow(struct tnfctl_probe *p)
{
	char *fast = strstr(p->attrs, "fast yes");

	if (p->slow && p->enabled && fast != NULL)
		memcpy(fast, "fast no:", strlen("fast no:"));
}

#define SETTER(name, member, value)					\
tnfctl_errcode_t							\
tnfctl_probe_##name(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored) \
{									\
	if (p->failing)							\
		return TNFCTL_ERR_INVALIDPROBE;				\
	p->member = value;						\
	become_slow(p);							\
	return TNFCTL_ERR_NONE;						\
}
SETTER(enable, enabled, 1)
SETTER(disable, enabled, 0)
SETTER(trace, traced, 1)
SETTER(untrace, traced, 0)

tnfctl_errcode_t
tnfctl_probe_disconnect_all(tnfctl_handle_t *h, tnfctl_probe_t *p,
    void *ignored)
{
	if (h->kernel)
		return TNFCTL_ERR_BADARG;
	p->n_funcs = 0;
	memset(p->funcs, 0, sizeof p->funcs);
	memset(p->addrs, 0, sizeof p->addrs);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_probe_connect(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *lib,
    const char *func)
{
	size_t i;

	for (i = 0; i < h->n_symbols; i++)
		if (strcmp(h->symbols[i], func) == 0)
			break;
	if (h->kernel || i == h->n_symbols || p->n_funcs == MAX - 1)
		return TNFCTL_ERR_BADARG;
	memmove(p->funcs + 1, p->funcs, p->n_funcs * sizeof p->funcs[0]);
	memmove(p->addrs + 1, p->addrs, p->n_funcs * sizeof p->addrs[0]);
	p->n_funcs++;
	/* One whose name is not known shows its address. */
	p->funcs[0] = strcmp(func, "nameless") == 0 ? (char *)"" :
	    h->symbols[i];
	p->addrs[0] = 0x1000 + i * 16;
	return TNFCTL_ERR_NONE;
}

void
leave_stopped(pid_t pid)
{
}
