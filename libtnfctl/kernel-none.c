/*
 * kernel-none.c - the kernel as a target, where it was left out of the build.
 */
#include "libtnfctl/handle.h"
#include "libtnfctl/imports.h"

static tnfctl_errcode_t
left_out(void)
{
	return tnfctl_error_set(TNFCTL_ERR_FILENOTFOUND, "kernel: this build has no kernel "
	    "probes: build it with libbpf, clang and bpftool");
}

TNFCTL_API tnfctl_errcode_t
tnfctl_kernel_open(tnfctl_handle_t **ret)
{
	return left_out();
}

TNFCTL_API tnfctl_errcode_t
tnfctl_kernel_look(tnfctl_handle_t **ret)
{
	return left_out();
}

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_watch(pid_t pid, tnfctl_handle_t **ret)
{
	return left_out();
}

TNFCTL_API tnfctl_errcode_t
tnfctl_import_buffer(tnfctl_handle_t *h, size_t size, size_t *ret)
{
	return left_out();
}

/* No handle has any. */

tnfctl_errcode_t
tnfctl_imports_add(tnfctl_handle_t *h, const char *kind, const char *source)
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
tnfctl_import_set(tnfctl_handle_t *h, tnfctl_probe_t *p, enum probe_change change)
{
	return left_out();
}

tnfctl_errcode_t
tnfctl_import_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	return conditions == NULL ? TNFCTL_ERR_NONE : left_out();
}
