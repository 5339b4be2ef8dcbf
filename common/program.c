/*
 * program.c - where the other programs of the family are.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/program.h"
#include "common/xalloc.h"

/* Takes the path; NULL: there is no such program. */
static char *
program_there(char *path)
{
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *
program_beside(const char *name)
{
	char self[PATH_MAX], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	if ((slash = strrchr(self, '/')) == NULL)
		return NULL;
	*slash = '\0';
	if ((path = program_there(tnf_xasprintf("%s/%s", self, name))) != NULL)
		return path;
	/* In a build directory each program has one of its own. */
	return program_there(tnf_xasprintf("%s/../%s/%s", self, name, name));
}

char *
tnf_program_path(const char *name)
{
	char *path = program_beside(name);
	const char *list = getenv("PATH"), *end;

	for (; path == NULL && list != NULL && *list != '\0'; list = end + (*end == ':')) {
		end = strchrnul(list, ':');
		if (end > list)
			path = program_there(tnf_xasprintf("%.*s/%s", (int)(end - list), list, name));
	}
	return path != NULL ? path : tnf_xstrdup(name);
}
