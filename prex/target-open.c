/*
 * target-open.c - open the target, and get the facts that a session needs of it.
 */
#include "prex/shell.h"

static bool
target_open_opened(struct shell *sh, tnfctl_errcode_t err, const char *what)
{
	if (shell_ok(sh, ERROR_TARGET, err, "trouble %s: ", what))
		return true;
	putc('\n', stderr);
	return false;
}

/* Opens a process that has no probes of ours, or cannot get our library, for probes that the
   kernel hits: its functions at least.  The process is left alone then.  If it has probes of
   ours and cannot get our library, functions alone do not count: the user wants those probes. */
static bool
target_open_watch(struct shell *sh, pid_t pid, tnfctl_errcode_t why, bool children)
{
	if (tnfctl_pid_watch(pid, &sh->target) != TNFCTL_ERR_NONE)
		return false;
	if (why == TNFCTL_ERR_NOTLOADABLE && !target_has_probes(sh)) {
		tnfctl_close(sh->target, TNFCTL_TARG_DEFAULT);
		sh->target = NULL;
		return false;
	}
	sh->watched = true;
	sh->may_load = !sh->options->no_fast && why == TNFCTL_ERR_NOLIBTNFPROBE;
	shell_say(sh, "process %ld has no probes of TNF, but %s: it is not stopped%s", (long)pid,
	    target_has_probes(sh) ? "others (USDT)" : "functions (enable function=NAME)",
	    sh->may_load ? " until one is switched on" :
	    ", and what they record goes to the kernel's buffer");
	if (!children && why == TNFCTL_ERR_NOLIBTNFPROBE && family_exists(pid))
		shell_say(sh, "process %ld has children: if they have probes of TNF, these are taken "
		    "by --children", (long)pid);
	return true;
}

void
target_imports(struct shell *sh)
{
	if (!sh->options->no_fast)
		tnfctl_import_add(sh->target, "fast", sh->options->fast_returns ? "returns" : NULL);
	tnfctl_import_add(sh->target, "usdt", NULL);
}

/* True if the error means that the process has no libtnfprobe. */
static bool
is_without(tnfctl_errcode_t err)
{
	return err == TNFCTL_ERR_NOLIBTNFPROBE || err == TNFCTL_ERR_NOTLOADABLE;
}

static bool
target_open_attach(struct shell *sh, pid_t pid, bool children)
{
	tnfctl_errcode_t err = tnfctl_pid_open(pid, &sh->target);

	if (children && is_without(err) && family_open_first(sh, pid))
		err = TNFCTL_ERR_NONE;
	if (is_without(err) || err == TNFCTL_ERR_NOTDYNAMIC) {
		if (target_open_watch(sh, pid, err, children))
			return true;
		/* Tries again, for the reason, which is to be told after all. */
		err = tnfctl_pid_open(pid, &sh->target);
	}
	if (err == TNFCTL_ERR_NONE) {
		shell_tell_detail(sh);
		target_imports(sh);
		return true;
	}
	if (!is_without(err))
		return target_open_opened(sh, err, "attaching to target process");
	shell_error(sh, ERROR_TARGET, "missing symbols, is libtnfprobe.so loaded in target?");
	shell_tell_detail(sh);
	putc('\n', stderr);
	return false;
}

static bool
set_all(struct shell *sh, const struct target_options *o)
{
	tnfctl_errcode_t err;

	for (size_t i = 0; i < o->n_settings; i++) {
		err = strchr(o->settings[i].name, '=') != NULL ?
		    tnfctl_filter_rule_add(sh->target, o->settings[i].name) :
		    tnfctl_setting_set(sh->target, o->settings[i].name, o->settings[i].value);
		if (!target_open_opened(sh, err, "in a setting of the kernel"))
			return false;
	}
	return true;
}

/* Opens the kernel only to look: a user who cannot switch probes on can list them. */
static tnfctl_errcode_t
target_open_look(struct shell *sh)
{
	tnfctl_errcode_t err;

	shell_tell_detail(sh);
	err = tnfctl_kernel_look(&sh->target);
	if (err != TNFCTL_ERR_NONE)
		return err;
	if (tnfctl_import_add(sh->target, "tracepoint", NULL) != TNFCTL_ERR_NONE)
		shell_tell_detail(sh);
	shell_say(sh, "without that, probes can be listed and imported, not enabled");
	return TNFCTL_ERR_NONE;
}

