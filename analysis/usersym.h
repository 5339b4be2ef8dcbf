/*
 * usersym.h - functions of traced processes.
 */
#ifndef ANALYSIS_USERSYM_H
#define ANALYSIS_USERSYM_H

#include <tnf/context.h>

/*
 * The function that holds an address of the process, from the object's symbol
 * table if the object is still the one that was traced (same build id), else
 * the object's name; how far in.  NULL: not known.
 */
const char *usersym_find(const tnf_context_t *, int32_t pid, uint64_t addr,
    uint64_t *offset);

/* Forgets all objects: before their contexts go. */
void usersym_free(void);

#endif
