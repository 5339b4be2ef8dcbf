/*
 * family.c - children that are followed, and whoever follows them dies.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/live/live.h"

/* prex with a command, or with -p PID; its output goes to 'log'. */
static pid_t
prex_start(const char *log, const char *const *args)
{
	char prex[512];
	const char *argv[16] = { prex, "--follow-fork", "-o" };
	pid_t pid;
	size_t i;
	int fd;

	snprintf(prex, sizeof(prex), "%s/prex/prex", getenv("TNF_BUILD"));
	argv[3] = strdup(trace_name());
	argv[4] = "-c";
	argv[5] = "enable $all; continue";
	for (i = 0; args[i] != NULL; i++)
		argv[6 + i] = args[i];
	CHECK((pid = fork()) >= 0);
	if (pid == 0) {
		fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
		dup2(fd, 1);
		dup2(fd, 2);
		setenv("HOME", "/nonexistent", 1);
		execv(prex, (char *const *)(uintptr_t)argv);
		_exit(126);
	}
	free((char *)(uintptr_t)argv[3]);
	return pid;
}

static size_t
count_lines(const char *path, const char *text)
{
	FILE *f = fopen(path, "r");
	char line[512];
	size_t n = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, text) != NULL;
	if (f != NULL)
		fclose(f);
	return n;
}

/* Threads that make children at once: each child is followed, and all end. */
static void
test_at_once(void)
{
	const char *file = victim_path("victim-family");
	char log[96];
	int i, status;
	pid_t pid;

	snprintf(log, sizeof(log), "%s", trace_name());
	for (i = 0; i < rounds(4, 100); i++) {
		pid = prex_start(log, (const char *const []){ file,
		    i % 2 == 0 ? "2" : "4", "6", NULL });
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		CHECK(count_lines(log, "unharmed") == 1);
		CHECK(count_lines(log, "is followed") ==
		    (i % 2 == 0 ? 12 : 24));
	}
}

/* No process stands still when the one that followed them is gone. */
static void
test_killed(void)
{
	struct victim v = VICTIM("family", "3");
	char log[96], target[16];
	size_t followed = 0;
	int i, status;
	pid_t pid;

	snprintf(log, sizeof(log), "%s", trace_name());
	snprintf(target, sizeof(target), "%d", (int)v.pid);
	for (i = 0; i < rounds(12, 300) || followed == 0; i++) {
		pid = prex_start(log, (const char *const []){ "-p", target,
		    NULL });
		while (i % 4 != 0 && count_lines(log, "is followed") == 0 &&
		    waitpid(pid, &status, WNOHANG) == 0)
			usleep(1000);
		usleep((unsigned int)(i * 7919 % 30000));
		followed += count_lines(log, "is followed");
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status));
	}
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	alarm(300);
	test_at_once();
	test_killed();
	return 0;
}
