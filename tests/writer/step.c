/*
 * step.c - stops a program at each instruction of its probes.
 *
 *	read	the file is sound at every instruction: what a kill -9 there
 *		would leave behind can be read, and no event is torn
 *	signal	a handler with a probe runs at every instruction: no deadlock,
 *		each of its events is recorded or counted as lost
 *	fork	a handler forks at every few instructions of a hit: the child
 *		goes on from there and comes to its end, and what its parent
 *		records is none of its business
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/runtime.h>

#include "tests/writer/events.h"
#include "tests/writer/selfctl.h"

/* Seen by both: the child says where it is. */
static struct shared {
	volatile int step;	/* region in which to stop; 0: none */
	volatile int handled;
	volatile int off;	/* the thread is disabled, or about to be */
	volatile int may_miss;	/* so many handlers ran then */
	volatile int ended;	/* status of a child that has not ended well */
} *shared;

#define FILE_SIZE	(128 * 1024)
#ifdef __SANITIZE_ADDRESS__
#define FORK_EVERY	301
#else
#define FORK_EVERY	7
#endif
#define HANG_S		120	/* without a step */

static char path[64];

struct point { int x, y; };
TNF_DECLARE_RECORD(struct point, t_point);
TNF_DEFINE_RECORD_2(struct point, t_point, tnf_int, x, tnf_int, y)

static void __attribute__((noinline))
deeper(int n)
{
	char room[1024];

	memset(room, n, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	TNF_PROBE_1(handler, "", "", tnf_int, n, n);
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Its hits are at one depth of the stack and at another; now and then it gives
   the thread's block back. */
static void
on_signal(int sig)
{
	if (shared->handled % 3 == 0) {
		deeper(shared->handled);
	} else {
		TNF_PROBE_1(handler, "", "", tnf_int, n, shared->handled);
	}
	if (shared->handled % 5 == 0) {
		tnf_thread_disable();
		tnf_thread_enable();
	}
	shared->may_miss += shared->off;
	shared->handled++;
	__asm__ volatile("int3");
}

static bool forked;

static void
on_fork(int sig)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		forked = true;
		return;
	}
	waitpid(pid, &status, 0);
	if (status != 0)
		shared->ended = status;
	shared->handled++;
	__asm__ volatile("int3");
}

/* A probe that is made at run time, with a value that fills several blocks. */
static struct tnf_probe_control *made;
#define LONG	1000

static const char *
long_text(void)
{
	static char text[LONG + 1];
	int i;

	for (i = 0; i < LONG; i++)
		text[i] = (char)('a' + i % 26);
	return text;
}

static void
make_probe(void)
{
	static const struct tnf_probe_argument_type args[] = {
		{ "i", TNF_ARG_INT32 }, { "s", TNF_ARG_TEXT }
	};

	made = tnf_probe_define("made", "", "", 2, args);
	selfctl_on(made);
}

static void
hits(int i)
{
	static char big[256];
	struct tnf_probe_value value[2];
	struct point p = { i, -i };

	memset(big, 'b', 255);
	TNF_PROBE_0(none, "", "");
	TNF_PROBE_2(ints, "", "", tnf_int, a, i, tnf_int, b, ~i);
	TNF_PROBE_2(text, "", "", tnf_string, s, "hello", t_point, p, &p);
	TNF_PROBE_3(big, "", "", tnf_string, s, big, tnf_string, t, big,
	    tnf_int, i, i);
	value[0].u.i = i;
	value[1].u.text = long_text();
	value[1].size = TNF_SIZE_NUL;
	tnf_probe_hit(made, value);
	selfctl_trace("ints", 0);
	TNF_PROBE_2(ints, "", "", tnf_int, a, i, tnf_int, b, ~i);
	selfctl_trace("ints", 1);
	shared->off = 1;
	tnf_thread_disable();
	tnf_thread_enable();
	shared->off = 0;
}

