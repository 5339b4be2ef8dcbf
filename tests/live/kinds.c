/*
 * kinds.c - indirect and internal handles, exclusion, several at once.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <tnf/probe.h>

#include "tests/live/live.h"

/* A client that reaches a stopped process in its own way. */
struct other {
	pid_t	pid;
	int	mem;
};

static int
other_read(void *client, uintptr_t at, void *buf, size_t n)
{
	struct other *o = client;

	return pread(o->mem, buf, n, (off_t)at) == (ssize_t)n ? 0 : -1;
}

static int
other_write(void *client, uintptr_t at, void *buf, size_t n)
{
	struct other *o = client;

	return pwrite(o->mem, buf, n, (off_t)at) == (ssize_t)n ? 0 : -1;
}

static pid_t
other_pid(void *client)
{
	return ((struct other *)client)->pid;
}

static int
other_objects(void *client, tnfctl_ind_obj_f *f, void *arg)
{
	struct other *o = client;
	char *text = proc_text(o->pid, "maps"), *line, *rest = text, *path;
	int r = 0;

	while (r == 0 && (line = strsep(&rest, "\n")) != NULL) {
		unsigned long start, offset;

		if (sscanf(line, "%lx-%*x %*s %lx", &start, &offset) != 2 ||
		    offset != 0 || (path = strchr(line, '/')) == NULL)
			continue;
		r = f(client, &(struct tnfctl_ind_obj_info){ .objfd = -1,
		    .text_base = start, .objname = path }, arg);
	}
	free(text);
	return r;
}

static void
test_indirect(void)
{
	tnfctl_ind_config_t config = { other_read, other_write, other_pid,
	    other_objects };
	struct victim v = VICTIM("many", "1");
	struct other o = { .pid = v.pid };
	char name[64];
	const char *trace;
	tnfctl_handle_t *h;

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)v.pid);
	CHECK((o.mem = open(name, O_RDWR)) >= 0);
	kill(v.pid, SIGSTOP);
	CHECK(state_is(v.pid, "T"));
	OK(tnfctl_indirect_open(&o, &config, &h));
	CHECK(count_probes(h) == 1000);
	trace = trace_name();
	OK(tnfctl_buffer_alloc(h, trace, 1 << 20));
	OK(tnfctl_probe_enable(h, find_probe(h, "p444"), NULL));
	OK(tnfctl_check_libs(h));
	CHECK(count_probes(h) == 1000);
	CHECK_CODE(tnfctl_continue(h, &(tnfctl_event_t){ 0 }, NULL),
	    TNFCTL_ERR_BADARG);
	CHECK_CODE(tnfctl_trace_state_set(h, B_TRUE), TNFCTL_ERR_BADARG);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	kill(v.pid, SIGCONT);
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(trace, "p444"));
	CHECK(victim_end(&v) == 0);
	close(o.mem);
}

static int created, destroyed;

static void *
on_create(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	created++;
	return &created;
}

static void
on_destroy(void *data)
{
	destroyed += data == &created;
}

static void
hit(void)
{
	TNF_PROBE_1(inside, "kinds", "", tnf_int, n, 1);
}

