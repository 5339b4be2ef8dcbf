/*
 * suite.c - what the Check suites of the writer share.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/check-run.h"
#include "tests/writer/suite.h"

char path[64], second[80];
struct events ev;

void
start(unsigned kbytes)
{
	selfctl_file(path, kbytes);
	selfctl_enable(NULL);
}

void
finish(void)
{
	events_free(&ev);
	events_read(path, &ev);
	ck_assert_uint_eq(ev.damaged, 0);
}

static void
setup(void)
{
	snprintf(path, sizeof(path), "/tmp/check-writer.%d", (int)getpid());
	snprintf(second, sizeof(second), "%s.o", path);
}

static void
teardown(void)
{
	unlink(path);
	unlink(second);
}

void
suite_setup(TCase *t)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}

int
run_tests(const char *name, const TTest *const *tests, size_t n)
{
	Suite *s = suite_create(name);
	TCase *t = tcase_create(name);
	size_t i;

	suite_setup(t);
	for (i = 0; i < n; i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return check_run(s);
}
