/*
 * limits.c - how long calls wait that have been stopped.
 *
 * A call with a time limit ends when its time is over, or with EINTR, however
 * often one attaches; one without goes on.
 */
#include <poll.h>

#include "tests/live/live.h"

#define HANG_S		200	/* 400 times the limit: no load is so high */

static void
visit(pid_t pid, tnfctl_errcode_t wanted)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	/* It may have said its last line and ended. */
	if ((err = tnfctl_pid_open(pid, &h)) == TNFCTL_ERR_NOPROCESS)
		return;
	CHECK_CODE(err, wanted);
	if (wanted == TNFCTL_ERR_NONE)
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

static bool
has_line(struct victim *v)
{
	struct pollfd p = { .fd = fileno(v->in), .events = POLLIN };

	return poll(&p, 1, 20) == 1;
}

/* These go on with what is left of their time. */
static bool
is_exact(const char *line)
{
	static const char *const names[] = { "nanosleep", "clock_nanosleep",
	    "poll", "ppoll", "select", "pselect", "futex", "mq_timedreceive" };
	size_t i, n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = strlen(names[i]);
		if (strncmp(line, names[i], n) == 0 && line[n] == ' ')
			return true;
	}
	return false;
}

/* Visits it more often than any of its limits lasts, until all have ended. */
static int
visit_until_ended(struct victim *v, tnfctl_errcode_t wanted, bool all_sleep)
{
	double start = seconds();
	int visits = 0, ended = 0;
	const char *line, *how;

	for (;;) {
		while (has_line(v)) {
			line = victim_says(v);
			if (strcmp(line, "limits ended") == 0) {
				CHECK(ended == 15);
				return visits;
			}
			how = strchr(line, ' ');
			if (how == NULL || (strcmp(how, " slept") != 0 &&
			    (all_sleep || is_exact(line) ||
			    strcmp(how, " interrupted") != 0)))
				failed(__FILE__, __LINE__, "%s", line);
			ended++;
		}
		if (seconds() - start > HANG_S)
			failed(__FILE__, __LINE__, "%d calls of 15 have ended "
			    "after %d visits", ended, visits);
		visit(v->pid, wanted);
		visits++;
	}
}

static void
test_limits(const char *victim)
{
	struct victim v = VICTIM(victim, "500");

	visit_until_ended(&v, TNFCTL_ERR_NONE, false);
	CHECK(victim_end(&v) == 0);
}

/* A process that is refused is not stopped. */
static void
test_refused(void)
{
	struct victim v = VICTIM("limits-bare", "500");

	visit_until_ended(&v, TNFCTL_ERR_NOLIBTNFPROBE, true);
	CHECK(victim_end(&v) == 0);
}

static void
test_forever(void)
{
	struct victim v = VICTIM("limits", "0");
	int i, ended = 0;
	const char *line;

	for (i = 0; i < 80; i++)
		visit(v.pid, TNFCTL_ERR_NONE);
	victim_tell(&v, "\n");
	for (;;) {
		line = victim_says(&v);
		if (strcmp(line, "limits ended") == 0)
			break;
		if (strstr(line, " slept") == NULL)
			failed(__FILE__, __LINE__, "%s", line);
		ended++;
	}
	CHECK(ended == 6);
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	seconds();
	test_refused();
	test_limits("limits");
	test_limits("limits-nolib");
	test_forever();
	return 0;
}
