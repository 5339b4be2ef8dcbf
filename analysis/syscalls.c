/*
 * syscalls.c - names of system calls, by the machine that a trace was made on.
 */
#include <string.h>

#include "analysis/pretty-names.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const x86_64[] = {
#include "analysis/arch/syscalls-x86-64.h"
};

static const char *const aarch64[] = {
#include "analysis/arch/syscalls-aarch64.h"
};

/* By what uname(2) says.  The first stands for traces that do not tell: they are
   older than the second. */
static const struct pretty_machine {
	const char		*name;
	const char *const	*calls;
	size_t			 n;
} machines[] = {
	{ "x86_64", x86_64, COUNT(x86_64) },
	{ "aarch64", aarch64, COUNT(aarch64) },
};

static const struct pretty_machine *current = machines;

bool
pretty_machine_set(const char *name)
{
	size_t i;

	current = machines;
	if (name == NULL)
		return true;
	for (i = 0; i < COUNT(machines); i++)
		if (strcmp(machines[i].name, name) == 0) {
			current = &machines[i];
			return true;
		}
	current = NULL;
	return false;
}

bool
pretty_machine_is_x86(void)
{
	return current == machines;
}

const char *
pretty_syscall(int64_t i)
{
	return current != NULL && i >= 0 && (uint64_t)i < current->n ?
	    current->calls[i] : NULL;
}
