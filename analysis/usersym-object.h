/*
 * usersym-object.h - object files of traced processes, for libdwfl.
 */
#ifndef ANALYSIS_USERSYM_OBJECT_H
#define ANALYSIS_USERSYM_OBJECT_H

#include <elfutils/libdwfl.h>

#include <tnf/context.h>

extern const Dwfl_Callbacks usersym_callbacks;

/* Opens the object if it is still the file that was traced (same build id).  *start gets the
   address, in the file, of the byte that was mapped first.  A descriptor, or -1. */
int usersym_open(const struct tnf_context_object *, GElf_Addr *start);
/* Reports it to libdwfl between dwfl_report_begin() and dwfl_report_end(), its addresses moved
   by 'bias'.  Takes over the descriptor. */
Dwfl_Module *usersym_report(Dwfl *, const struct tnf_context_object *, int fd, GElf_Addr bias);

#endif
