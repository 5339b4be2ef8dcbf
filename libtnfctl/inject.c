/*
 * inject.c - load libtnfprobe into a stopped process: it calls dlopen().
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libtnfctl/call.h"
#include "libtnfctl/direct.h"

#define TRIES		6000	/* without it there is no tracing */

static tnfctl_errcode_t
not_loaded(tnfctl_handle_t *h, const char *why)
{
	return fail(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: "
	    TNFCTL_LIBTNFPROBE " is not loaded and cannot be now: %s: start "
	    "the program under control, or with LD_PRELOAD="
	    TNFCTL_LIBTNFPROBE, (int)h->pid, why);
}

/* The library under a name that means the same to the target. */
static tnfctl_errcode_t
library_name(tnfctl_handle_t *h, char *ret, size_t size)
{
	char theirs[PATH_MAX + 32];
	struct stat a, b;

	if (!library_path(NULL, ret, size)) {
		snprintf(ret, size, "%s", TNFCTL_LIBTNFPROBE);
		return TNFCTL_ERR_NONE;
	}
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)h->pid, ret);
	if (stat(ret, &a) == 0 && stat(theirs, &b) == 0 &&
	    (a.st_dev != b.st_dev || a.st_ino != b.st_ino))
		return not_loaded(h, "it lives in another root directory, "
		    "where there is another file of this name");
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
call_dlopen(struct calls *c, uintptr_t function, const char *library)
{
	struct call call = { .function = function, .args = { 0, RTLD_NOW } };
	char why[PATH_MAX + 128];
	const char *fact;

	call.args[0] = call_put(c, 0, library, strlen(library) + 1);
	fact = call.args[0] != 0 ? call_make(c, &call) :
	    "its memory cannot be written";
	if (fact != NULL)
		return not_loaded(c->h, fact);
	control_refresh(c->h);
	if (c->h->control != 0)
		return TNFCTL_ERR_NONE;
	snprintf(why, sizeof(why), "its dlopen() refused %s%s%s", library,
	    call.error ? ": " : "", call.error ? strerror(call.error) : "");
	return not_loaded(c->h, why);
}

static tnfctl_errcode_t
inject_name(tnfctl_handle_t *h, const char *library)
{
	tnfctl_errcode_t err;
	uintptr_t function;
	struct calls c;
	const char *why;

	if (!objects_function(h, "libc.so.6", "dlopen", &function) &&
	    !objects_function(h, NULL, "dlopen", &function))
		return not_loaded(h, "it has no dlopen()");
	why = call_begin(&c, h, TRIES);
	err = why != NULL ? not_loaded(h, why) :
	    call_dlopen(&c, function, library);
	call_end(&c);
	return err;
}

tnfctl_errcode_t
inject_library(tnfctl_handle_t *h)
{
	char library[PATH_MAX];
	tnfctl_errcode_t err;

	if (h->nprobes == 0)
		return direct_no_probes(h->pid);
	err = library_name(h, library, sizeof(library));
	return err != TNFCTL_ERR_NONE ? err : inject_name(h, library);
}
