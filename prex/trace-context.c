/*
 * trace-context.c - what the trace file will tell about the process elsewhere.
 *
 * Once the target has ended nobody can ask for its threads and objects, so
 * they are noted down each time before it runs.  What was noted last is put
 * behind the trace before the target is let go: whoever reads the file when
 * prex has ended finds it there, also if the target has recorded nothing yet.
 * It is only an extra: what fails is left out.
 * Which file that is the target has said, so it has to be the target's own.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/open-regular.h"
#include "libtnf/context-write.h"
#include "common/maps.h"
#include "common/proc-status.h"
#include "prex/cmd.h"
#include "prex/shell.h"
#include "prex/trace.h"
#include "prex/util.h"

static struct context_writer noted;
static char *file;
static uint64_t file_size;
static uid_t owner;
static pid_t target, parent;
static pid_t inner;	/* the target, as it calls itself */
static struct stat mapped;

/* The user whose files the target makes, and whose child it is. */
static bool
note_owner(pid_t pid)
{
	long ppid = tnf_proc_status(pid, "PPid");
	long uid = tnf_proc_status_nth(pid, "Uid", PROC_ID_FS);

	parent = (pid_t)ppid;
	inner = (pid_t)tnf_thread_status_last(pid, pid, "NStgid");
	owner = (uid_t)uid;
	target = pid;
	return ppid >= 0 && uid >= 0;
}

/* The file that we have handed over may be ours, and not the target's; then the
   target must have it open.  All zero: it has not, or nobody may know. */
static void
note_mapped(pid_t pid)
{
	struct stat named;

	mapped = stat(file, &named) == 0 && tnf_maps_write_file(pid, &named) ? named :
	    (struct stat){ .st_ino = 0 };
}

static bool
is_the_targets(const struct stat *st)
{
	return st->st_nlink == 1 && (st->st_uid == owner ||
	    (st->st_uid == geteuid() && st->st_ino == mapped.st_ino &&
	    st->st_dev == mapped.st_dev));
}

static void
trace_context_forget(void)
{
	context_free(&noted);
	free(file);
	file = NULL;
}

void
trace_context_note(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (sh->mode != MODE_USER ||
	    tnfctl_trace_attrs_get(sh->target, &attrs) != TNFCTL_ERR_NONE ||
	    attrs.trace_file_name == NULL || !note_owner(attrs.targ_pid))
		return;
	trace_context_forget();
	file = tnf_xstrdup(attrs.trace_file_name);
	file_size = attrs.trace_buf_size;
	note_mapped(attrs.targ_pid);
	context_begin(&noted);
	context_host(&noted);
	context_tasks(&noted, attrs.targ_pid);
	context_objects(&noted, attrs.targ_pid);
}

/* Also threads that were born after the note was made. */
static void
note_ended(struct shell *sh)
{
	tnfctl_ended_t *all;
	size_t i, n = 0;

	if (tnfctl_ended_get(sh->target, NULL, 0, &n) != TNFCTL_ERR_NONE ||
	    n == 0)
		return;
	all = tnf_xreallocarray(NULL, n, sizeof *all);
	if (tnfctl_ended_get(sh->target, all, n, &n) == TNFCTL_ERR_NONE)
		for (i = 0; i < n; i++) {
			context_ended(&noted, all[i].tid, target, parent,
			    all[i].name);
			context_inner(&noted, all[i].tid, target, all[i].inner,
			    inner);
		}
	free(all);
}

void
trace_context_put(struct shell *sh)
{
	struct stat st;
	int fd;

	if (file == NULL)
		return;
	fd = tnf_open_regular(file, O_RDWR | O_NOFOLLOW, &st);
	if (fd >= 0) {
		note_ended(sh);
		if (is_the_targets(&st))
			context_append(&noted, fd, file_size);
		close(fd);
	}
	trace_context_forget();
}
