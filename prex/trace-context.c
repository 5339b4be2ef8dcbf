/*
 * trace-context.c - what the trace file will tell about the process elsewhere.
 *
 * Once the target has ended nobody can ask for its threads and objects, so
 * they are noted down each time before it runs, and what was noted last is put
 * behind the trace in the end.  It is only an extra: what fails is left out.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtnf/context-write.h"
#include "cmd.h"
#include "shell.h"
#include "trace-context.h"
#include "util.h"

static struct context_writer noted;
static char *file;

void
trace_context_note(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (sh->mode != MODE_USER ||
	    tnfctl_trace_attrs_get(sh->target, &attrs) != TNFCTL_ERR_NONE ||
	    attrs.trace_file_name == NULL)
		return;
	trace_context_free();
	file = xstrdup(attrs.trace_file_name);
	context_begin(&noted);
	context_host(&noted);
	context_tasks(&noted, attrs.targ_pid);
	context_objects(&noted, attrs.targ_pid);
}

void
trace_context_put(void)
{
	struct stat st;
	int fd;

	if (file == NULL)
		return;
	fd = open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_nlink == 1)
			context_append(&noted, fd);
		close(fd);
	}
	trace_context_free();
}

void
trace_context_free(void)
{
	context_free(&noted);
	free(file);
	file = NULL;
}
