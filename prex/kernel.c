/*
 * kernel.c - what the kernel-mode commands share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/kernel.h"
#include "prex/selector.h"
#include "prex/shell.h"

/*
 * Probes whose hooks are passed a few thousand times a second at most: they can
 * be on for ever.  A probe at a system call, a wake-up or every page fault is
 * not for this list.
 */
static const char *const always[] = {
	"thread_create", "thread_exit", "strategy", "biodone", "major_fault",
	"pagein", "pageout", "pageout_scan_start", "pageout_scan_end",
	"swapout_lwp", NULL
};

void
kernel_define_always(struct shell *sh)
{
	struct selectors *set = selectors_new();
	struct spec attr, value;

	for (size_t i = 0; always[i] != NULL; i++) {
		spec_init(&attr, "name", false);
		spec_init(&value, always[i], false);
		selectors_add(set, attr, value);
	}
	names_define_set(&sh->sets, "always", set);
	selectors_unref(set);
}

static bool
names_rawio(const struct selector *s)
{
	return strstr(s->value.text, "rawio") != NULL ||
	    strstr(s->value.text, "physio") != NULL;
}

void
kernel_ask_rawio(struct shell *sh, const struct selectors *l, bool on)
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

static tnfctl_errcode_t
note_recording(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;
	bool *records = arg;

	if (tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE &&
	    state.enabled && state.traced)
		*records = true;
	return TNFCTL_ERR_NONE;
}

void
kernel_check_probes(struct shell *sh)
{
	bool records = false;

	if (tnfctl_probe_apply(sh->target, note_recording, &records) ==
	    TNFCTL_ERR_NONE && !records)
		shell_warn(sh, "no probe is both enabled and traced: nothing "
		    "is recorded");
}
