/*
 * kallsyms.h - a kernel's list of symbols: /proc/kallsyms, a copy of it, System.map.
 */
#ifndef COMMON_KALLSYMS_H
#define COMMON_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KALLSYMS	"/proc/kallsyms"

/* Names are not NUL-terminated: they end where their line has a blank. */
struct kallsym {
	uint64_t    address;		/* 0: the kernel hides it */
	char	    type;		/* as in nm(1) */
	const char *name;
	size_t	    length;
	const char *module;		/* "": the kernel itself */
	size_t	    module_length;
};

/* A line "ADDRESS TYPE NAME[\t[MODULE]]", to its newline or NUL; false: another one. */
bool tnf_kallsyms_line(const char *line, struct kallsym *ret);

/* Calls fn for each symbol of the list at 'path', in the list's order, until it
   returns false.  The kernel's list is long, and slow to read (some 80 ms).
   0, or an errno: the list cannot be opened. */
int tnf_kallsyms_each(const char *path, bool (*fn)(void *arg, const struct kallsym *), void *arg);

#endif
