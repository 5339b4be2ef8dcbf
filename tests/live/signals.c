/*
 * signals.c - no signal of the target is lost, however the controller ends.
 *
 * A thread that is about to get a signal stops for its controller: the signal
 * is not pending any more then, and not delivered yet.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/live.h"

static const int deaths[] = { SIGKILL, SIGHUP, SIGTERM, SIGPIPE };
#ifdef SYS_epoll_wait
#define CALL_EPOLL	SYS_epoll_wait
#else
#define CALL_EPOLL	SYS_epoll_pwait	/* all that new machines have */
#endif
#define DEATHS	(sizeof(deaths) / sizeof(deaths[0]))

struct prex {
	pid_t	 pid;
	int	 in;
	FILE	*out;
};

static struct prex
prex_start(pid_t target)
{
	char prex[512], pid[16], file[96];
	int in[2], out[2];
	struct prex p;

	snprintf(prex, sizeof(prex), "%s/prex/prex", getenv("TNF_BUILD"));
	snprintf(pid, sizeof(pid), "%d", (int)target);
	snprintf(file, sizeof(file), "%s", trace_name());
	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	CHECK((p.pid = fork()) >= 0);
	if (p.pid == 0) {
		/* Whoever runs the tests may have these ignored, as nohup does; prex
		   would leave that so. */
		for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
			signal(deaths[i], SIG_DFL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		setenv("HOME", "/nonexistent", 1);
		execl(prex, prex, "-p", pid, "-o", file, (char *)NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	p.out = fdopen(out[0], "r");
	return p;
}

/* Ends one whose target is stopped, or runs, by this signal. */
static void
prex_die(struct prex *p, bool running, int sig)
{
	char line[256];
	int status;

	do
		CHECK(fgets(line, sizeof(line), p->out) != NULL);
	while (strncmp(line, "Type ", 5) != 0);
	if (running)
		CHECK(write(p->in, "continue\n", 9) == 9);
	if (sig == SIGPIPE) {
		fclose(p->out);
		/* It may be gone at the second. */
		CHECK(running || write(p->in, "list probes $all\n", 17) == 17);
	}
	if (sig != SIGPIPE || running)
		kill(p->pid, sig);
	CHECK(waitpid(p->pid, &status, 0) == p->pid);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != sig)
		failed(__FILE__, __LINE__, "status %x after signal %d", status,
		    sig);
	close(p->in);
	if (sig != SIGPIPE)
		fclose(p->out);
}

static void
all_came(struct victim *v)
{
	unsigned long sent, got;

	victim_tell(v, "\n");
	CHECK(sscanf(victim_says(v), "sent %lu got %lu", &sent, &got) == 2);
	if (sent != got)
		failed(__FILE__, __LINE__, "%lu signals sent, %lu came", sent,
		    got);
	CHECK(sent > 100);
	CHECK(victim_end(v) == 0);
}

static void
test_prex(void)
{
	struct victim v = VICTIM("signals", "8");
	struct prex p;
	size_t i;
	int j;

	for (i = 0; i < DEATHS; i++)
		for (j = 0; j < rounds(4, 40); j++) {
			p = prex_start(v.pid);
			prex_die(&p, j % 2 == 1, deaths[i]);
		}
	all_came(&v);
}

/* Is it back in its sleep, or has it ended? */
static bool
sleeps_again(pid_t pid)
{
	char *text;
	bool asleep;

	do {
		text = proc_text(pid, "syscall");
		asleep = strtol(text, NULL, 10) == CALL_EPOLL &&
		    *proc_field(pid, "State") == 'S';
		free(text);
	} while (!asleep && *proc_field(pid, "State") != 'Z');
	return asleep;
}

/* A call that the kernel would end with EINTR when a tracer dies. */
static void
test_sleep(void)
{
	struct victim v = VICTIM("sleeper", "epoll", "-1");
	struct prex p;
	size_t i;

	CHECK(sleeps_again(v.pid));
	for (i = 1; i < 2 * DEATHS; i++) {
		if (deaths[i % DEATHS] == SIGKILL)
			continue;
		p = prex_start(v.pid);
		prex_die(&p, i >= DEATHS, deaths[i % DEATHS]);
		CHECK(sleeps_again(v.pid));
	}
	kill(v.pid, SIGKILL);
	victim_end(&v);
}

/* At any moment of attaching, holding and letting go. */
static void
test_client(void)
{
	struct victim v = VICTIM("signals", "8");
	tnfctl_handle_t *h;
	int i, status;
	pid_t pid;

	for (i = 0; i < rounds(40, 1000); i++) {
		CHECK((pid = fork()) >= 0);
		while (pid == 0)
			if (tnfctl_pid_open(v.pid, &h) == TNFCTL_ERR_NONE)
				tnfctl_close(h, TNFCTL_TARG_DEFAULT);
		usleep((unsigned int)(i * 7919 % 20000));
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid);
	}
	all_came(&v);
}

int
main(void)
{
	test_prex();
	test_sleep();
	test_client();
	return 0;
}
