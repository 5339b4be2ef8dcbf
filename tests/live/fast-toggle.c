/*
 * fast-toggle.c PID TIMES - switches the fast probes of fast-target on and off so often, by turns all at once
 * and one by one, and lets it run for a moment each time.  The target has a trace file.  Prints how often it was
 * so, and how often a thread was in the way.
 */
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <tnf/tnfctl.h>

#define MAX	1024u

static long refused;
static unsigned long ids[MAX];
static size_t nids;

static void
on_alarm(int sig)
{
}

static tnfctl_errcode_t
choose(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err == TNFCTL_ERR_NONE && nids < MAX && strncmp(state.attr_string, "name exec", 9) == 0 &&
	    strstr(state.attr_string, ";fast yes;") != NULL)
		ids[nids++] = state.id;
	return err;
}

/* In a function of ours the library does not see what is coming. */
static tnfctl_errcode_t
set_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *on)
{
	return (on != NULL ? tnfctl_probe_enable : tnfctl_probe_disable)(h, p, NULL);
}

static tnfctl_errcode_t
is_set(tnfctl_handle_t *h, tnfctl_probe_t *p, void *on)
{
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	refused += err == TNFCTL_ERR_NONE && (state.enabled == B_TRUE) != (on != NULL);
	return err;
}

static void
check(tnfctl_errcode_t err, const char *what)
{
	if (err != TNFCTL_ERR_NONE)
		errx(1, "%s: %s: %s", what, tnfctl_strerror(err), tnfctl_error_detail());
}

static void
set(tnfctl_handle_t *h, bool on, bool at_once)
{
	void *arg = on ? h : NULL;

	check(tnfctl_probe_apply_ids(h, nids, ids, !at_once ? set_one : on ? tnfctl_probe_enable :
	    tnfctl_probe_disable, arg), on ? "on" : "off");
	check(tnfctl_probe_apply_ids(h, nids, ids, is_set, arg), "look");
}

/* Lets the target run for so long.  The timer goes on, as its first signal may come before the
   target runs. */
static void
run_for(tnfctl_handle_t *h, long us)
{
	const struct itimerval every = { { 0, us }, { 0, us } }, never = { .it_value.tv_sec = 0 };
	tnfctl_event_t event;

	setitimer(ITIMER_REAL, &every, NULL);
	do
		check(tnfctl_continue(h, &event, NULL), "continue");
	while (event == TNFCTL_EVENT_DLOPEN || event == TNFCTL_EVENT_DLCLOSE);
	setitimer(ITIMER_REAL, &never, NULL);
	if (event != TNFCTL_EVENT_EINTR)
		errx(1, "event %d instead of an interrupt", (int)event);
}

int
main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_alarm };
	tnfctl_handle_t *h;
	long n = 0, times;

	if (argc != 3)
		errx(2, "usage: fast-toggle PID TIMES");
	times = atol(argv[2]);
	sigaction(SIGALRM, &act, NULL);
	check(tnfctl_pid_load(atoi(argv[1]), &h), "attach");
	check(tnfctl_import_add(h, "fast", NULL), "fast");
	check(tnfctl_import_add(h, "usdt", NULL), "imports");
	check(tnfctl_import_add(h, "function", "/^exec_/"), "functions");
	check(tnfctl_probe_apply(h, choose, NULL), "choose");
	if (nids < 4)
		errx(1, "only %zu fast probes: nothing is switched at once", nids);
	for (; n < times; n++) {
		set(h, true, n % 2 == 0);
		run_for(h, 300);
		set(h, false, n % 4 < 2);
		run_for(h, 100);
	}
	check(tnfctl_close(h, TNFCTL_TARG_DEFAULT), "close");
	printf("times %ld refused %ld\n", n, refused);
	return 0;
}
