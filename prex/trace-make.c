/*
 * trace-make.c - the trace file is made when it is first needed.
 *
 * To look at the probes of a process must not give it a file, or another than
 * it has: name and size take effect when something can be recorded, at the first
 * command that changes a probe or lets the target run.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/maps.h"
#include "format/header.h"
#include "prex/family.h"
#include "prex/shell.h"
#include "prex/target.h"
#include "prex/trace.h"
#include "prex/util.h"

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

static char *
default_name(struct shell *sh, pid_t pid)
{
	const char *dir = getenv("TMPDIR");
	char *name;

	if (dir == NULL || *dir == '\0')
		dir = "/tmp";
	name = tnf_xasprintf("%s/trace-%ld", dir, (long)pid);
	if (strlen(name) < PATH_MAX)
		return name;
	free(name);
	shell_error(sh, ERROR_TARGET, "$TMPDIR too long");
	return NULL;
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

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/*
 * The target has a file.  Where another was named it gets that one, which
 * Solaris ignored; another size alone would overwrite what has been recorded.
 */
static bool
plan_exchange(struct shell *sh, const tnfctl_trace_attrs_t *attrs,
    const char *file, size_t size)
{
	const char *has = attrs->trace_file_name != NULL ?
	    attrs->trace_file_name : "";
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
		    size / 1024, (long)attrs->targ_pid, has,
		    attrs->trace_buf_size / 1024);
	return true;
}

static bool
trace_make_failed(struct shell *sh, tnfctl_errcode_t err)
{
	shell_tnfctl_error(sh, ERROR_TARGET, err,
	    "trouble initializing tracefile: ");
	return false;
}

bool
trace_plan(struct shell *sh, const char *file, size_t size)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(sh->target, &attrs);

	if (err == TNFCTL_ERR_NONE && attrs.trace_buf_state == TNFCTL_BUF_BROKEN)
		err = TNFCTL_ERR_BUFBROKEN;
	if (err != TNFCTL_ERR_NONE)
		return trace_make_failed(sh, err);
	if (attrs.trace_buf_state != TNFCTL_BUF_NONE)
		return plan_exchange(sh, &attrs, file, size);
	sh->plan.name = file != NULL ? trace_make_absolute(file) :
	    default_name(sh, attrs.targ_pid);
	sh->plan.size = file_size(size, attrs.trace_min_size);
	return sh->plan.name != NULL;
}

void
trace_plan_free(struct trace_plan *plan)
{
	free(plan->name);
	plan->name = NULL;
}

/* Who records into this file, as the file says; 0: none that we know of. */
static pid_t
writer_of(int fd)
{
	struct tnf_ext ext;

	if (pread(fd, &ext, sizeof ext, TNF_EXT_OFFSET) != sizeof ext ||
	    ext.magic != TNF_EXT_MAGIC || ext.kind != TNF_EXT_PROCESS || ext.pid <= 0)
		return 0;
	return (pid_t)ext.pid;
}

/* A file of that name is replaced.  A process that records into it goes on in a file
   without a name, which nobody can read. */
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
		/* The old file is complete with it. */
		trace_context_note(sh);
		trace_context_put(sh);
		err = tnfctl_buffer_exchange(sh->target, sh->plan.name,
		    sh->plan.size);
	} else {
		err = tnfctl_buffer_alloc(sh->target, sh->plan.name,
		    sh->plan.size);
	}
	/* Where it cannot have another file, it keeps the one that it has. */
	if (err == TNFCTL_ERR_NONE || sh->plan.exchange)
		trace_plan_free(&sh->plan);
	if (err != TNFCTL_ERR_NONE)
		return trace_make_failed(sh, err);
	target_check(sh);
	family_make_files(sh->family);
	return true;
}
