/*
 * syscalls.c - names of system calls, by the machine of the trace: x86-64 with its 32-bit
 * (i386) and x32 calls, and arm64.  pretty_call_name() selects the table.
 */
#include <string.h>

#include "analysis/pretty-names.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Tables are indexed by number + 1; calls that a machine does not have go to index 0. */
#define NONE	(-1)
#define KINDS(a, b, c, d, e, f)	{ a, b, c, d, e, f }
#define ROW(name, number, ...)	[(number) + 1] = { #name, CALL_EACH(KINDS, ##__VA_ARGS__) },
#pragma GCC diagnostic ignored "-Woverride-init"

static const struct pretty_call x86_64[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, n64, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call i386[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, n32, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call x32[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, nx32, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call aarch64[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, arm, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

/* Tables by the machine of uname(2) and by PRETTY_ABI_*.  Traces that do not name their
   machine use x86_64: they are from a time before there was another. */
static const struct pretty_machine {
	const char	*name;
	struct pretty_calls {
		const struct pretty_call *calls;
		size_t			 n;
	}		 calls[PRETTY_ABIS];
} machines[] = {
	{ "x86_64", { { x86_64, COUNT(x86_64) }, { i386, COUNT(i386) }, { x32, COUNT(x32) } } },
	{ "aarch64", { { aarch64, COUNT(aarch64) } } },
};

static const struct pretty_machine *current = machines;

bool
pretty_machine_set(const char *name)
{
	current = machines;
	if (name == NULL)
		return true;
	for (size_t i = 0; i < COUNT(machines); i++)
		if (strcmp(machines[i].name, name) == 0) {
			current = &machines[i];
			return true;
		}
	current = NULL;
	return false;
}

#define X32_BIT	0x40000000u

const struct pretty_call *
pretty_call(uint64_t number, int64_t abi)
{
	if (current == NULL || abi < 0 || abi >= PRETTY_ABIS)
		return NULL;
	if (abi == PRETTY_ABI_X32)
		number &= ~(uint64_t)X32_BIT;
	const struct pretty_calls *calls = &current->calls[abi];
	return number < UINT32_MAX && number + 1 < calls->n && calls->calls[number + 1].name != NULL ?
	    &calls->calls[number + 1] : NULL;
}

const char *
pretty_call_name(uint64_t number, int64_t abi)
{
	const struct pretty_call *call = pretty_call(number, abi);

	return call != NULL ? call->name : NULL;
}

bool
pretty_machine_is_arm(void)
{
	return current != NULL && current != machines;
}

const char *
pretty_syscall(int64_t i)
{
	return i < 0 ? NULL : pretty_call_name((uint64_t)i, PRETTY_ABI_NATIVE);
}
