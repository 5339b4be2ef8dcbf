/*
 * start.c - exec handles: stopped before any code of the program's own.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/live/live.h"

static tnfctl_errcode_t
start(const char *file, const char *arg, tnfctl_handle_t **ret)
{
	const char *argv[] = { file, arg, NULL };

	return tnfctl_exec_open(file, (char *const *)(uintptr_t)argv, NULL,
	    NULL, NULL, ret);
}

/* Constructors were over by the time that probes could be enabled. */
static void
test_constructors(void)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_event_t event;
	tnfctl_handle_t *h;

	OK(start(victim_path("victim-loader"), NULL, &h));
	CHECK(find_probe(h, "early") != NULL);
	make_trace(h);
	enable_all(h);
	OK(tnfctl_continue(h, &event, NULL));
	CHECK(event == TNFCTL_EVENT_EXIT);
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK(file_has(attrs.trace_file_name, "early"));
	CHECK(count_probes(h) == 0);
	CHECK_CODE(tnfctl_continue(h, &event, NULL), TNFCTL_ERR_NOPROCESS);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* Probes of a program that was not linked with libtnfprobe. */
static void
test_preload(void)
{
	tnfctl_probe_state_t state;
	tnfctl_trace_attrs_t attrs;
	tnfctl_handle_t *h;
	tnfctl_probe_t *p;

	OK(start(victim_path("victim-many-nolib"), "3", &h));
	CHECK(count_probes(h) == 1000);
	p = find_probe(h, "p777");
	CHECK(p != NULL);
	OK(tnfctl_probe_state_get(h, p, &state));
	CHECK(!state.enabled && state.traced && state.new_probe);
	CHECK_STR(state.obj_name, victim_path("victim-many-nolib"));
	CHECK(state.func_names == NULL);
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK(attrs.trace_buf_state == TNFCTL_BUF_NONE);
	CHECK(attrs.trace_min_size == 131072 && attrs.trace_state);
	/* Its own process group: Ctrl-C is for us. */
	CHECK(getpgid(attrs.targ_pid) == attrs.targ_pid);
	CHECK_CODE(tnfctl_probe_enable(h, p, NULL), TNFCTL_ERR_NOBUF);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(kill(attrs.targ_pid, 0) < 0);
}

static void
test_refusals(void)
{
	char file[256], cmd[600];
	tnfctl_handle_t *h;

	CHECK_CODE(start("/no/such/program", NULL, &h),
	    TNFCTL_ERR_FILENOTFOUND);
	CHECK_CODE(start("no-such-program-anywhere", NULL, &h),
	    TNFCTL_ERR_FILENOTFOUND);
	CHECK_CODE(start("/etc/passwd", NULL, &h), TNFCTL_ERR_ACCES);
	CHECK_CODE(start("", NULL, &h), TNFCTL_ERR_FILENOTFOUND);
	snprintf(file, sizeof(file), "%s.script", trace_name());
	snprintf(cmd, sizeof(cmd), "echo '#!/no/such' > %s && chmod 755 %s",
	    file, file);
	CHECK(system(cmd) == 0);
	CHECK_CODE(start(file, NULL, &h), TNFCTL_ERR_FILENOTFOUND);
	CHECK(strstr(tnfctl_error_detail(), "interpreter") != NULL);
	unlink(file);
	if (access(victim_path("victim-static"), X_OK) == 0) {
		CHECK_CODE(start(victim_path("victim-static"), NULL, &h),
		    TNFCTL_ERR_NOTDYNAMIC);
		/* The remedy is one: such a program's functions are traced (imports, throws). */
		CHECK(strstr(tnfctl_error_detail(), "linked statically") != NULL);
		CHECK(strstr(tnfctl_error_detail(), "function=NAME") != NULL);
	}
}

/* A set-id program that became traceable would run without its rights. */
static void
test_set_id(void)
{
	char file[256], cmd[1200];
	tnfctl_handle_t *h;

	if (geteuid() != 0)
		return;
	snprintf(file, sizeof(file), "%s.setid", trace_name());
	snprintf(cmd, sizeof(cmd), "cp %s %s && chown 1 %s && chmod 4755 %s",
	    victim_path("victim-loader"), file, file, file);
	CHECK(system(cmd) == 0);
	CHECK_CODE(start(file, NULL, &h), TNFCTL_ERR_ACCES);
	CHECK(strstr(tnfctl_error_detail(), "set-id") != NULL);
}

static void
test_close_actions(void)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_handle_t *h;
	int status;

	OK(start("/bin/true", NULL, &h));
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK_CODE(tnfctl_close(h, (tnfctl_targ_op_t)9), TNFCTL_ERR_BADARG);
	OK(tnfctl_close(h, TNFCTL_TARG_RESUME));
	CHECK(waitpid(attrs.targ_pid, &status, 0) == attrs.targ_pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

	OK(start("true", NULL, &h));
	OK(tnfctl_trace_attrs_get(h, &attrs));
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	CHECK(state_is(attrs.targ_pid, "T"));
	CHECK(atoi(proc_field(attrs.targ_pid, "TracerPid")) == 0);
	OK(tnfctl_pid_open(attrs.targ_pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_RESUME));
	CHECK(waitpid(attrs.targ_pid, &status, 0) == attrs.targ_pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	OK(tnfctl_close(NULL, TNFCTL_TARG_DEFAULT));
}

/* An environment of the client's own is used as it is. */
static void
test_environment(void)
{
	const char *file = victim_path("victim-many-nolib");
	const char *argv[] = { file, NULL }, *env[] = { "A=1", NULL };
	tnfctl_handle_t *h;

	CHECK_CODE(tnfctl_exec_open(file, (char *const *)(uintptr_t)argv,
	    (char *const *)(uintptr_t)env, NULL, NULL, &h),
	    TNFCTL_ERR_NOLIBTNFPROBE);
}

/* A program that is linked statically, with libtnfprobe.a: started, and attached. */
static void
test_static(const char *victim)
{
	const char *name = trace_name();
	struct victim v;
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	int in[2], saved;
	char file[64];

	snprintf(file, sizeof(file), "victim-%s", victim);
	if (access(victim_path(file), X_OK) != 0)
		return;
	/* It reads one line, and hits. */
	CHECK(pipe2(in, O_CLOEXEC) == 0 && write(in[1], "\n", 1) == 1);
	CHECK((saved = fcntl(0, F_DUPFD_CLOEXEC, 3)) >= 0 && dup2(in[0], 0) == 0);
	OK(start(victim_path(file), "0", &h));
	dup2(saved, 0);
	close(saved);
	close(in[0]);
	close(in[1]);
	CHECK(count_probes(h) == 1000);
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	OK(tnfctl_probe_enable(h, find_probe(h, "p444"), NULL));
	OK(tnfctl_probe_connect(h, find_probe(h, "p444"), NULL, "tnf_probe_debug"));
	OK(tnfctl_continue(h, &event, NULL));
	CHECK(event == TNFCTL_EVENT_EXIT);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(file_has(name, "p444"));
	v = VICTIM(victim, "1");
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK(count_probes(h) == 1000);
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	OK(tnfctl_probe_enable(h, find_probe(h, "p333"), NULL));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(name, "p333"));
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	test_constructors();
	test_static("many-static");
	test_static("many-static-pie");
	test_preload();
	test_refusals();
	test_set_id();
	test_close_actions();
	test_environment();
	return 0;
}
