/*
 * mark.c - a mark in the kernel's buffer: an imported probe that we hit ourselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <tnf/com.h>

#include "common/files.h"
#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

#define PROGRAM	"import_mark"

/* The source has the names of the numbers: each list of names is a probe of its own. */
static int
describe_mark(struct kp *kp, struct kp_import *imp)
{
	char *names = strdup(imp->source), *rest = names, *name;
	int r = names == NULL ? -ENOMEM : kp_import_member(imp, "tnf_string", TNF_N_MARK_TEXT);

	if (r == 0)
		r = kp_import_member(imp, "tnf_string", TNF_N_MARK_BY);
	while (r == 0 && (name = strtok_r(rest, " ", &rest)) != NULL)
		r = kp_import_member(imp, "tnf_int64", name);
	free(names);
	return r;
}

/* The program is attached nowhere: kp_mark() runs it. */
static int
attach_mark(struct kp *kp, struct kp_import *imp, int prog)
{
	return 0;
}

const struct kp_import_kind kp_mark_kind = {
	.number = KP_IMPORT_MARK, .name = "mark", .program = PROGRAM,
	.describe = describe_mark, .attach = attach_mark,
};

static unsigned
numbers(const char *names)
{
	unsigned n = 0;

	for (; *(names += strspn(names, " ")) != '\0'; names += strcspn(names, " "))
		n++;
	return n;
}

/* The program reads the two strings and the numbers out of our memory. */
static int
mark_hit(struct kp *kp, const struct kp_import *imp, const char *text, const char *by,
    const int64_t *values)
{
	uint64_t args[] = { (uint64_t)imp->slot, (uintptr_t)text, (uintptr_t)by,
	    (uintptr_t)values, numbers(imp->source) * sizeof *values };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof args);
	autoclose int prog = bpf_obj_get(KP_DIR_PROG "/" PROGRAM);
	int r;

	if (prog < 0)
		return kp_refused(kp, prog, KP_DIR_PROG "/" PROGRAM);
	if ((r = bpf_prog_test_run_opts(prog, &opts)) < 0)
		return kp_refused(kp, r, "mark");
	return opts.retval == 1 ? 0 : kp_fail(kp, -ENOBUFS, "mark: it was not written: the "
	    "buffer had no room for it: if it is one that is filled once, make it anew "
	    "(buffer dealloc)");
}

/* The mark's probe is on for as long as this call takes. */
KP_EXPORT int
kp_mark(struct kp *kp, const char *text, const char *by, const char *names,
    const int64_t *values)
{
	const struct kp_import_new mark = { .kind = &kp_mark_kind,
	    .name = TNF_N_MARK, .keys = TNF_N_MARK, .source = names };
	struct kp_import *imp;
	bool enabled, traced;
	int r, back;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (kp->state->buffer_size == 0)
		return kp_fail(kp, -ENOENT, "mark: there is no buffer: make one (buffer alloc)");
	if (!kp_is_tracing(kp->state))
		return kp_fail(kp, -EAGAIN, "mark: tracing is off, and nothing is recorded: "
		    "switch it on (ktrace on)");
	if ((r = kp_import_add(kp, &mark, &imp)) < 0)
		return r;
	enabled = imp->enabled;
	traced = imp->traced;
	if ((r = kp_import_set(kp, imp->id, true, true)) < 0)
		return r;
	r = mark_hit(kp, imp, text, by, values);
	back = kp_import_set(kp, imp->id, enabled, traced);
	return r < 0 ? r : back;
}
