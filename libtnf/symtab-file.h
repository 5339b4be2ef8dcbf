/*
 * symtab-file.h - a table of symbols, in memory and in the file that keeps it.
 */
#ifndef LIBTNF_SYMTAB_FILE_H
#define LIBTNF_SYMTAB_FILE_H

#include "libtnf/symtab.h"

struct symtab_row {
	uint64_t start;
	uint32_t name;		/* offset in names: "NAME\0MODULE\0" */
	uint32_t global;	/* preferred to others with the same start */
};

struct symtab {
	const struct symtab_row *rows;	/* by start, no two alike */
	size_t	    n;
	const char *names;
	size_t	    names_size;
	void	   *own_rows;		/* to free; NULL: mapped */
	void	   *own_names;
	void	   *map;		/* to unmap, or NULL */
	size_t	    map_size;
};

/* Of which kernel a table is: that of this boot, with these modules. */
struct symtab_key {
	char	 boot[40];
	uint64_t modules;	/* hash of their names, sizes and addresses */
};

/* 0 or an errno. */
int symtab_key_now(struct symtab_key *);

/* NULL: there is none that is whole, of that kernel, and no one else's. */
struct symtab *symtab_kept(const char *directory, const struct symtab_key *);
/* The file appears whole, or not at all.  0 or an errno. */
int symtab_keep(const struct symtab *, const char *directory,
    const struct symtab_key *);

#endif /* LIBTNF_SYMTAB_FILE_H */
