/*
 * named.c - a program whose threads change their names, in all ways that there are.
 *
 * Each probe hits at a time when one name holds; names.sh has the list.  With an
 * argument it waits at the end until its standard input ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/probe.h>

#include "tests/writer/turns.h"

/* Or else the linker leaves it out where a sanitizer has the functions that it stands
   in front of. */
extern struct tnf_process_control _tnf_process_control;
struct tnf_process_control *keep_library = &_tnf_process_control;

static int to_plain[2], from_plain[2];

/* Another thread changes its name. */
static void *
plain(void *arg)
{
	TNF_PROBE_0(plain_before, "named", "");
	turn_give(from_plain[1]);
	turn_await(to_plain[0]);
	TNF_PROBE_0(plain_after, "named", "");
	return arg;
}

/* It inherits the name of the one that has made it, and gives itself another. */
static void *
worker(void *arg)
{
	TNF_PROBE_0(worker_before, "named", "");
	if (pthread_setname_np(pthread_self(), "worker") != 0)
		_exit(4);
	TNF_PROBE_0(worker_after, "named", "");
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t p, w;

	(void)argv;
	TNF_PROBE_0(main_before, "named", "");
	if (pipe(to_plain) != 0 || pipe(from_plain) != 0 ||
	    pthread_create(&p, NULL, plain, NULL) != 0)
		return 3;
	turn_await(from_plain[0]);
	if (pthread_setname_np(p, "a name of another") == 0 ||
	    pthread_setname_np(p, "other") != 0 || prctl(PR_SET_NAME, "two words\n") != 0)
		return 4;
	TNF_PROBE_0(main_after, "named", "");
	turn_give(to_plain[1]);
	pthread_join(p, NULL);
	if (pthread_create(&w, NULL, worker, NULL) != 0)
		return 3;
	pthread_join(w, NULL);
	if (fork() == 0) {
		TNF_PROBE_0(child_before, "named", "");
		prctl(PR_SET_NAME, "child");
		TNF_PROBE_0(child_after, "named", "");
		_exit(0);
	}
	wait(NULL);
	TNF_PROBE_0(main_end, "named", "");
	if (argc > 1)
		while (getchar() != EOF)
			;
	return 0;
}
