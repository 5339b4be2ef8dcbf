/*
 * check-run.c - how each of our Check programs runs its suite.
 */
#include <stdlib.h>

#include "tests/check-run.h"

static int
check_run_as(Suite *suite, enum fork_status forked)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_fork_status(runner, forked);
	srunner_run_all(runner, getenv("CK_TAP_LOG_FILE_NAME") != NULL ?
	    CK_SILENT : CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
check_run(Suite *suite)
{
	return check_run_as(suite, CK_FORK_GETENV);
}

int
check_run_nofork(Suite *suite)
{
	return check_run_as(suite, CK_NOFORK);
}
