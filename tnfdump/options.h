/*
 * options.h - the command line.
 */
#ifndef TNFDUMP_OPTIONS_H
#define TNFDUMP_OPTIONS_H

#include "tnfdump/tnfdump.h"

/*
 * A row of the table in options.c.  set() is called when the option is met; it returns 0,
 * or -1 after options_wrong().  Work that needs the files (probes, first time) belongs in a
 * filter's start() or an output's begin().
 */
struct option_row {
	const char *name;		/* "--name" */
	char	    letter;		/* or 0 */
	const char *arg;		/* "EXPR"; NULL: none; "[=X]": optional */
	const char *help;
	/* One of these says what the option does: */
	size_t	    flag;		/* offset of a bool in struct dump to set */
	const char *output;		/* chooses this one of outputs[] */
	int	  (*set)(struct dump *, const char *arg);
};

extern const struct option_row option_rows[];	/* ends with name NULL */

/* Applies the option; returns 0, or -1 after options_wrong(). */
int option_apply(struct dump *, const struct option_row *, const char *arg);
/* Returns the files, ended by NULL; exits on --help, --version and errors. */
char **options_parse(struct dump *, int argc, char **argv);
/* Frees what options have made, whether the run took place or not. */
void options_free(struct dump *);
/* "tnfdump: --name: fact: remedy"; the caller then returns -1. */
int options_wrong(const char *option, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
