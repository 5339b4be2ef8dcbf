/*
 * kernel.c - what the kernel-mode commands share.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "kernel.h"
#include "shell.h"

bool
kernel_attrs(struct shell *sh, tnfctl_trace_attrs_t *attrs)
{
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(sh->target, attrs);

	if (err == TNFCTL_ERR_NONE)
		return true;
	shell_tnfctl_error(sh, ERROR_PLAIN, err,
	    "error on checking trace attributes : ");
	return false;
}

void
kernel_check_filter(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	pid_t *pids = NULL;
	int n = 0;

	if (sh->mode != MODE_KERNEL || !kernel_attrs(sh, &attrs) ||
	    !attrs.filter_state)
		return;
	if (tnfctl_filter_list_get(sh->target, &pids, &n) == TNFCTL_ERR_NONE &&
	    n == 0) {
		fflush(stdout);
		fputs("Warning: Process filtering on, "
		    "but pid filter list is empty\n", stderr);
	}
	free(pids);
}
