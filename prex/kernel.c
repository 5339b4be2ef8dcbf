/*
 * kernel.c - what the kernel-mode commands share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/kernel.h"
#include "prex/shell.h"

static bool
names_rawio(const struct tnf_selector *s)
{
	return strstr(s->value.text, "rawio") != NULL ||
	    strstr(s->value.text, "physio") != NULL;
}

void
kernel_ask_rawio(struct shell *sh, const struct tnf_selectors *l, bool on)
{
	for (size_t i = 0; sh->mode == MODE_KERNEL && i < l->n; i++)
		if (names_rawio(&l->v[i])) {
			tnfctl_setting_set(sh->target, "rawio", on);
			return;
		}
}

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

static void
count_rule(void *arg, const char *rule)
{
	++*(int *)arg;
}

void
kernel_check_filter(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	pid_t *pids = NULL;
	unsigned except = 0;
	int n = 0, rules = 0;

	if (sh->mode != MODE_KERNEL || !kernel_attrs(sh, &attrs) ||
	    !attrs.filter_state)
		return;
	tnfctl_filter_rule_apply(sh->target, count_rule, &rules);
	tnfctl_setting_get(sh->target, "filter_except", &except);
	if (tnfctl_filter_list_get(sh->target, &pids, &n) == TNFCTL_ERR_NONE &&
	    n == 0 && rules == 0 && !except) {
		fflush(stdout);
		fputs("Warning: Process filtering on, "
		    "but pid filter list is empty\n", stderr);
	}
	free(pids);
}
