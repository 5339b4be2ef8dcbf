/*
 * library.c - where libtnfprobe is.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/direct.h"

static bool
library_try(const char *dir, size_t len, const char *sub, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%.*s%s/%s", (int)len, dir, sub,
	    TNFCTL_LIBTNFPROBE);

	return n > 0 && (size_t)n < size && access(ret, R_OK) == 0;
}

/* Beside this library, or where a build that is not installed has it. */
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
