/*
 * trace.c - plans the trace file, makes and completes it, and looks for it in the end.
 */
#include "common/files.h"
#include "libtnf/context-write.h"
#include "prex/shell.h"

/*
 * A user who only looks at probes must not make the process record into a file, or into another
 * file than before.  So name and size take effect when events can be recorded: at the first
 * command that changes a probe or lets the target run.
 */
enum { DEFAULT_SIZE = 4 * 1024 * 1024 };

/* The caller frees it. */
static char *
trace_make_absolute(const char *name)
{
	char *dir, *path;

	if (*name == '/' || *name == '\0' || (dir = getcwd(NULL, 0)) == NULL)
		return tnf_xstrdup(name);
	path = tnf_xasprintf("%s%s%s", dir, strcmp(dir, "/") == 0 ? "" : "/", name);
	free(dir);
	return path;
}

char *
trace_default_name(pid_t pid)
{
	const char *dir = getenv("TMPDIR");

	return tnf_xasprintf("%s/trace-%ld", dir != NULL && *dir != '\0' ? dir : "/tmp", (long)pid);
}

static size_t
file_size(size_t given, size_t min)
{
	if (given == 0)
		return DEFAULT_SIZE;
	if (given >= min)
		return given;
	fflush(stdout);
	fprintf(stderr, "specified tracefile size smaller then minimum; "
	    "setting to %zu kbytes\n", min / 1024);
	return min;
}

static bool
same_file(const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && stat_same(&x, &y));
}

/*
 * Plans for a target that has a file.  If the user has named another file, the target gets that
 * file; Solaris ignored the name.  Another size without another name is refused with a warning,
 * because the file would have to be made anew, and its events would be lost.
 */
static bool
plan_exchange(struct shell *sh, const tnfctl_trace_attrs_t *attrs, const char *file, size_t size)
{
	const char *has = attrs->trace_file_name != NULL ? attrs->trace_file_name : "";
	char *name = file != NULL ? trace_make_absolute(file) : NULL;

	if (name != NULL && !same_file(name, has)) {
		sh->plan.name = name;
		sh->plan.size = size == 0 ? attrs->trace_buf_size :
		    file_size(size, attrs->trace_min_size);
		sh->plan.exchange = true;
		return true;
	}
	free(name);
	if (size != 0 && size != attrs->trace_buf_size)
		shell_warn(sh, "-s %zu: process %ld keeps its trace file: %s "
		    "has %zu kbytes: another size needs another file (-o)",
		    size / 1024, (long)attrs->targ_pid, has, attrs->trace_buf_size / 1024);
	return true;
}

static bool
trace_make_ok(struct shell *sh, tnfctl_errcode_t err)
{
	return shell_ok(sh, ERROR_TARGET, err, "trouble initializing tracefile: ");
}

void
trace_prepare(const char *file, size_t size)
{
	autofree char *name = file != NULL ? tnf_xstrdup(file) : trace_default_name(0);

	tnfctl_buffer_prepare(name, (unsigned)(size != 0 ? size : DEFAULT_SIZE));
}

bool
trace_plan(struct shell *sh, const char *file, size_t size)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(sh->target, &attrs);
	bool fits;

	if (err == TNFCTL_ERR_NONE && attrs.trace_buf_state == TNFCTL_BUF_BROKEN)
		err = TNFCTL_ERR_BUFBROKEN;
	if (!trace_make_ok(sh, err))
		return false;
	if (attrs.trace_buf_state != TNFCTL_BUF_NONE)
		return plan_exchange(sh, &attrs, file, size);
	sh->plan.name = file != NULL ? trace_make_absolute(file) : trace_default_name(attrs.targ_pid);
	fits = file != NULL || strlen(sh->plan.name) < PATH_MAX;
	if (!fits)
		shell_error(sh, ERROR_TARGET, "$TMPDIR too long");
	sh->plan.size = file_size(size, attrs.trace_min_size);
	return fits;
}

void
trace_plan_free(struct trace_plan *plan)
{
	free(plan->name);
	plan->name = NULL;
}

/* The process that records into this file, as the file says; 0: the file does not say. */
static pid_t
writer_of(int fd)
{
	struct tnf_ext ext;

	if (pread(fd, &ext, sizeof ext, TNF_EXT_OFFSET) != sizeof ext ||
	    ext.magic != TNF_EXT_MAGIC || ext.kind != TNF_EXT_PROCESS || ext.pid <= 0)
		return 0;
	return (pid_t)ext.pid;
}

/* Warns if the new file replaces one of that name.  A process that records into the old one
   goes on in a file without a name, which nobody can read. */
static void
warn_replaced(struct shell *sh)
{
	int fd = open(sh->plan.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	pid_t pid;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (pid = writer_of(fd)) != 0 &&
	    tnf_maps_write_file(pid, &st))
		shell_warn(sh, "%s: process %ld records into it: that trace has lost its name "
		    "to the new one: prex -p %ld -o FILE -c quit gives it another file",
		    sh->plan.name, (long)pid, (long)pid);
	close(fd);
}

bool
trace_make(struct shell *sh)
{
	tnfctl_errcode_t err;

	if (sh->plan.name == NULL) {
		family_make_files(sh->family);
		return true;
	}
	warn_replaced(sh);
	if (sh->plan.exchange) {
		/* The process leaves its old file, so the context is written there now. */
		trace_context_note(sh);
		trace_context_put(sh);
		err = tnfctl_buffer_exchange(sh->target, sh->plan.name, sh->plan.size);
	} else {
		err = tnfctl_buffer_alloc(sh->target, sh->plan.name, sh->plan.size);
	}
	/* If the exchange has failed the target keeps its file, and we do not try again. */
	if (err == TNFCTL_ERR_NONE || sh->plan.exchange)
		trace_plan_free(&sh->plan);
	if (!trace_make_ok(sh, err))
		return false;
	target_check(sh);
	family_make_files(sh->family);
	return true;
}

