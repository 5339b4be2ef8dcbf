/*
 * diff.h - --diff: two traces compared, and a condition that fails a build.
 */
#ifndef TNFDUMP_REPORT_DIFF_H
#define TNFDUMP_REPORT_DIFF_H

#include "tnfdump/tnfdump.h"

int diff_fail_on(struct dump *, const char *condition);

/* Compares the two files of the command line; the exit status. */
int diff_run(struct dump *, char **paths);

#endif
