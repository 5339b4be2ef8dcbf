/*
 * trace-context.c - what the trace file will tell about the process elsewhere.
 *
 * Once the target has ended nobody can ask for its threads and objects, so
 * they are noted down each time before it runs.  What was noted last is put
 * behind the trace before the target is let go: whoever reads the file when
 * prex has ended finds it there, also if the target has recorded nothing yet.
 * It is only an extra: what fails is left out.
 * Which file that is the target has said, so it has to be the target's own, and is opened
 * while the target is there to be asked.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/its-file.h"
#include "libtnf/context-write.h"
#include "common/proc-status.h"
#include "prex/cmd.h"
#include "prex/shell.h"
#include "prex/trace.h"
#include "prex/util.h"

static struct context_writer noted;
static int file = -1;	/* or none that is the target's */
static uint64_t file_size;
static pid_t target, parent;
static pid_t inner;	/* the target, as it calls itself */

/* Whose child it is. */
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
	file_size = attrs.trace_buf_size;
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
	if (file < 0)
		return;
	note_ended(sh);
	context_append(&noted, file, file_size);
	trace_context_forget();
}
