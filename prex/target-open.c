/*
 * target-open.c - get hold of the target, and what a session needs of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/family.h"
#include "prex/kernel.h"
#include "prex/parse.h"
#include "prex/shell.h"
#include "prex/target.h"
#include "prex/trace-context.h"
#include "prex/trace-make.h"
#include "prex/util.h"

static bool
target_open_opened(struct shell *sh, tnfctl_errcode_t err, const char *what)
{
	if (err == TNFCTL_ERR_NONE)
		return true;
	shell_tnfctl_error(sh, ERROR_TARGET, err, "trouble %s: ", what);
	putc('\n', stderr);
	return false;
}

static bool
target_open_attach(struct shell *sh, pid_t pid)
{
	tnfctl_errcode_t err = tnfctl_pid_open(pid, &sh->target);

	if (err == TNFCTL_ERR_NONE)
		shell_tell_detail(sh);
	if (err != TNFCTL_ERR_NOLIBTNFPROBE)
		return target_open_opened(sh, err, "attaching to target process");
	shell_error(sh, ERROR_TARGET,
	    "missing symbols, is libtnfprobe.so loaded in target?");
	shell_tell_detail(sh);
	putc('\n', stderr);
	return false;
}

static bool
set_all(struct shell *sh, const struct target_options *o)
{
	tnfctl_errcode_t err;
	size_t i;

	for (i = 0; i < o->n_settings; i++) {
		err = tnfctl_setting_set(sh->target, o->settings[i].name,
		    o->settings[i].value);
		if (!target_open_opened(sh, err, "in a setting of the kernel"))
			return false;
	}
	return true;
}

/* Who may not read what tracepoints there are has the catalogue. */
static bool
target_open_kernel(struct shell *sh)
{
	if (!target_open_opened(sh, tnfctl_kernel_open(&sh->target),
	    "attaching to the kernel"))
		return false;
	tnfctl_import_add(sh->target, "tracepoint", NULL);
	return true;
}

bool
target_open(struct shell *sh, const struct target_options *o)
{
	if (o->kernel)
		return target_open_kernel(sh) && set_all(sh, o);
	if (o->pid != 0)
		return target_open_attach(sh, o->pid);
	sh->started = true;
	return target_open_opened(sh, tnfctl_exec_open(o->argv[0], o->argv, NULL,
	    o->preload, NULL, &sh->target), "creating target process");
}

static void
define_names(struct shell *sh)
{
	struct selectors *all = selectors_new();
	struct spec attr, value;

	spec_init(&attr, "keys", false);
	spec_init(&value, ".*", true);
	selectors_add(all, attr, value);
	names_define_set(&sh->sets, "all", all);
	selectors_unref(all);
	if (sh->mode == MODE_USER)
		names_define_fcn(&sh->fcns, "debug", "tnf_probe_debug");
	else
		kernel_define_always(sh);
}

bool
target_set_up(struct shell *sh, const struct target_options *o)
{
	tnfctl_errcode_t err;

	if (sh->mode == MODE_USER) {
		sh->file_named = o->file != NULL;
		if (!trace_plan(sh, o->file, sh->buffer_size))
			return false;
		target_check(sh);
		trace_context_note(sh);
	}
	define_names(sh);
	history_begin(sh);
	sh->follow_exec = o->follow_exec;
	if (o->follow_fork)
		sh->family = family_new(sh);
	err = history_follow(sh->target);
	if (err == TNFCTL_ERR_NONE)
		return true;
	shell_tnfctl_error(sh, ERROR_TARGET, err, "error in probe discovery : ");
	return false;
}
