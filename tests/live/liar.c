/*
 * liar.c - a target that lies in its control blocks and its linker's list.
 *
 * Any answer will do, but an answer, in bounded time and memory, and neither
 * side may come to harm.  Run with TNF_LIE=NAME for one of them.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/live/live.h"
#include "tests/slow.h"

static tnfctl_errcode_t
ask(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;

	tnfctl_probe_state_get(h, p, &state);
	tnfctl_probe_connect(h, p, NULL, "tnf_probe_debug");
	tnfctl_probe_state_get(h, p, &state);
	tnfctl_probe_enable(h, p, NULL);
	tnfctl_probe_untrace(h, p, NULL);
	tnfctl_probe_disconnect_all(h, p, NULL);
	tnfctl_probe_disable(h, p, NULL);
	return TNFCTL_ERR_NONE;
}

static void
visit(pid_t pid)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_handle_t *h;

	if (tnfctl_pid_open(pid, &h) != TNFCTL_ERR_NONE) {
		printf("  %s\n", tnfctl_error_detail());
		return;
	}
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK(attrs.trace_min_size <= 16 << 20);
	tnfctl_buffer_alloc(h, trace_name(), 1 << 20);
	OK(tnfctl_probe_apply(h, ask, NULL));
	tnfctl_check_libs(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

int
main(void)
{
	const char *only = getenv("TNF_LIE");
	char name[64];
	FILE *f = popen(victim_path("victim-liar"), "r");
	struct victim v;
	struct rusage usage;

	CHECK(f != NULL);
#if !defined(__SANITIZE_ADDRESS__)
	CHECK(setrlimit(RLIMIT_AS, &(const struct rlimit){ 1 << 30, 1 << 30 }) == 0);
#endif
	while (fgets(name, sizeof(name), f) != NULL) {
		double start = seconds();

		name[strcspn(name, "\n")] = '\0';
		if (only != NULL && strcmp(only, name) != 0)
			continue;
		v = VICTIM("liar", name);
		visit(v.pid);
		victim_tell(&v, "\n");
		CHECK(WEXITSTATUS(victim_end(&v)) == 3);
		printf("%s: %.2f s\n", name, seconds() - start);
		CHECK(seconds() - start < 30 * (double)times_slower());
	}
	pclose(f);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld KiB\n", usage.ru_maxrss);
	return 0;
}
