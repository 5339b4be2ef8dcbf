/*
 * events.c - what tnfctl_continue() tells, and the state it leaves.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/live/live.h"

static tnfctl_event_t
go_on(tnfctl_handle_t *h)
{
	tnfctl_event_t event = (tnfctl_event_t)-1;

	OK(tnfctl_continue(h, &event, NULL));
	return event;
}

struct line {
	struct victim *victim;
	const char *text;
};

/* As soon as it runs, and waits for it. */
static void *
tell_later(void *arg)
{
	struct line *l = arg;

	CHECK(state_is(l->victim->pid, "SD"));
	victim_tell(l->victim, l->text);
	return NULL;
}

/* The victim obeys while the caller is in tnfctl_continue(). */
static tnfctl_event_t
told(tnfctl_handle_t *h, struct victim *v, const char *text,
    tnfctl_handle_t **child)
{
	struct line l = { .victim = v, .text = text };
	tnfctl_event_t event = (tnfctl_event_t)-1;
	pthread_t t;

	CHECK(pthread_create(&t, NULL, tell_later, &l) == 0);
	OK(tnfctl_continue(h, &event, child));
	pthread_join(t, NULL);
	return event;
}

static void
test_dlopen(void)
{
	struct victim v = VICTIM("loader", victim_path("libvictim-plugin.so"));
	tnfctl_probe_state_t state;
	tnfctl_handle_t *h;
	tnfctl_probe_t *p;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	enable_all(h);
	CHECK(find_probe(h, "plugin_work") == NULL);
	CHECK(told(h, &v, "\n", NULL) == TNFCTL_EVENT_DLOPEN);
	p = find_probe(h, "plugin_work");
	CHECK(p != NULL && find_probe(h, "plugin_start") != NULL);
	OK(tnfctl_probe_state_get(h, p, &state));
	CHECK(state.new_probe && !state.enabled && state.traced);
	OK(tnfctl_probe_state_get(h, find_probe(h, "loader"), &state));
	CHECK(!state.new_probe && state.enabled);
	OK(tnfctl_probe_enable(h, p, NULL));
	CHECK(told(h, &v, "\n", NULL) == TNFCTL_EVENT_DLCLOSE);
	CHECK(find_probe(h, "plugin_work") == NULL);
	CHECK_CODE(tnfctl_probe_enable(h, p, NULL), TNFCTL_ERR_INVALIDPROBE);
	CHECK_CODE(tnfctl_probe_state_get(h, p, &state),
	    TNFCTL_ERR_INVALIDPROBE);
	/* Numbers are never used again. */
	CHECK(told(h, &v, "\n", NULL) == TNFCTL_EVENT_DLOPEN);
	OK(tnfctl_probe_state_get(h, find_probe(h, "plugin_work"), &state));
	CHECK(state.id >= 4);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* In a child of ours the target stops before constructors run. */
static void
test_dlopen_constructor(void)
{
	const char *file = victim_path("victim-loader"), *name;
	const char *argv[] = { file, victim_path("libvictim-plugin.so"), NULL };
	int in[2], saved;
	tnfctl_handle_t *h;

	CHECK(pipe2(in, O_CLOEXEC) == 0 && 
	    (saved = fcntl(0, F_DUPFD_CLOEXEC, 3)) >= 0 && dup2(in[0], 0) == 0);
	OK(tnfctl_exec_open(file, (char *const *)(uintptr_t)argv, NULL, NULL,
	    NULL, &h));
	dup2(saved, 0);
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	CHECK(write(in[1], "\n", 1) == 1);
	close(in[1]);
	close(in[0]);
	CHECK(go_on(h) == TNFCTL_EVENT_DLOPEN);
	enable_all(h);
	CHECK(go_on(h) == TNFCTL_EVENT_EXIT);
	CHECK(file_has(name, "plugin_start"));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* The instruction that stops the target where it loads objects does no harm to its children, and
   is there again afterwards. */
static void
test_dlopen_of_children(const char *how)
{
	const char *file = victim_path("victim-children");
	const char *argv[] = { strdup(file), strdup(victim_path("libvictim-plugin.so")), how, NULL };
	int came = 0, went = 0, status = -1;
	tnfctl_event_t event;
	tnfctl_handle_t *h;

	OK(tnfctl_exec_open(argv[0], (char *const *)(uintptr_t)argv, NULL, NULL, NULL, &h));
	while ((event = go_on(h)) == TNFCTL_EVENT_DLOPEN || event == TNFCTL_EVENT_DLCLOSE) {
		came += event == TNFCTL_EVENT_DLOPEN;
		went += event == TNFCTL_EVENT_DLCLOSE;
	}
	CHECK(event == TNFCTL_EVENT_EXIT);
	CHECK(came == 2 && went == 2);
	OK(tnfctl_fate_get(h, &status));
	CHECK(status == 0);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

static void
test_eintr(void)
{
	struct victim v = VICTIM("many", "3");
	tnfctl_handle_t *h;
	int i;

	OK(tnfctl_pid_open(v.pid, &h));
	for (i = 1; i < 20; i++) {
		CHECK(go_on_for(h, i) == TNFCTL_EVENT_EINTR);
		CHECK(state_is(v.pid, "t"));
	}
	victim_tell(&v, "\n");
	CHECK_STR(heard(h, &v), "ready");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* The client's mask and its other children are none of our business. */
static void
test_client(void)
{
	struct victim v = VICTIM("many", "1"), other = VICTIM("many", "1");
	sigset_t before = { { 0 } }, after = { { 0 } };
	tnfctl_handle_t *h;
	int status;
	pid_t pid;

	if ((pid = fork()) == 0)
		_exit(11);
	wait_for_zombie(pid);	/* ours, all the while */
	OK(tnfctl_pid_open(v.pid, &h));
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	CHECK(go_on_for(h, 50) == TNFCTL_EVENT_EINTR);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	CHECK(memcmp(&before, &after, sizeof(before)) == 0);
	victim_tell(&v, "\n");
	victim_leave(&v);
	CHECK(go_on(h) == TNFCTL_EVENT_EXIT);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(waitpid(v.pid, &status, 0) == v.pid && WIFEXITED(status));
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 11);
	fclose(v.in);
	CHECK(victim_end(&other) == 0);
}

static void
test_ends(void)
{
	static const struct {
		const char *text;
		tnfctl_event_t event;
		bool	code;
		int	status;
	} ends[] = {
		{ "exit=3\n", TNFCTL_EVENT_EXIT, true, 3 },
		{ "kill=9\n", TNFCTL_EVENT_TARGGONE, false, 9 },
		{ "kill=15\n", TNFCTL_EVENT_TARGGONE, false, 15 },
		{ "leave\n", TNFCTL_EVENT_EXIT, true, 4 },
	};
	tnfctl_handle_t *h;
	tnfctl_event_t event;
	struct victim v;
	int status;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		v = VICTIM("ends");
		OK(tnfctl_pid_open(v.pid, &h));
		/* A thread that leaves may have its C library load libgcc_s.so.1. */
		if ((event = told(h, &v, ends[i].text, NULL)) == TNFCTL_EVENT_DLOPEN)
			event = go_on(h);
		CHECK(event == ends[i].event);
		CHECK_CODE(tnfctl_continue(h, &(tnfctl_event_t){ 0 }, NULL),
		    TNFCTL_ERR_NOPROCESS);
		CHECK(count_probes(h) == 0);
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
		status = victim_end(&v);
		CHECK(ends[i].code ? WEXITSTATUS(status) == ends[i].status :
		    WTERMSIG(status) == ends[i].status);
	}
}

static void
test_exec(const char *how)
{
	struct victim v = VICTIM("ends");
	tnfctl_handle_t *h;
	char text[600];

	OK(tnfctl_pid_open(v.pid, &h));
	snprintf(text, sizeof(text), "%s=%s\n", how,
	    victim_path("victim-many"));
	CHECK(told(h, &v, text, NULL) == TNFCTL_EVENT_EXEC);
	CHECK(count_probes(h) == 0);
	CHECK_CODE(tnfctl_continue(h, &(tnfctl_event_t){ 0 }, NULL),
	    TNFCTL_ERR_BADARG);
	/* Followed: suspend, open again, in front of the new program. */
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	CHECK(state_is(v.pid, "T"));
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK(count_probes(h) == 1000);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK_STR(victim_says(&v), "ready");
	CHECK(victim_end(&v) == 0);
}

/* Without a place for the child's handle children run free. */
static void
test_fork_unnoticed(void)
{
	struct victim v = VICTIM("ends");
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	victim_tell(&v, "fork vfork clone\n");
	CHECK_STR(heard(h, &v), "child 5");
	CHECK_STR(heard(h, &v), "child 6");
	CHECK_STR(heard(h, &v), "child 8");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

static void
test_fork_followed(void)
{
	struct victim v = VICTIM("ends");
	tnfctl_handle_t *h, *child = NULL;
	tnfctl_trace_attrs_t attrs;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	CHECK(told(h, &v, "fork\n", &child) == TNFCTL_EVENT_FORK);
	CHECK(child != NULL);
	OK(tnfctl_trace_attrs_get(child, &attrs));
	CHECK(attrs.targ_pid != v.pid && attrs.targ_pid > 0);
	CHECK(attrs.trace_buf_state == TNFCTL_BUF_OK);
	OK(tnfctl_probe_enable(child, find_probe(child, "child"), NULL));
	CHECK(go_on(child) == TNFCTL_EVENT_EXIT);
	CHECK(file_has(attrs.trace_file_name, "child"));
	OK(tnfctl_close(child, TNFCTL_TARG_DEFAULT));
	CHECK_STR(heard(h, &v), "child 5");
	CHECK_STR(heard(h, &v), "done");
	child = NULL;
	CHECK(told(h, &v, "vfork\n", &child) == TNFCTL_EVENT_FORK);
	OK(tnfctl_close(child, TNFCTL_TARG_RESUME));
	CHECK_STR(heard(h, &v), "child 6");
	CHECK_STR(heard(h, &v), "done");
	CHECK(told(h, &v, "clone\n", &child) == TNFCTL_EVENT_FORK);
	OK(tnfctl_close(child, TNFCTL_TARG_RESUME));
	CHECK_STR(heard(h, &v), "child 8");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* Threads make children at once, and after each that we are told of the process
   gets another file: it runs for that, and none of the others may be forgotten. */
static void
test_fork_while_exchanged(void)
{
	const char *file = victim_path("victim-family");
	const char *argv[] = { file, "4", "6", NULL };
	tnfctl_handle_t *h, *child;
	tnfctl_event_t event;
	int told = 0, exchanged = 0;

	alarm(600);
	OK(tnfctl_exec_open(file, (char *const *)(uintptr_t)argv, NULL, NULL,
	    NULL, &h));
	OK(tnfctl_buffer_alloc(h, trace_name(), 1 << 20));
	for (;;) {
		child = NULL;
		OK(tnfctl_continue(h, &event, &child));
		if (event == TNFCTL_EVENT_EXIT)
			break;
		CHECK(event == TNFCTL_EVENT_FORK && child != NULL);
		told++;
		/* There need not be a thread that can make the call. */
		exchanged += tnfctl_buffer_exchange(h, trace_name(), 1 << 20) ==
		    TNFCTL_ERR_NONE;
		OK(tnfctl_close(child, TNFCTL_TARG_RESUME));
	}
	alarm(0);
	CHECK(told == 24);
	printf("%d files exchanged\n", exchanged);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* A thread that sleeps deep in the kernel is not forgotten. */
static void
test_deep(void)
{
	struct victim v = VICTIM("ends");
	tnfctl_handle_t *h;

	victim_tell(&v, "vforkread\n");
	CHECK(state_is(v.pid, "D"));
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK_CODE(tnfctl_close(h, TNFCTL_TARG_DEFAULT), TNFCTL_ERR_BUSY);
	victim_tell(&v, "\n");
	CHECK(state_is(v.pid, "t"));
	CHECK_CODE(tnfctl_continue(h, &(tnfctl_event_t){ 0 }, NULL),
	    TNFCTL_ERR_BADARG);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK_STR(victim_says(&v), "child 7");
	CHECK(victim_end(&v) == 0);
}

/* Job control: stopped by somebody else, it stays so until SIGCONT. */
static void
test_stopped_by_others(void)
{
	struct victim v = VICTIM("many", "2");
	struct pollfd said = { .fd = fileno(v.in), .events = POLLIN };
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	CHECK(go_on_for(h, 20) == TNFCTL_EVENT_EINTR);
	kill(v.pid, SIGSTOP);
	CHECK(go_on_for(h, 100) == TNFCTL_EVENT_EINTR);
	victim_tell(&v, "\n");
	CHECK(go_on_for(h, 100) == TNFCTL_EVENT_EINTR);
	CHECK(poll(&said, 1, 0) == 0);
	kill(v.pid, SIGCONT);
	CHECK_STR(heard(h, &v), "ready");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* Signals, threads that come and go, dlopen: it runs as if it were alone. */
static void
test_load(void)
{
	struct victim v = VICTIM("threads", "20", "-", "signals", "dlopen",
	    victim_path("libvictim-plugin.so"));
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	int seen = 0;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	enable_all(h);
	do {
		event = go_on(h);
		seen += event == TNFCTL_EVENT_DLOPEN;
		if (seen == 20)
			victim_leave(&v);
	} while (event == TNFCTL_EVENT_DLOPEN || event == TNFCTL_EVENT_DLCLOSE);
	CHECK(event == TNFCTL_EVENT_EXIT);
	CHECK(seen >= 20);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(WEXITSTATUS(victim_end(&v)) == 7);
}

int
main(void)
{
	test_dlopen();
	test_dlopen_constructor();
	test_dlopen_of_children("alone");
	test_dlopen_of_children("thread");
	test_eintr();
	test_client();
	test_ends();
	test_exec("exec");
	test_exec("threadexec");
	test_fork_unnoticed();
	test_fork_followed();
	test_fork_while_exchanged();
	test_deep();
	test_stopped_by_others();
	test_load();
	return 0;
}