static void
child(unsigned kbytes, void (*handler)(int))
{
	sigset_t set;
	int i;

	selfctl_file(path, kbytes);
	selfctl_enable(NULL);
	make_probe();
	signal(SIGUSR1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);	/* would stop us, too */
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1)
		_exit(77);
	raise(SIGSTOP);
	shared->step = 1;	/* file, types, definitions */
	hits(0);
	shared->step = 2;	/* all is there */
	for (i = 1; i < 4 && !forked; i++)
		hits(i);
	if (!forked)
		shared->step = 0;
	_exit(0);
}

static void
check_text(const struct event_line *l, const char *big)
{
	int a, b;
	char want[LONG + 100];

	if (strcmp(l->text, "none") == 0 ||
	    strncmp(l->text, "handler n=", 10) == 0)
		return;
	if (sscanf(l->text, "ints a=%d b=%d", &a, &b) == 2 && b == ~a)
		return;
	if (sscanf(l->text, "text s=\"hello\" p={x=%d y=%d}", &a, &b) == 2 &&
	    b == -a)
		return;
	if (sscanf(l->text, "made i=%d", &a) == 1) {
		snprintf(want, sizeof(want), "made i=%d s=\"%s\"", a,
		    long_text());
		if (strcmp(want, l->text) == 0)
			return;
	}
	if (strncmp(l->text, "big", 3) == 0) {
		for (a = 0; a < 4; a++) {
			snprintf(want, sizeof(want),
			    "big s=\"%s\" t=\"%s\" i=%d", big, big, a);
			if (strcmp(want, l->text) == 0)
				return;
		}
	}
	errx(1, "torn event: %s", l->text);
}

static size_t
check(const char *file, struct events *e)
{
	char big[256];
	size_t i;

	memset(big, 'b', 255);
	big[255] = '\0';
	events_read(file, e);
	if (e->damaged)
		errx(1, "damaged");
	for (i = 0; i < e->n; i++)
		check_text(&e->v[i], big);
	i = e->n;
	events_free(e);
	return i;
}

/* Has the file changed since the last call?  Before its magic is stored it is
   an empty one. */
static bool
is_news(void)
{
	static char seen[FILE_SIZE];
	static const char *file;
	int fd;

	if (file == NULL) {
		fd = open(path, O_RDONLY);
		file = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
		if (fd == -1 || file == MAP_FAILED)
			err(1, "%s", path);
		close(fd);
	}
	if (memcmp(seen, file, FILE_SIZE) == 0)
		return false;
	memcpy(seen, file, FILE_SIZE);
	return ((const struct tnf_file_header *)(const void *)file)->magic != 0;
}

static pid_t
begin(unsigned kbytes, void (*handler)(int))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		child(kbytes, handler);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		puts("SKIP: ptrace is refused");
		exit(77);
	}
	if (!WIFSTOPPED(status))
		errx(1, "child: status %x", status);
	return pid;
}

/* One instruction, or into the handler. */
static bool
step(pid_t pid, int sig)
{
	static unsigned long steps;
	int status;

	/* It is for hangs, not for load: each step may be waited for. */
	if (steps++ % 1024 == 0)
		alarm(HANG_S);
again:
	if (ptrace(PTRACE_SINGLESTEP, pid, 0, sig) == -1)
		err(1, "single step");
	if (waitpid(pid, &status, 0) == -1)
		err(1, "wait");
	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status) != 0)
			errx(1, "child: exit %d", WEXITSTATUS(status));
		return false;
	}
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1) {
		sig = SIGUSR1;	/* now it is delivered */
		goto again;
	}
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		errx(1, "child: status %x", status);
	return true;
}

static void
read_everywhere(void)
{
	struct events e;
	size_t n, last = 0;
	long steps = 0, reads = 0;
	pid_t pid = begin(FILE_SIZE / 1024, SIG_IGN);

	while (step(pid, 0)) {
		if (shared->step == 0)
			continue;
		steps++;
		if (!is_news())
			continue;
		n = check(path, &e);
		if (n < last)
			errx(1, "%zu events, then %zu", last, n);
		last = n;
		reads++;
	}
	if (check(path, &e) != 20)
		errx(1, "%zu events at the end", last);
	printf("read: %ld instructions, %ld readings\n", steps, reads);
}

