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

#include "common/open-regular.h"
#include "prex/cmd.h"
#include "prex/shell.h"
#include "prex/trace.h"

static bool there, enabled;

/* False: there is none, or not yet. */
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

	if (tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE &&
	    state.enabled)
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

/* It is the target that says which file it has.  The magic is what a writer stores last when it sets the file up. */
static bool
trace_file_is_unused(const char *name)
{
	struct stat st;
	uint32_t magic;
	int fd = tnf_open_regular(name, O_RDONLY | O_NOFOLLOW, &st);
	bool unused;

	if (fd < 0)
		return false;
	unused = read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == 0;
	close(fd);
	return unused;
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
		    "reached, or the target had no descriptor or no memory "
		    "left to map the file";
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
	if (fact == NULL)
		return;
	shell_say(sh, "%s: %s", attrs.trace_file_name, fact);
}
