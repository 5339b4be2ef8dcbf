/*
 * debug-info.h - debugging information of programs, as function-types.c and member-path.c read it.
 */
#ifndef LIBTNFCTL_DEBUG_INFO_H
#define LIBTNFCTL_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct function_value;

/* The information about an open file, from the file or from the one that it leads to; it stays
   until this thread asks for another file.  NULL: there is none. */
Dwarf	*tnfctl_dwarf_of(int fd, const char *path);
/* The unit with this address. */
bool	tnfctl_dwarf_unit(Dwarf *, uint64_t address, Dwarf_Die *ret);
/* Follows the type of something through its names and qualifiers; false: it is void, or not
   known. */
bool	tnfctl_dwarf_type(Dwarf_Die *of, Dwarf_Die *ret, bool *is_const);
/* How a value of the type is recorded; false: that is not known. */
bool	tnfctl_dwarf_value(Dwarf_Die *type, struct function_value *ret);

#endif
