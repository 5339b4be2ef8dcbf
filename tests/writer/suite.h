/*
 * suite.h - what the Check suites of the writer share.  Each test runs in a
 * process of its own, as the library has one trace file for its life.
 */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>
#include <stdlib.h>

#include "tests/writer/events.h"
#include "tests/writer/selfctl.h"

extern struct tnf_process_control _tnf_process_control;

extern char path[64];		/* of the trace file; removed after the test */
extern char second[80];		/* for a second one; removed, too */
extern struct events ev;	/* by finish(), in order of time */

void start(unsigned kbytes);	/* all probes of the program on */
void finish(void);		/* reads the file, which must be sound */

/* Gives each test of the case its two names of files, which are removed. */
void suite_setup(TCase *);

/* Runs the tests; main() returns what it returns. */
int run_tests(const char *name, const TTest *const *tests, size_t n);

#define IS(i, want)	ck_assert_str_eq(ev.v[i].text, want)

#endif
