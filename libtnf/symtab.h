/*
 * symtab.h - the symbols of a kernel, found by address.
 *
 * For the programs of this project: not part of libtnf's interface.  A table is
 * not changed once it is made, so threads may share it.
 */
#ifndef LIBTNF_SYMTAB_H
#define LIBTNF_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "format/header.h"

struct symtab;

struct symtab_symbol {
	uint64_t    start;
	uint64_t    end;	/* where the next one starts; UINT64_MAX none */
	const char *name;
	const char *module;	/* "": the kernel itself */
};

/* Where a table of the running kernel's symbols is kept from call to call. */
#define SYMTAB_DIRECTORY	"/run/tnf"

/* From a list in the form of /proc/kallsyms, in any order; 'shift' is added to the
   list's addresses.  0, or an errno and *ret is NULL. */
int symtab_read(const char *list, uint64_t shift, struct symtab **ret);

/*
 * The running kernel's.  Its list is long and slow to read, so the table is kept as
 * a file in the directory, of mode 0600, and mapped the next time, while the boot
 * and the modules loaded are the same.  Where that cannot be done, the list is read
 * each time.  0, or an errno and *ret is NULL.
 */
int symtab_kernel(const char *directory, struct symtab **ret);

/* The symbol with the highest start that is not above addr; its strings live as
   long as the table.  0, or ENOENT. */
int symtab_find(const struct symtab *, uint64_t addr, struct symtab_symbol *ret);

void symtab_free(struct symtab *);	/* NULL: nothing */

/* Of which kernel a table is: that of this boot, with these modules. */
struct symtab_key {
	uint8_t	 boot[TNF_BOOT_ID_SIZE];
	uint64_t modules;	/* hash of their names, sizes and addresses */
};

/* 0 or an errno. */
int symtab_key_now(struct symtab_key *);
/* NULL: there is none that is whole, of that kernel, and no one else's. */
struct symtab *symtab_kept(const char *directory, const struct symtab_key *);
/* The file appears whole, or not at all.  0 or an errno. */
int symtab_keep(const struct symtab *, const char *directory, const struct symtab_key *);

#endif /* LIBTNF_SYMTAB_H */
