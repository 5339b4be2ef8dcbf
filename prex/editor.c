/*
 * editor.c - loads libedit.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "prex/editor.h"

struct editor editor;

const char *
editor_load(void)
{
	static char why[256];
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		snprintf(why, sizeof(why), "%s", dlerror());
		/* Only Debian counts its versions. */
		if ((library = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL)) == NULL)
			return why;
	}
#define X(name) \
	if ((editor.name = (__typeof__(editor.name))dlsym(library, #name)) == NULL) \
		return dlerror();
	EDITOR_FUNCTIONS(X)
#undef X
	return NULL;
}