static void
test_internal(void)
{
	tnfctl_probe_state_t state;
	tnfctl_handle_t *h, *second;
	tnfctl_probe_t *p;
	const char *name = trace_name();
	unsigned long ids[2] = { 0, 99999 };
	void *plugin;

	OK(tnfctl_internal_open(&h));
	CHECK_CODE(tnfctl_internal_open(&second), TNFCTL_ERR_BUSY);
	OK(tnfctl_register_funcs(h, on_create, on_destroy));
	CHECK(created == (int)count_probes(h) && created > 0);
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	CHECK((p = find_probe(h, "inside")) != NULL);
	OK(tnfctl_probe_enable(h, p, NULL));
	OK(tnfctl_probe_connect(h, p, NULL, "tnf_probe_debug"));
	OK(tnfctl_probe_connect(h, p, "libtnfprobe.so.1", "tnf_probe_debug"));
	OK(tnfctl_probe_connect(h, p, NULL, NULL));
	CHECK_CODE(tnfctl_probe_connect(h, p, NULL, "no_such_function"),
	    TNFCTL_ERR_BADARG);
	CHECK_CODE(tnfctl_probe_connect(h, p, "no.so", "tnf_probe_debug"),
	    TNFCTL_ERR_BADARG);
	OK(tnfctl_probe_state_get(h, p, &state));
	CHECK_STR(state.func_names[1], "tnf_probe_debug");
	CHECK(state.func_names[2] == NULL && state.func_addrs[2] == 0);
	CHECK(state.client_registered_data == &created);
	OK(tnfctl_probe_disconnect_all(h, p, NULL));
	hit();
	CHECK(file_has(name, "inside"));
	/* Objects come and go without a word. */
	plugin = dlopen(victim_path("libvictim-plugin.so"), RTLD_NOW);
	CHECK(plugin != NULL && find_probe(h, "plugin_work") != NULL);
	p = find_probe(h, "plugin_work");
	dlclose(plugin);
	CHECK(find_probe(h, "plugin_work") == NULL);
	CHECK_CODE(tnfctl_probe_enable(h, p, NULL), TNFCTL_ERR_INVALIDPROBE);
	CHECK_CODE(tnfctl_probe_apply_ids(h, 2, ids, tnfctl_probe_trace, NULL),
	    TNFCTL_ERR_INVALIDPROBE);
	OK(tnfctl_probe_apply_ids(h, 1, ids, tnfctl_probe_trace, NULL));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(created == destroyed);
	OK(tnfctl_internal_open(&h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* From inside or from outside, not both. */
static void
test_exclusion(void)
{
	struct victim v = VICTIM("self");
	tnfctl_event_t event;
	tnfctl_handle_t *h;

	victim_tell(&v, "open\n");
	CHECK_STR(victim_says(&v), "0");
	CHECK_CODE(tnfctl_pid_open(v.pid, &h), TNFCTL_ERR_BUSY);
	victim_tell(&v, "close\n");
	CHECK_STR(victim_says(&v), "0");
	OK(tnfctl_pid_open(v.pid, &h));
	victim_tell(&v, "open\nquit\n");
	OK(tnfctl_continue(h, &event, NULL));
	CHECK(event == TNFCTL_EVENT_EXIT);
	CHECK_STR(victim_says(&v), "16");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* Several targets, each from a thread of its own. */
static void *
control_one(void *arg)
{
	struct victim *v = arg;
	tnfctl_event_t event;
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v->pid, &h));
	CHECK(count_probes(h) == 1000);
	victim_tell(v, "\n");
	victim_leave(v);
	OK(tnfctl_continue(h, &event, NULL));
	CHECK(event == TNFCTL_EVENT_EXIT);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	return NULL;
}

static void
test_several(void)
{
	struct victim v[6];
	pthread_t t[6];
	int i, status;

	for (i = 0; i < 6; i++)
		v[i] = VICTIM("many", "2");
	for (i = 0; i < 6; i++)
		CHECK(pthread_create(&t[i], NULL, control_one, &v[i]) == 0);
	for (i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 6; i++) {
		CHECK(waitpid(v[i].pid, &status, 0) == v[i].pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		fclose(v[i].in);
	}
}

/* A later controller finds what an earlier one has set up. */
static void
test_state_stays(void)
{
	struct victim v = VICTIM("many", "1");
	tnfctl_probe_state_t state;
	tnfctl_trace_attrs_t attrs;
	tnfctl_handle_t *h;
	int i;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	enable_all(h);
	OK(tnfctl_probe_untrace(h, find_probe(h, "p300"), NULL));
	/* The pool of functions is small; equal lists share a place. */
	for (i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p30%d", i);
		OK(tnfctl_probe_connect(h, find_probe(h, name), NULL,
		    "tnf_probe_debug"));
	}
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_probe_state_get(h, find_probe(h, "p300"), &state));
	CHECK(state.enabled && !state.traced);
	CHECK_STR(state.func_names[0], "tnf_probe_debug");
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK(attrs.trace_buf_state == TNFCTL_BUF_OK);
	CHECK(attrs.trace_buf_size == 1 << 20);
	CHECK(attrs.trace_file_name[0] == '/');
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
}

/* Settings are the kernel's; there they are kept until the buffer is freed. */
static void
test_settings(void)
{
	struct victim v = VICTIM("many", "1");
	const char *tmp = getenv("TMPDIR");
	unsigned int n = 99;
	tnfctl_handle_t *h;
	char path[300];
	int lock;

	OK(tnfctl_pid_open(v.pid, &h));
	/* BADARG; FILENOTFOUND if the kernel was left out of the build. */
	CHECK(tnfctl_setting_get(h, "stack_depth", &n) != TNFCTL_ERR_NONE);
	CHECK(tnfctl_setting_set(h, "stack_depth", 5) != TNFCTL_ERR_NONE);
	CHECK(n == 99);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
	/* As need_kernel of lib.sh. */
	snprintf(path, sizeof(path), "%s/tnf-kernel-test.lock", tmp ? tmp : "/tmp");
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (geteuid() != 0 || lock < 0 || flock(lock, LOCK_EX) != 0 ||
	    access("/sys/fs/bpf/tnf/state", F_OK) == 0 ||
	    tnfctl_kernel_open(&h) != TNFCTL_ERR_NONE)
		return;
	CHECK_CODE(tnfctl_setting_get(h, "nothing", &n), TNFCTL_ERR_BADARG);
	CHECK(n == 99);
	OK(tnfctl_setting_get(h, "recover_reason", &n));
	CHECK(n == 1);
	OK(tnfctl_setting_set(h, "stack_depth", 5));
	CHECK_CODE(tnfctl_setting_set(h, "stack_depth", 33), TNFCTL_ERR_BADARG);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	OK(tnfctl_kernel_open(&h));
	OK(tnfctl_setting_get(h, "stack_depth", &n));
	CHECK(n == 5);
	CHECK_CODE(tnfctl_buffer_dealloc(h), TNFCTL_ERR_NOBUF);
	CHECK(access("/sys/fs/bpf/tnf/state", F_OK) != 0);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	close(lock);
}

static void
test_texts(void)
{
	CHECK_STR(tnfctl_strerror(TNFCTL_ERR_NONE), "Success");
	CHECK_STR(tnfctl_strerror(TNFCTL_ERR_BUSY),
	    "Device busy - kernel or process already tracing");
	CHECK_STR(tnfctl_strerror(TNFCTL_ERR_BUFBROKEN),
	    "Unknown libtnfctl.so error code");
	CHECK_STR(tnfctl_strerror((tnfctl_errcode_t)-1),
	    "Unknown libtnfctl.so error code");
	CHECK_STR(tnfctl_strerror(TNFCTL_ERR_USR5), "User error 5");
}

int
main(void)
{
	test_texts();
	test_indirect();
	test_internal();
	test_exclusion();
	test_several();
	test_state_stays();
	test_settings();
	return 0;
}
