/*
 * objects.c - what is read of the files that are loaded in a target.
 */
#include <sys/inotify.h>

#include "tests/live/live.h"

/* As clang++ makes them: each probe in a section of its own. */
static void
test_sections(void)
{
	struct victim v = VICTIM("many-sections", "1");
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	CHECK(count_probes(h) == 1000);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

static tnfctl_errcode_t
connect_main(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	return tnfctl_probe_connect(h, p, NULL, "main");
}

static tnfctl_errcode_t
is_connected(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;

	OK(tnfctl_probe_state_get(h, p, &state));
	CHECK(state.func_names != NULL);
	CHECK_STR(state.func_names[0], "main");
	return TNFCTL_ERR_NONE;
}

/* Files are not searched again for each probe. */
static void
test_names(void)
{
	struct victim v = VICTIM("many", "1");
	struct inotify_event events[256];
	tnfctl_handle_t *h;
	ssize_t n;
	int fd;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	CHECK((fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) >= 0);
	CHECK(inotify_add_watch(fd, victim_path("victim-many"), IN_OPEN | IN_CLOSE) >= 0);
	OK(tnfctl_probe_apply(h, connect_main, NULL));
	OK(tnfctl_probe_apply(h, is_connected, NULL));
	OK(tnfctl_probe_apply(h, is_connected, NULL));
	/* Opened and closed for each question, and for looks at what is loaded. */
	n = read(fd, events, sizeof(events));
	CHECK(n >= 4 * (ssize_t)sizeof(events[0]));
	CHECK(n < 100 * (ssize_t)sizeof(events[0]));
	close(fd);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	test_sections();
	test_names();
	return 0;
}
