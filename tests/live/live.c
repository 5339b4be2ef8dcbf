/*
 * live.c - what tests over real processes have in common.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/live/live.h"
#include "tests/slow.h"

#define LIMIT_S		60

static char dir[64];
static int traces;
uid_t victim_user;

static void
clean_up(void)
{
	char cmd[128];

	if (dir[0] == '\0')
		return;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	if (system(cmd) != 0)
		perror(cmd);
}

void
failed(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "FAIL: %s:%d: ", base ? base + 1 : file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
	exit(1);
}

const char *
victim_path(const char *name)
{
	const char *build = getenv("TNF_BUILD");
	static char path[4][512];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/tests/victims/%s",
	    build ? build : ".", name);
	return p;
}

static void
become(const char *name, const char *const *args, int in, int out)
{
	const char *argv[8] = { name };
	char base[64];
	size_t i;

	if (victim_user != 0 && (setgid(victim_user) < 0 ||
	    setuid(victim_user) < 0))
		_exit(125);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, 0);
	dup2(out, 1);
	for (i = 0; i < 6 && args[i] != NULL; i++)
		argv[i + 1] = args[i];
	snprintf(base, sizeof(base), "victim-%s", name);
	execv(victim_path(base), (char *const *)(uintptr_t)argv);
	perror(base);
	_exit(126);
}

struct victim
victim_start(const char *name, const char *const *args)
{
	struct victim v;
	int in[2], out[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	fflush(stdout);
	v.pid = fork();
	CHECK(v.pid >= 0);
	if (v.pid == 0)
		become(name, args, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	v.out = in[1];
	v.in = fdopen(out[0], "r");
	setvbuf(v.in, NULL, _IONBF, 0);	/* poll() tells of every line */
	CHECK_STR(victim_says(&v), "ready");
	return v;
}

void
victim_tell(struct victim *v, const char *line)
{
	size_t n = strlen(line);

	CHECK(write(v->out, line, n) == (ssize_t)n);
}

const char *
victim_says(struct victim *v)
{
	static char line[256];

	if (fgets(line, sizeof(line), v->in) == NULL)
		return "";
	line[strcspn(line, "\n")] = '\0';
	return line;
}

void
victim_leave(struct victim *v)
{
	if (v->out >= 0)
		close(v->out);
	v->out = -1;
}

static void
on_alarm(int sig)
{
}

/* One that comes before the call has begun would be missed: it comes again. */
static void
alarm_each(int ms)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	static timer_t timer;
	static bool made;

	sigaction(SIGALRM, &sa, NULL);
	if (!made)
		CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
	made = true;
	CHECK(timer_settime(timer, 0, &(const struct itimerspec){ t, t }, NULL) == 0);
}

tnfctl_event_t
go_on_for(tnfctl_handle_t *h, int ms)
{
	tnfctl_event_t event = (tnfctl_event_t)-1;

	alarm_each(ms);
	OK(tnfctl_continue(h, &event, NULL));
	alarm_each(0);
	return event;
}

const char *
heard(tnfctl_handle_t *h, struct victim *v)
{
	struct pollfd p = { .fd = fileno(v->in), .events = POLLIN };

	do
		CHECK(go_on_for(h, 100) == TNFCTL_EVENT_EINTR);
	while (poll(&p, 1, 0) == 0);
	return victim_says(v);
}

int
victim_end(struct victim *v)
{
	int status = 0;

	victim_leave(v);
	CHECK(waitpid(v->pid, &status, 0) == v->pid);
	fclose(v->in);
	return status;
}

void
wait_for_zombie(pid_t pid)
{
	siginfo_t info;

	CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
}

