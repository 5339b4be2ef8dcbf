/*
 * trace-file.c - is there a trace in the end?
 *
 * A target that cannot use its file goes on without, and one that has ended
 * cannot be asked any more.  Nobody should learn of it from tnfdump.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "shell.h"
#include "trace-file.h"

static bool there, enabled;

static const char *
name_of(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (sh->mode != MODE_USER || sh->target == NULL ||
	    tnfctl_trace_attrs_get(sh->target, &attrs) != TNFCTL_ERR_NONE)
		return NULL;
	return attrs.trace_file_name;
}

static tnfctl_errcode_t
note_enabled(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;

	if (tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE &&
	    state.enabled)
		enabled = true;
	return TNFCTL_ERR_NONE;
}

void
trace_file_note(struct shell *sh)
{
	const char *name = name_of(sh);
	struct stat st;

	if (name == NULL)
		return;
	there |= lstat(name, &st) == 0;
	tnfctl_probe_apply(sh->target, note_enabled, NULL);
}

/* The magic is what a writer stores last when it sets the file up. */
static bool
is_unused(const char *name)
{
	uint32_t magic;
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool unused;

	if (fd < 0)
		return false;
	unused = read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == 0;
	close(fd);
	return unused;
}

void
trace_file_check(struct shell *sh)
{
	const char *name = there ? name_of(sh) : NULL;
	const char *fact = NULL;
	struct stat st;

	if (name == NULL)
		return;
	if (lstat(name, &st) < 0 && errno == ENOENT)
		fact = "it was removed while we ran: what it held is lost";
	else if (sh->gone && enabled && is_unused(name))
		fact = "no event was recorded: no probe that is on was "
		    "reached, or the target had no descriptor or no "
		    "memory left to map the file";
	if (fact != NULL)
		fprintf(stderr, "%s: %s: %s\n", sh->argv0, name, fact);
}
