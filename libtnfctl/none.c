/*
 * none.c - the answers of a library without fast probes, or without any that the kernel hits.
 *
 * Fast probes are for one kind of machine; the kernel's are left out where a build lacks what
 * they need.
 */
#include "libtnfctl/fast.h"

static const char none[] = "this machine has no fast probes";

const char *
tnfctl_fast_none(tnfctl_handle_t *h, bool run)
{
	return none;
}

bool
tnfctl_fast_any(const tnfctl_handle_t *h)
{
	return false;
}

tnfctl_errcode_t
tnfctl_fast_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	return tnfctl_wrong_kind(none);
}

tnfctl_errcode_t
tnfctl_fast_ready(tnfctl_handle_t *h, tnfctl_probe_t *p, bool others)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_fast_where(tnfctl_handle_t *h, const tnfctl_probe_t *p, const char *conditions)
{
	return tnfctl_wrong_kind(none);
}

void
tnfctl_fast_set_many(tnfctl_handle_t *h, tnfctl_probe_t **v, size_t n, bool on)
{
}

const char *
tnfctl_fast_return_none(tnfctl_handle_t *h, const char *function)
{
	return none;
}

void
tnfctl_fast_give_up(tnfctl_probe_t *p, const char *why)
{
}

void
tnfctl_fast_settle(tnfctl_handle_t *h)
{
}

void
tnfctl_fast_free(struct fast *f)
{
}

void
tnfctl_room_free(struct fast_room *r)
{
}

tnfctl_probe_t *
tnfctl_fast_at(const tnfctl_handle_t *h, uintptr_t address)
{
	return NULL;
}

void
tnfctl_fast_placed(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
}

struct fast *
tnfctl_fast_function(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    uint64_t address, const char **why)
{
	*why = none;
	return NULL;
}

struct fast *
tnfctl_fast_usdt(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    const struct usdt_probe *p, const char **why)
{
	*why = none;
	return NULL;
}

#ifndef TNF_KERNEL_PROBES

static tnfctl_errcode_t
left_out(void)
{
	return tnfctl_error_set(TNFCTL_ERR_FILENOTFOUND, "kernel: this build has no kernel "
	    "probes: build it with libbpf, clang and bpftool");
}

#define LEFT_OUT(name, ...)						\
TNFCTL_API tnfctl_errcode_t						\
name(__VA_ARGS__)							\
{									\
	return left_out();						\
}

LEFT_OUT(tnfctl_kernel_open, tnfctl_handle_t **ret)
LEFT_OUT(tnfctl_kernel_look, tnfctl_handle_t **ret)
LEFT_OUT(tnfctl_import_buffer, tnfctl_handle_t *h, size_t size, size_t *ret)

/* There are no handles on the kernel. */
#define NOT_OF_A_PROCESS(why, name, ...)				\
TNFCTL_API tnfctl_errcode_t						\
name(tnfctl_handle_t *h, ##__VA_ARGS__)					\
{									\
	return tnfctl_wrong_kind(why);					\
}

NOT_OF_A_PROCESS(NULL, tnfctl_buffer_dealloc)
NOT_OF_A_PROCESS(NULL, tnfctl_trace_state_set, boolean_t on)
NOT_OF_A_PROCESS(NULL, tnfctl_filter_state_set, boolean_t on)
NOT_OF_A_PROCESS(NULL, tnfctl_filter_list_get, pid_t **ret, int *ret_n)
NOT_OF_A_PROCESS(NULL, tnfctl_filter_list_add, pid_t pid)
NOT_OF_A_PROCESS(NULL, tnfctl_filter_list_delete, pid_t pid)
NOT_OF_A_PROCESS(ONLY_FILTER, tnfctl_filter_list_follow, pid_t pid)
NOT_OF_A_PROCESS(ONLY_FILTER, tnfctl_filter_rule_add, const char *rule)
NOT_OF_A_PROCESS(ONLY_FILTER, tnfctl_filter_rule_delete, const char *rule)
NOT_OF_A_PROCESS(ONLY_FILTER, tnfctl_filter_rule_apply, void (*fn)(void *, const char *), void *arg)
NOT_OF_A_PROCESS(ONLY_LOSSES, tnfctl_lost_get, tnfctl_lost_t *ret)
NOT_OF_A_PROCESS(ONLY_CPUS, tnfctl_coverage_get, tnfctl_span_t **ret, size_t *ret_n)
NOT_OF_A_PROCESS(ONLY_SETTINGS, tnfctl_setting_set, const char *name, unsigned int value)
NOT_OF_A_PROCESS(ONLY_SETTINGS, tnfctl_setting_get, const char *name, unsigned int *ret)
NOT_OF_A_PROCESS(ONLY_FROZEN, tnfctl_frozen_get, int64_t *time, char *why, size_t size)
NOT_OF_A_PROCESS(ONLY_ARGS, tnfctl_probe_args, tnfctl_probe_t *p, const char *args)
NOT_OF_A_PROCESS(ONLY_STACKS, tnfctl_probe_stacks, tnfctl_probe_t *p, unsigned int kernel,
    unsigned int user)

/* No handle has imported probes. */

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_freezes(tnfctl_handle_t *h, tnfctl_probe_t *p, boolean_t freezes)
{
	return freezes ? tnfctl_wrong_kind(ONLY_FREEZES) : TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	return conditions == NULL ? TNFCTL_ERR_NONE : tnfctl_wrong_kind(ONLY_WHERE);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_imports_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	return left_out();
}

tnfctl_errcode_t
tnfctl_imports_begin(tnfctl_handle_t *h)
{
	return left_out();
}

tnfctl_errcode_t
tnfctl_import_mark(tnfctl_handle_t *h, const char *text, const char *by, const char *names,
    const int64_t *values)
{
	return left_out();
}

tnfctl_errcode_t
tnfctl_imports_refresh(tnfctl_handle_t *h)
{
	return TNFCTL_ERR_NONE;
}

void
tnfctl_imports_release(tnfctl_handle_t *h)
{
}

void
tnfctl_imports_free(tnfctl_handle_t *h)
{
}

void
tnfctl_import_free(struct import *i)
{
}

tnfctl_errcode_t
tnfctl_import_state(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *ret)
{
	return left_out();
}

tnfctl_errcode_t
tnfctl_import_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	return left_out();
}

void
tnfctl_import_decide(tnfctl_handle_t *h, tnfctl_probe_t *p, bool run)
{
}

#endif
