/*
 * run.h - the kernel's probes around one command (--run).
 */
#ifndef PREX_RUN_H
#define PREX_RUN_H

#include "prex/option.h"

struct shell;

/* With a kernel session that has nothing set: buffer, commands (by default all
   probes), filter, command, snapshot into the file, and nothing is left.
   Returns the exit status: the command's, 128 + its signal, or 1. */
int	run_command(struct shell *, const struct options *);

#endif
