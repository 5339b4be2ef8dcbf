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

/* How the file "-" is called. */
#define INPUT_STANDARD	"standard input"

/* Opens and maps; false: told why, skip it.  A pipe is read to its end. */
bool input_open(struct dump *, const char *path, struct input *);
/* "tnfdump: error in FILE: TEXT" */
void input_refused(struct dump *, const char *path, int err);
/* Adds the files to the stream, in order; dump->inputs are those that are in. */
void inputs_add(struct dump *, char **paths);
/* Tells if they are of several boots of the machine. */
void inputs_compare_boots(struct dump *);
/* What was added, and the stream; after origins_free(). */
void inputs_close(struct dump *);
/* A damaged block: told once each; with --strict the end. */
void input_damage(struct dump *, const char *path, uint64_t block,
    const char *reason);

#endif
