/*
 * filter.c - seccomp filters: a thread that has one neither loads a library
 * nor opens a file, unless its filter lets all through that is needed for that, and what
 * it does need afterwards no filter refuses.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

/* The filter kills for the opening of a file: it must be another thread's. */
static void
test_thread(const char *who)
{
	struct victim v = VICTIM("filter-nolib", who);
	tnfctl_handle_t *h;
	const char *name;

	OK(tnfctl_pid_open(v.pid, &h));
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(name, "leader") && file_has(name, "worker"));
	CHECK(victim_end(&v) == 0);
}

/* No thread is there to do it: refused before anything is done. */
static void
test_all(void)
{
	struct victim v = VICTIM("filter-nolib", "all");
	char *before = proc_text(v.pid, "maps"), *after;
	tnfctl_handle_t *h;

	CHECK_CODE(tnfctl_pid_open(v.pid, &h), TNFCTL_ERR_NOTLOADABLE);
	CHECK(strstr(tnfctl_error_detail(), "seccomp") != NULL);
	after = proc_text(v.pid, "maps");
	CHECK_STR(after, before);
	free(before);
	free(after);
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(victim_end(&v) == 0);
}

/* The first hit of all is a forked child's, which has the filter, too. */
static void
test_child(void)
{
	const char *path = victim_path("victim-filter-nolib");
	const char *argv[] = { path, "child", NULL }, *name = trace_name();
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	int in[2], status;

	CHECK(pipe(in) == 0 && write(in[1], "\n", 1) == 1);
	CHECK(dup2(in[0], 0) == 0 && close(in[0]) == 0 && close(in[1]) == 0);
	OK(tnfctl_exec_open(path, (char *const *)(uintptr_t)argv, NULL, NULL,
	    NULL, &h));
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	do
		OK(tnfctl_continue(h, &event, NULL));
	while (event != TNFCTL_EVENT_EXIT && event != TNFCTL_EVENT_TARGGONE);
	OK(tnfctl_fate_get(h, &status));
	CHECK(status == 0);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(file_has(name, "child"));
}

/* Victims: one that is linked with libtnfprobe, one that is not, and that one with the library
   preloaded. */
enum library { LINKED, NONE, PRELOADED };

static struct victim
start(enum library library, const char *who, const char *filter)
{
	const char *build = getenv("TNF_BUILD");
	struct victim v;
	char path[512];

	snprintf(path, sizeof(path), "%s/libtnfprobe/libtnfprobe.so.1", build ? build : ".");
	if (library == PRELOADED)
		setenv("LD_PRELOAD", path, 1);
	v = VICTIM(library == LINKED ? "filter" : "filter-nolib", who, filter);
	unsetenv("LD_PRELOAD");
	return v;
}

/* Whose hits there are, by whom the filter is for. */
static const struct hits {
	const char *who;
	const char *by[2];
} hits[] = {
	{ "worker", { "leader", "worker" } },
	{ "leader", { "leader", "worker" } },
	{ "all", { "leader", "worker" } },
	{ "child", { "child" } },
	{ "births", { "thread", "child" } },
};

static bool
has_hits(const char *name, const struct hits *h)
{
	return file_has(name, h->by[0]) && (h->by[1] == NULL || file_has(name, h->by[1]));
}

/* By prex, whose status tells: 0, and the events of all who hit are there, or the filter stands in
   the way.  In no case does anybody die.  Returns whether it was traced. */
static bool
test_prex(enum library library, const struct hits *h, const char *filter)
{
	struct victim v = start(library, h->who, filter);
	const char *build = getenv("TNF_BUILD"), *name = trace_name();
	char cmd[1024], said[256];
	int status;

	snprintf(said, sizeof(said), "%s.said", name);
	snprintf(cmd, sizeof(cmd), "'%s/prex/prex' -o '%s' -p %d -c 'enable $all; quit' > '%s' 2>&1",
	    build ? build : ".", name, (int)v.pid, said);
	status = system(cmd);
	victim_tell(&v, "\n");
	if (strcmp(victim_says(&v), "ready") != 0 || victim_end(&v) != 0)
		failed(__FILE__, __LINE__, "%d %s %s: it dies", library, h->who, filter);
	if (status != 0 && !file_has(said, "seccomp"))
		failed(__FILE__, __LINE__, "%d %s %s: status 0x%x", library, h->who, filter, status);
	if (status == 0 && !has_hits(name, h))
		failed(__FILE__, __LINE__, "%d %s %s: no events", library, h->who, filter);
	return status == 0;
}

static const char *const names[] = { "least", "enough", "getpid", "open", "gettid", "no-open" };

/* Is the clock one that only the kernel can read (TNF_CLOCK: the test says that it is)? */
static bool clock_is_slow;

/* A thread without a filter makes the calls.  If all have one, a library that is there
   makes them at the first hit, if it may: who is not root cannot tell. */
static bool
is_traced(enum library library, const struct hits *h, const char *filter)
{
	if (clock_is_slow && strcmp(filter, "least") == 0 && strcmp(h->who, "child") != 0)
		return false;
	if (strcmp(h->who, "all") != 0 && strcmp(h->who, "child") != 0)
		return true;
	return library != NONE && strcmp(filter, "enough") == 0;
}

static void
test_table(void)
{
	enum library library;
	size_t i, k;

	for (library = LINKED; library <= PRELOADED; library++)
		for (k = 0; k < sizeof(hits) / sizeof(hits[0]); k++)
			for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				if (test_prex(library, &hits[k], names[i]) !=
				    is_traced(library, &hits[k], names[i]) && getuid() == 0)
					failed(__FILE__, __LINE__, "%d %s %s", library,
					    hits[k].who, names[i]);
}

int
main(void)
{
	int i;

	clock_is_slow = getenv("TNF_CLOCK") != NULL;
	test_table();
	if (clock_is_slow)
		return 0;
	for (i = 0; i < rounds(1, 200); i++) {
		test_thread("leader");
		test_thread("worker");
		test_all();
		test_child();
	}
	return 0;
}
