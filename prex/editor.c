/*
 * editor.c - loads libedit.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "prex/editor.h"

struct editor editor;

bool
editor_load(void)
{
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);

	/* Only Debian counts its versions. */
	if (library == NULL && (library = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL)) == NULL)
		return false;
#define X(name) \
	if ((editor.name = (__typeof__(editor.name))dlsym(library, #name)) == NULL) \
		return false;
	EDITOR_FUNCTIONS(X)
#undef X
	return true;
}
