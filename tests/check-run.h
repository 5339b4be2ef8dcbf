/*
 * check-run.h - how each of our Check programs runs its suite.
 *
 * Results go to the file that CK_TAP_LOG_FILE_NAME names ("-": standard output,
 * as meson wants them), or else to a terminal as text.
 */
#ifndef TESTS_CHECK_RUN_H
#define TESTS_CHECK_RUN_H

#include <check.h>

/* Each test in a process of its own.  Returns main()'s status; frees the suite. */
int check_run(Suite *suite);

/* All in this process: fast, and a debugger sees it; a crash ends the rest. */
int check_run_nofork(Suite *suite);

#endif