static bool
target_open_kernel(struct shell *sh)
{
	tnfctl_errcode_t err = tnfctl_kernel_open(&sh->target);

	if (err == TNFCTL_ERR_ACCES)
		err = target_open_look(sh);
	else if (err == TNFCTL_ERR_NONE)
		tnfctl_import_add(sh->target, "tracepoint", NULL);
	return target_open_opened(sh, err, "attaching to the kernel");
}

bool
target_open(struct shell *sh, const struct target_options *o)
{
	sh->options = o;
	if (o->kernel)
		return target_open_kernel(sh) && set_all(sh, o);
	if (o->pid != 0)
		return target_open_attach(sh, o->pid, o->children);
	sh->started = true;
	/* A user who types commands takes longer than the room does, and may only want to look. */
	if (!sh->interactive)
		trace_prepare(o->file, sh->buffer_size);
	if (!target_open_opened(sh, tnfctl_exec_open(o->argv[0], o->argv, NULL,
	    o->preload, NULL, &sh->target), "creating target process")) {
		tnfctl_buffer_prepare(NULL, 0);
		return false;
	}
	target_imports(sh);
	return true;
}

static void
define_names(struct shell *sh)
{
	names_define_known(&sh->sets, "all");
	if (sh->mode == MODE_USER)
		names_define_fcn(&sh->fcns, "debug", "tnf_probe_debug");
	else {
		/* Probes that cost next to nothing on a busy machine; those that tell why a
		   thread waits. */
		names_define_known(&sh->sets, "always");
		names_define_known(&sh->sets, "why");
	}
}

/* Tells which options have no effect, as the process is left alone. */
static void
tell_watched(const struct shell *sh, const struct target_options *o)
{
	if (!sh->watched || sh->may_load)
		return;
	if (o->file != NULL)
		shell_say(sh, "-o %s: no such file is made: tnfxtract copies the kernel's buffer",
		    o->file);
	if (o->children || o->follow_fork)
		shell_say(sh, "process %ld: its children do not hit these probes: for all processes "
		    "of its program: prex -k, import '/proc/%ld/exe'", (long)o->pid, (long)o->pid);
}

static bool
prepare_trace(struct shell *sh, const struct target_options *o)
{
	sh->file_named = o->file != NULL;
	if (o->fill)
		tnfctl_buffer_fill_set(sh->target, B_TRUE);
	if (!sh->watched && !trace_plan(sh, o->file, sh->buffer_size))
		return false;
	target_check(sh);
	trace_context_note(sh);
	return true;
}

static bool
follow(struct shell *sh, const struct target_options *o)
{
	tnfctl_errcode_t err;

	if (!sh->watched && (o->follow_fork || o->children))
		sh->family = family_new(sh);
	err = history_follow(sh, sh->target);
	if (err == TNFCTL_ERR_NONE && sh->family != NULL && o->children)
		family_adopt(sh->family, o->pid, o->file, o->fill);
	return shell_ok(sh, ERROR_TARGET, err, "error in probe discovery : ");
}

bool
target_set_up(struct shell *sh, const struct target_options *o)
{
	sh->fill = o->fill;
	tell_watched(sh, o);
	if (sh->mode == MODE_USER && !prepare_trace(sh, o))
		return false;
	define_names(sh);
	sh->follow_exec = o->follow_exec;
	return follow(sh, o);
}

bool
target_load(struct shell *sh)
{
	const struct target_options *o = sh->options;
	tnfctl_handle_t *loaded;
	tnfctl_errcode_t err;

	if (!sh->may_load)
		return true;
	sh->may_load = false;
	if ((err = tnfctl_pid_load(o->pid, &loaded)) != TNFCTL_ERR_NONE) {
		shell_say(sh, "process %ld is not stopped, and what its probes record goes to the kernel's "
		    "buffer: %s", (long)o->pid, *tnfctl_error_detail() != '\0' ? tnfctl_error_detail() :
		    tnfctl_strerror(err));
		tell_watched(sh, o);
		return true;
	}
	shell_tell_detail(sh);
	tnfctl_close(sh->target, TNFCTL_TARG_DEFAULT);
	sh->target = loaded;
	sh->watched = false;
	target_imports(sh);
	if (!prepare_trace(sh, o) || !follow(sh, o))
		return false;
	if (sh->plan.name != NULL)
		shell_say(sh, "process %ld has libtnfprobe now, and records into %s", (long)o->pid, sh->plan.name);
	return true;
}
