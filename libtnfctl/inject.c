/*
 * inject.c - load libtnfprobe into a stopped process: it calls dlopen().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtnfctl/arch/arch.h"
#include "libtnfctl/control.h"
#include "libtnfctl/proc.h"

#define TRIES		6000	/* without it there is no tracing */

static bool
library_try(const char *dir, size_t len, const char *sub, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%.*s%s/%s", (int)len, dir, sub,
	    TNFCTL_LIBTNFPROBE);

	return n > 0 && (size_t)n < size && access(ret, R_OK) == 0;
}

/* Finds libtnfprobe beside this library, or where a build that is not installed has it. */
bool
tnfctl_library_path(const char *dir, char *ret, size_t size)
{
	const char *slash;
	Dl_info info;

	if (dir != NULL)
		return library_try(dir, strlen(dir), "", ret, size);
	if (dladdr((void *)(uintptr_t)tnfctl_pid_open, &info) == 0 ||
	    info.dli_fname == NULL || info.dli_fname[0] != '/' ||
	    (slash = strrchr(info.dli_fname, '/')) == NULL)
		return false;
	return library_try(info.dli_fname, (size_t)(slash - info.dli_fname), "", ret,
	    size) || library_try(info.dli_fname, (size_t)(slash - info.dli_fname),
	    "/../libtnfprobe", ret, size);
}

static tnfctl_errcode_t
not_loaded(tnfctl_handle_t *h, const char *why)
{
	return tnfctl_error_set(TNFCTL_ERR_NOTLOADABLE, "process %d: "
	    TNFCTL_LIBTNFPROBE " is not loaded and cannot be now: %s: start "
	    "the program under control, or with LD_PRELOAD="
	    TNFCTL_LIBTNFPROBE, (int)h->pid, why);
}

/* The library that the target is to load. */
struct library {
	char	 name[PATH_MAX];	/* a path that means the same to it */
	int	 fd;			/* or our file, which its root does not have; or -1 */
};

/* A process in another root has another file of this name, or none. */
static tnfctl_errcode_t
library_find(tnfctl_handle_t *h, struct library *ret)
{
	char theirs[PATH_MAX + 32];
	struct stat a, b;

	ret->fd = -1;
	if (!tnfctl_library_path(NULL, ret->name, sizeof(ret->name))) {
		snprintf(ret->name, sizeof(ret->name), "%s", TNFCTL_LIBTNFPROBE);
		return TNFCTL_ERR_NONE;
	}
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)h->pid, ret->name);
	if (stat(ret->name, &a) != 0 || (stat(theirs, &b) != 0 ? errno != ENOENT :
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return TNFCTL_ERR_NONE;
	ret->fd = open(ret->name, O_RDONLY | O_CLOEXEC);
	return ret->fd >= 0 ? TNFCTL_ERR_NONE : tnfctl_error_set_errno(errno, "%s", ret->name);
}

static tnfctl_errcode_t
call_dlopen(struct calls *c, uintptr_t function, const char *library)
{
	struct call call = { .function = function, .args = { 0, RTLD_NOW } };
	char why[PATH_MAX + 128];
	const char *fact;

	call.args[0] = tnfctl_call_put(c, 0, library, strlen(library) + 1);
	fact = call.args[0] != 0 ? tnfctl_call_make(c, &call) :
	    "its memory cannot be written";
	if (fact != NULL)
		return not_loaded(c->h, fact);
	tnfctl_control_refresh(c->h);
	if (c->h->control != 0)
		return TNFCTL_ERR_NONE;
	snprintf(why, sizeof(why), "its dlopen() refused %s%s%s", library,
	    call.error ? ": " : "", call.error ? strerror(call.error) : "");
	return not_loaded(c->h, why);
}

/*
 * The target gets our file as a descriptor and loads it by the descriptor's name in
 * /proc; we put nothing into its root.  No other program uses the name with this "./",
 * so the linker does not take a library that is loaded later in the same way for this one.
 */
static tnfctl_errcode_t
call_dlopen_ours(struct calls *c, uintptr_t function, int fd)
{
	int theirs = tnfctl_direct_give_descriptor(c, fd);
	char name[64], there[64];
	tnfctl_errcode_t err;
	struct stat st;

	if (theirs < 0)
		return not_loaded(c->h, "its root directory does not have it, and it "
		    "cannot be given a descriptor of ours");
	snprintf(name, sizeof(name), "/proc/self/./fd/%d", theirs);
	snprintf(there, sizeof(there), "/proc/%d/root/proc/self", (int)c->h->pid);
	if (lstat(there, &st) == 0)
		err = call_dlopen(c, function, name);
	else
		err = not_loaded(c->h, "its root directory has neither it nor /proc");
	tnfctl_direct_close_descriptor(c, theirs);
	return err;
}

static tnfctl_errcode_t
inject_name(tnfctl_handle_t *h, const struct library *library)
{
	tnfctl_errcode_t err;
	uintptr_t function;
	struct calls c;
	const char *why;

	if (!tnfctl_objects_function(h, "libc.so.6", "dlopen", &function) &&
	    !tnfctl_objects_function(h, NULL, "dlopen", &function))
		return not_loaded(h, "it has no dlopen()");
	why = tnfctl_call_begin(&c, h, TRIES);
	if (why != NULL)
		err = not_loaded(h, why);
	else if (library->fd >= 0)
		err = call_dlopen_ours(&c, function, library->fd);
	else
		err = call_dlopen(&c, function, library->name);
	tnfctl_call_end(&c);
	return err;
}

tnfctl_errcode_t
tnfctl_inject_library(tnfctl_handle_t *h)
{
	struct library library;
	tnfctl_errcode_t err;

	if (h->nprobes == 0 && !direct_proc(h)->load)
		return tnfctl_direct_no_probes(h->pid);
	if ((err = library_find(h, &library)) != TNFCTL_ERR_NONE)
		return err;
	err = inject_name(h, &library);
	if (library.fd >= 0)
		close(library.fd);
	return err;
}