char *
proc_text(pid_t pid, const char *what)
{
	char path[64], *text = NULL;
	size_t n = 0, room = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return strdup("");
	do {
		if (room - n < 4096) {
			room = room * 2 + 8192;
			text = realloc(text, room);
			CHECK(text != NULL);
		}
		got = read(fd, text + n, room - n - 1);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	close(fd);
	text[n] = '\0';
	return text;
}

const char *
proc_field(pid_t pid, const char *field)
{
	char *text = proc_text(pid, "status"), *line, *rest = text;
	static char value[4][256];
	static int next;
	char *v = value[next++ % 4];

	v[0] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		if (strncmp(line, field, strlen(field)) == 0 &&
		    line[strlen(field)] == ':')
			snprintf(v, sizeof(value[0]), "%s",
			    line + strlen(field) + 1 +
			    strspn(line + strlen(field) + 1, " \t"));
	free(text);
	return v;
}

/* For how many looks, 5 ms apart, we wait for a state: 100 s on a real machine. */
static long
looks(void)
{
	return 20000 * times_slower();
}

bool
state_is(pid_t pid, const char *letters)
{
	for (long i = looks(); i > 0; i--) {
		const char *s = proc_field(pid, "State");

		if (*s == '\0')
			return false;
		if (strchr(letters, *s) != NULL)
			return true;
		usleep(5000);
	}
	return false;
}

void
wait_asleep(pid_t pid)
{
	char *text;
	bool asleep = false;

	/* "running", or "-1 ..." if the process sleeps outside of a call */
	for (long i = looks(); i > 0 && !asleep; i--) {
		usleep(i == looks() ? 0 : 5000);
		text = proc_text(pid, "syscall");
		asleep = text[0] >= '0' && text[0] <= '9' && *proc_field(pid, "State") == 'S';
		free(text);
	}
	CHECK(asleep);
}

const char *
trace_name(void)
{
	static char name[96];

	if (dir[0] == '\0') {
		snprintf(dir, sizeof(dir), "%s/tnf-live-XXXXXX",
		    getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
		/* Victims of other users write there. */
		CHECK(mkdtemp(dir) != NULL && chmod(dir, 0711) == 0);
		atexit(clean_up);
	}
	snprintf(name, sizeof(name), "%s/%d.tnf", dir, traces++);
	return name;
}

void
make_trace(tnfctl_handle_t *h)
{
	OK(tnfctl_buffer_alloc(h, trace_name(), 1 << 20));
}

size_t
file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

bool
file_has(const char *path, const char *text)
{
	size_t n = file_size(path);
	char *copy = malloc(n + 1);
	FILE *f = fopen(path, "r");
	bool has;

	CHECK(copy != NULL && f != NULL);
	n = fread(copy, 1, n, f);
	has = memmem(copy, n, text, strlen(text)) != NULL;
	fclose(f);
	free(copy);
	return has;
}

static tnfctl_errcode_t
count_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	++*(size_t *)arg;
	return TNFCTL_ERR_NONE;
}

size_t
count_probes(tnfctl_handle_t *h)
{
	size_t n = 0;

	OK(tnfctl_probe_apply(h, count_one, &n));
	return n;
}

struct search {
	char	 start[128];
	tnfctl_probe_t *found;
};

static tnfctl_errcode_t
search_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct search *s = arg;
	tnfctl_probe_state_t state;

	OK(tnfctl_probe_state_get(h, p, &state));
	if (strncmp(state.attr_string, s->start, strlen(s->start)) == 0)
		s->found = p;
	return TNFCTL_ERR_NONE;
}

tnfctl_probe_t *
find_probe(tnfctl_handle_t *h, const char *name)
{
	struct search s = { .found = NULL };

	snprintf(s.start, sizeof(s.start), "name %s;", name);
	OK(tnfctl_probe_apply(h, search_one, &s));
	return s.found;
}

void
enable_all(tnfctl_handle_t *h)
{
	OK(tnfctl_probe_apply(h, tnfctl_probe_enable, NULL));
}

double
seconds(void)
{
	static struct timespec start;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (start.tv_sec == 0)
		start = now;
	return (double)(now.tv_sec - start.tv_sec) +
	    (double)(now.tv_nsec - start.tv_nsec) / 1e9;
}

int
rounds(int normal, int many)
{
	const char *s = getenv("TNF_STRESS");

	return s != NULL && strcmp(s, "long") == 0 ? many : normal;
}

static _Noreturn void
attach_main(pid_t pid)
{
	sigset_t none;
	tnfctl_handle_t *h;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (tnfctl_pid_open(pid, &h) != TNFCTL_ERR_NONE)
		_exit(1);
	tnfctl_buffer_alloc(h, trace_name(), 1 << 20);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	_exit(0);
}

int
attach_apart(pid_t pid, int sig)
{
	struct pollfd p = { .events = POLLIN };
	pid_t child;
	int status;

	trace_name();	/* its directory is not the child's to make */
	if ((child = fork()) == 0)
		attach_main(pid);
	CHECK(child > 0 && (p.fd = (int)syscall(SYS_pidfd_open, child, 0)) >= 0);
	if (sig != 0 && poll(&p, 1, 1000) == 0)
		kill(child, sig);
	if (poll(&p, 1, (int)(LIMIT_S * times_slower()) * 1000) != 1) {
		kill(child, SIGKILL);
		failed(__FILE__, __LINE__, "no end, signal %d", sig);
	}
	close(p.fd);
	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

bool
put_text(const char *group, const char *name, const char *text)
{
	char path[256];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}
