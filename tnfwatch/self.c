/*
 * self.c - tnfwatch's own trace: marks, and what fired.
 */
#include <stdlib.h>
#include <unistd.h>

#include <tnf/probe.h>
#include <tnf/tnfctl.h>

#include "tnfwatch/config.h"
#include "tnfwatch/self.h"
#include "tnfwatch/source.h"
#include "tnfwatch/util.h"

#define SELF_SIZE	(256u << 10)

static tnfctl_errcode_t
self_enable(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err = tnfctl_probe_apply(h, tnfctl_probe_trace, NULL);

	return err == TNFCTL_ERR_NONE ? tnfctl_probe_apply(h, tnfctl_probe_enable, NULL) : err;
}

struct source *
self_begin(const struct config *c)
{
	char *path = tnf_xasprintf("%s/tnfwatch-%d.tnf", c->rings, (int)getpid());
	struct source *s = NULL;
	tnfctl_handle_t *h = NULL;
	tnfctl_errcode_t err;

	/* Of an earlier process of this number. */
	unlink(path);
	if ((err = tnfctl_internal_open(&h)) == TNFCTL_ERR_NONE &&
	    (err = tnfctl_buffer_alloc(h, path, SELF_SIZE)) == TNFCTL_ERR_NONE)
		err = self_enable(h);
	if (err == TNFCTL_ERR_NONE) {
		s = source_process("tnfwatch", getpid(), "tnfwatch", path, true);
		self_mark("tnfwatch begins", "tnfwatch");
	} else
		say("marks are not kept: %s: %s", tnfctl_strerror(err), tnfctl_error_detail());
	if (h != NULL)
		tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	free(path);
	return s;
}

/* As tnfctl_mark() has it. */
void
self_mark(const char *text, const char *by)
{
	TNF_PROBE_2(mark, "watch mark", "", tnf_string, text, text, tnf_string, by, by);
}

void
self_fired(const char *trigger, const char *reason)
{
	TNF_PROBE_2(fired, "watch trigger", "", tnf_string, trigger, trigger,
	    tnf_string, reason, reason);
}
