/*
 * input.h - the trace files of the command line.
 */
#ifndef TNFDUMP_INPUT_H
#define TNFDUMP_INPUT_H

#include "tnfdump/tnfdump.h"

struct input {
	const char	*path;
	const void	*base;
	size_t		 size;
	struct tnf_file	*file;		/* in the stream; NULL: raw mode */
};

/* The name of the file "-" in messages. */
#define INPUT_STANDARD	"standard input"

/* Opens and maps a file; a pipe is read to its end.  false: skip the file, the reason was
   told. */
bool input_open(struct dump *, const char *path, struct input *);
/* "tnfdump: error in FILE: TEXT" */
void input_refused(struct dump *, const char *path, int err);
/* Adds the files to the stream, in order; dump->inputs then lists the files that were
   accepted. */
void inputs_add(struct dump *, char **paths);
/* Prints a note if the files are of several boots of the machine. */
void inputs_compare_boots(struct dump *);
/* Closes the stream and the inputs; called after origins_free(). */
void inputs_close(struct dump *);
/* Reports a damaged block once; with --strict ends the program. */
void input_damage(struct dump *, const char *path, uint64_t block,
    const char *reason);

/*
 * The trace file that a process had mapped, by its core.
 */

/* True if the file is an ELF core. */
bool core_is(int fd);
/* A descriptor of the trace: a copy of the mapping if the core has it, otherwise the file that the
   core names.  -1: there is neither, which was told.  The caller closes both. */
int core_trace(struct dump *, const char *path, int fd);

#endif