/*
 * The context of the trace: once the target has ended the kernel does not tell its threads and
 * objects any more, so prex notes them each time before the target runs.  It puts the last
 * notes behind the trace before it lets the target go: a reader finds them there when prex
 * has ended, also if the target has recorded nothing yet.  The context is only an extra:
 * facts that cannot be had are left out.  The target tells the file's name, and prex must not
 * write to a file of somebody else for it.  tnf_its_file_open() checks this, and can do so only
 * while the target lives.
 */
static struct context_writer noted;
static int file = -1;	/* -1: there is none, or it is not the target's */
static uint64_t noted_size;
static pid_t target, parent;
static pid_t inner;	/* the target, as it calls itself */

/* Notes the parent of the process, and the pid that it has itself; false: it has gone. */
static bool
note_parent(pid_t pid)
{
	long ppid = tnf_proc_status(pid, "PPid");

	parent = (pid_t)ppid;
	inner = (pid_t)tnf_thread_status_last(pid, pid, "NStgid");
	target = pid;
	return ppid >= 0;
}

static void
trace_context_forget(void)
{
	context_free(&noted);
	if (file >= 0)
		close(file);
	file = -1;
}

void
trace_context_note(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	struct stat st;

	if (sh->mode != MODE_USER ||
	    tnfctl_trace_attrs_get(sh->target, &attrs) != TNFCTL_ERR_NONE ||
	    attrs.trace_file_name == NULL || !note_parent(attrs.targ_pid))
		return;
	trace_context_forget();
	if ((file = tnf_its_file_open(target, attrs.trace_file_name, O_RDWR, &st)) < 0)
		return;
	noted_size = attrs.trace_buf_size;
	context_begin(&noted);
	context_host(&noted);
	context_tasks(&noted, attrs.targ_pid);
	context_objects(&noted, attrs.targ_pid);
}

/* Notes threads that have ended, also those that were born after the last note. */
static void
note_ended(struct shell *sh)
{
	size_t i, n = 0;

	if (tnfctl_ended_get(sh->target, NULL, 0, &n) != TNFCTL_ERR_NONE || n == 0)
		return;
	autofree tnfctl_ended_t *all = tnf_xreallocarray(NULL, n, sizeof *all);
	if (tnfctl_ended_get(sh->target, all, n, &n) == TNFCTL_ERR_NONE)
		for (i = 0; i < n; i++) {
			context_ended(&noted, all[i].tid, target, parent, all[i].name);
			context_inner(&noted, all[i].tid, target, all[i].inner, inner);
		}
}

void
trace_context_put(struct shell *sh)
{
	if (file < 0)
		return;
	note_ended(sh);
	context_append(&noted, file, noted_size);
	trace_context_forget();
}

/*
 * A target that cannot use its file goes on without one, and one that has ended cannot be
 * asked any more.  prex says so when it ends, so that the user does not first learn it from
 * tnfdump.
 */
static bool there, enabled;

/* Looks at the target's trace file; false: there is none, or not yet. */
static bool
trace_file_look(struct shell *sh, tnfctl_trace_attrs_t *ret)
{
	return sh->mode == MODE_USER && sh->target != NULL &&
	    tnfctl_trace_attrs_get(sh->target, ret) == TNFCTL_ERR_NONE &&
	    ret->trace_file_name != NULL;
}

static tnfctl_errcode_t
note_enabled(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;

	if (tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE && state.enabled)
		enabled = true;
	return TNFCTL_ERR_NONE;
}

void
trace_file_note(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	struct stat st;

	if (!trace_file_look(sh, &attrs))
		return;
	there |= lstat(attrs.trace_file_name, &st) == 0;
	tnfctl_probe_apply(sh->target, note_enabled, NULL);
}

/* True if the file that the target names is still unused: a writer that sets a file up stores the
   magic last. */
static bool
trace_file_is_unused(const char *name)
{
	struct stat st;
	uint32_t magic;
	autoclose int fd = tnf_open_regular(name, O_RDONLY | O_NOFOLLOW, &st);

	if (fd < 0)
		return false;
	return read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == 0;
}

static const char *
what_happened(struct shell *sh, const tnfctl_trace_attrs_t *attrs)
{
	struct stat st;

	if (lstat(attrs->trace_file_name, &st) < 0)
		return errno != ENOENT ? NULL :
		    "it was removed while we ran: what it held is lost";
	if (!S_ISREG(st.st_mode))
		return "it was replaced while we ran: what it held is lost";
	if ((uint64_t)st.st_size < attrs->trace_buf_size)
		return "it was cut off while we ran: try tnfdump --salvage";
	if (sh->gone && enabled && trace_file_is_unused(attrs->trace_file_name))
		return "no event was recorded: no probe that is on was "
		    "reached, or the target had no descriptor or no memory left to map the file";
	return NULL;
}

void
trace_file_check(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	const char *fact;

	if (!there || !trace_file_look(sh, &attrs))
		return;
	fact = what_happened(sh, &attrs);
	if (fact != NULL)
		shell_say(sh, "%s: %s", attrs.trace_file_name, fact);
}