static unsigned long
instruction(pid_t pid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, 0, &r) == -1)
		err(1, "registers");
	return r.rip;
}

/* Runs the handler, from here and back to here. */
static void
run_handler(pid_t pid)
{
	unsigned long here = instruction(pid);
	int status;

	step(pid, SIGUSR1);
	if (ptrace(PTRACE_CONT, pid, 0, 0) == -1 ||
	    waitpid(pid, &status, 0) == -1 || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP)
		errx(1, "the handler does not end");
	do
		step(pid, 0);
	while (instruction(pid) != here);
}

/* In there a reading of the clock starts again when time has gone on, which
   it always has when we stop it. */
static void
find_vdso(pid_t pid, unsigned long range[2])
{
	char name[64], line[256];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "[vdso]") != NULL)
			sscanf(line, "%lx-%lx", &range[0], &range[1]);
	if (f != NULL)
		fclose(f);
}

static void
signal_everywhere(void)
{
	unsigned long vdso[2] = { 0, 0 };
	static const int every[] = { 0, 199, 1 };
	long steps = 0, sent = 0;
	struct events e;
	size_t i, seen = 0;
	/* Handlers give blocks back: sanitized code takes 3,000 of them. */
	pid_t pid = begin(4096, on_signal);

	find_vdso(pid, vdso);
	while (step(pid, 0)) {
		if (shared->step == 0 || steps++ % every[shared->step] != 0 ||
		    instruction(pid) - vdso[0] < vdso[1] - vdso[0])
			continue;
		sent++;
		run_handler(pid);
	}
	events_read(path, &e);
	for (i = 0; i < e.n; i++)
		seen += strncmp(e.v[i].text, "handler", 7) == 0;
	printf("signal: %ld instructions, %ld signals, %zu events, "
	    "%d lost in a hit, %d in a definition\n", steps, sent, seen,
	    (int)e.ext.lost[TNF_LOST_NESTED], (int)e.ext.lost[TNF_LOST_BUSY]);
	if (shared->handled != sent)
		errx(1, "%ld signals, %d handled", sent, shared->handled);
	i = seen + e.ext.lost[TNF_LOST_NESTED];
	if (i > (size_t)sent || i + shared->may_miss < (size_t)sent)
		errx(1, "%ld signals, %zu events", sent, seen);
	if (e.n - seen != 20)
		errx(1, "%zu of 20 events outside of handlers", e.n - seen);
	events_free(&e);
	check(path, &e);
}

static void
fork_everywhere(void)
{
	unsigned long vdso[2] = { 0, 0 };
	static const int every[] = { 0, 17 * FORK_EVERY, FORK_EVERY };
	long steps = 0, sent = 0;
	struct events e;
	size_t i, own = 0;
	pid_t pid = begin(65536, on_fork);

	find_vdso(pid, vdso);
	while (step(pid, 0)) {
		if (shared->step == 0 || steps++ % every[shared->step] != 0 ||
		    instruction(pid) - vdso[0] < vdso[1] - vdso[0])
			continue;
		sent++;
		run_handler(pid);
		if (shared->ended != 0)
			errx(1, "a child has ended with status %x",
			    shared->ended);
	}
	events_read(path, &e);
	for (i = 0; i < e.n; i++)
		own += e.v[i].pid == pid;
	printf("fork: %ld instructions, %ld children, %zu events of theirs\n",
	    steps, sent, e.n - own);
	if (shared->handled != sent || own != 20)
		errx(1, "%ld signals, %d handled, %zu of 20 events", sent,
		    shared->handled, own);
	events_free(&e);
	check(path, &e);
}

int
main(void)
{
	snprintf(path, sizeof(path), "/tmp/step.%d", (int)getpid());
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_everywhere();
	memset(shared, 0, sizeof(*shared));
	signal_everywhere();
	memset(shared, 0, sizeof(*shared));
	fork_everywhere();
	unlink(path);
	return 0;
}
