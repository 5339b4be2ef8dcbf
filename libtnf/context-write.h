/*
 * context-write.h - composes a context and puts it behind a trace (tnf(5)).
 *
 * For the programs of this project: not part of libtnf's interface.  Facts
 * that cannot be had are left out; a failure shows in context_append() only.
 */
#ifndef LIBTNF_CONTEXT_WRITE_H
#define LIBTNF_CONTEXT_WRITE_H

#include <sys/types.h>

#include <stdio.h>

#include "format/core.h"

struct context_writer {
	FILE	*f;		/* NULL: out of memory */
	char	*text;
	size_t	 size;
	char	 container[65];	/* the container whose names were written last */
};

void context_begin(struct context_writer *);
/* A line "word value"; bytes that a line cannot hold are escaped. */
void context_fact(struct context_writer *, const char *word,
    const char *value);
void context_escaped(struct context_writer *, const char *);

/* This machine: names, kernel, boot, CPUs, clocks, time zone. */
void context_host(struct context_writer *);
/* Tasks alive: those of a process, with the numbers that they have in their own
   pid namespace; or (0) all. */
void context_tasks(struct context_writer *, pid_t);
/* All tasks alive, by ascending tid, as the caller has found them: we ask /proc only for
   facts that the caller does not tell, and for processes that are not in the list. */
struct context_task {
	pid_t	    tid, pid, ppid;
	uint32_t    flags;	/* the kernel's PF_* */
	uint64_t    groups;	/* equal for tasks that are in the same control groups */
	const char *comm;	/* of a kernel thread its beginning */
};
void context_tasks_told(struct context_writer *, const struct context_task *, size_t n);
/* The ids that an ended task had in its own pid namespace, if they differ. */
void context_inner(struct context_writer *, pid_t tid, pid_t pid, pid_t inner_tid,
    pid_t inner_pid);
/* A task that has ended: the caller remembers its numbers and name, which /proc has no
   longer. */
void context_ended(struct context_writer *, pid_t tid, pid_t pid, pid_t ppid,
    const char *comm);
/* The name that a task had until 'time', ns as events have it. */
void context_renamed(struct context_writer *, pid_t tid, int64_t time,
    const char *comm);
/* The program that a process runs from 'time' on. */
void context_ran(struct context_writer *, pid_t pid, int64_t time, const char *path);
/* The executable mappings of the process, with build ids. */
void context_objects(struct context_writer *, pid_t);
/* A file that a process which has ended had mapped as code: 'offset' of it, or, if 'main' is set, its
   first code, was at 'start'.  The file that has the path now is looked at if it is still the one with
   this inode. */
struct context_mapped {
	pid_t	    pid;
	uint64_t    start, end, offset;
	bool	    main;
	uint64_t    inode;
	dev_t	    device;
	const char *path;
};
void context_mapped(struct context_writer *, const struct context_mapped *);
void context_devices(struct context_writer *);	/* block devices */

/* The symbols that hold these addresses (sorted by the call), from a list in
   the form of /proc/kallsyms; 'shift' is added to the list's addresses.  0 or
   an errno. */
int context_symbols(struct context_writer *, const char *list, uint64_t *addrs,
    size_t n, uint64_t shift);
/* The same from the running kernel's list, by a table that is kept from call to
   call. */
int context_kernel_symbols(struct context_writer *, uint64_t *addrs, size_t n);

/*
 * Ends the text, writes it behind the trace in fd and notes its place in block 0.
 * 'reserved' is the size of the file that the writer was told to use.  If the writer has
 * not set the file up yet, the trace will end there, and the writer keeps the note when it
 * sets the file up.  0: do not write to such a file.  Returns 0 or an errno; ENODATA: the
 * file is not set up.
 */
int context_append(struct context_writer *, int fd, uint64_t reserved);
void context_free(struct context_writer *);

/* The symbols of a kernel, found by address.  A table is not changed once it is made, so
   threads may share it. */
struct symtab;

struct symtab_symbol {
	uint64_t    start;
	uint64_t    end;	/* where the next one starts; UINT64_MAX none */
	const char *name;
	const char *module;	/* "": the kernel itself */
};

/* The directory in which a table of the running kernel's symbols is kept from call to call. */
#define SYMTAB_DIRECTORY	"/run/tnf"

/* Makes a table from a list in the form of /proc/kallsyms, in any order; 'shift' is added
   to the list's addresses.  0, or an errno and *ret is NULL. */
int symtab_read(const char *list, uint64_t shift, struct symtab **ret);

/*
 * Gets the running kernel's table.  The kernel's list is long and slow to read, so the table
 * is kept as a file of mode 0600 in the directory, and mapped the next time, while the boot
 * and the modules loaded are the same.  Where no file can be kept, the list is read
 * each time.  0, or an errno and *ret is NULL.
 */
int symtab_kernel(const char *directory, struct symtab **ret);

/* The symbol with the highest start that is not above addr; its strings live as
   long as the table.  0, or ENOENT. */
int symtab_find(const struct symtab *, uint64_t addr, struct symtab_symbol *ret);

void symtab_free(struct symtab *);	/* NULL: nothing */

/* The kernel that a table belongs to: its boot and its modules. */
struct symtab_key {
	uint8_t	 boot[TNF_BOOT_ID_SIZE];
	uint64_t modules;	/* hash of their names, sizes and addresses */
};

/* 0 or an errno. */
int symtab_key_now(struct symtab_key *);
/* NULL: there is no table that is whole, of that kernel, and owned by us. */
struct symtab *symtab_kept(const char *directory, const struct symtab_key *);
/* The file appears whole, or not at all.  0 or an errno. */
int symtab_keep(const struct symtab *, const char *directory, const struct symtab_key *);

#endif /* LIBTNF_CONTEXT_WRITE_H */
