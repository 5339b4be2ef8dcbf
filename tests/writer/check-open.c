/*
 * check-open.c - a file that the controller has opened beforehand, and another
 * one for a process that has one.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/writer/suite.h"

/* A second file, and its events. */
static void
look_at(const char *name, struct events *ret)
{
	events_read(name, ret);
	ck_assert_uint_eq(ret->damaged, 0);
}

static void
number(int n)
{
	TNF_PROBE_2(number, "", "", tnf_int, n, n, tnf_string, s, "text");
}

START_TEST(opened_first)
{
	ck_assert_int_eq(selfctl_open(path, 256), 0);
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_RUNNING);
	ck_assert_str_eq(_tnf_process_control.file_name, path);
	ck_assert_uint_eq(_tnf_process_control.file_size, 256 * 1024);
	look_at(path, &ev);
	ck_assert_uint_eq(ev.n, 0);
	selfctl_enable(NULL);
	number(1);
	finish();
	ck_assert_uint_eq(ev.n, 1);
	IS(0, "number n=1 s=\"text\"");
}
END_TEST

/* A file that cannot be opened changes nothing, and is told. */
START_TEST(open_refused)
{
	struct tnf_process_control *c = &_tnf_process_control;

	c->open("/nonexistent/t", 131072, -1);
	ck_assert_int_eq(c->open_result, ENOENT);
	ck_assert_uint_eq(c->state, TNF_PROC_NO_BUFFER);
	ck_assert_str_eq(c->file_name, "");
	ck_assert_int_eq(selfctl_open(path, 64), EFBIG);
	ck_assert_uint_eq(c->state, TNF_PROC_NO_BUFFER);
	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	c->open("/nonexistent/t", 131072, -1);
	ck_assert_int_eq(c->open_result, ENOENT);
	c->open(path, 131072, -1);		/* it is being written */
	ck_assert_int_eq(c->open_result, EEXIST);
	ck_assert_str_eq(c->file_name, path);
	number(2);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

/* A state that somebody else wrote: no file is there, and nobody may look for it. */
START_TEST(running_without_file)
{
	_tnf_process_control.state = TNF_PROC_RUNNING;
	selfctl_enable(NULL);
	number(1);
	ck_assert_int_eq(selfctl_open(path, 128), EINVAL);
	number(2);
}
END_TEST

/* The first hit found no file; a controller brings one that is there. */
START_TEST(broken_and_mended)
{
	start(128);
	unlink(path);
	number(1);
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
	ck_assert_int_eq(selfctl_open(path, 128), 0);
	number(2);
	finish();
	ck_assert_uint_eq(ev.n, 1);
	IS(0, "number n=2 s=\"text\"");
}
END_TEST

static int
change_in_argument(unsigned kbytes)
{
	return selfctl_open(second, kbytes);
}

struct pair { int x; const char *s; };
TNF_DECLARE_RECORD(struct pair, t_pair);
TNF_DEFINE_RECORD_2(struct pair, t_pair, tnf_int, x, tnf_string, s)

/* The old file keeps what it has and a hit in progress; the new one has what
   comes later, of known probes and of new ones. */
START_TEST(changed)
{
	struct pair p = { 3, "in a record" };
	struct events new;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	TNF_PROBE_2(inside, "", "", tnf_int, result, change_in_argument(1024),
	    t_pair, pair, &p);
	number(2);
	TNF_PROBE_1(fresh, "", "", t_pair, pair, &p);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(0, "number n=1 s=\"text\"");
	IS(1, "inside result=0 pair={x=3 s=\"in a record\"}");
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 2);
	ck_assert_str_eq(new.v[0].text, "number n=2 s=\"text\"");
	ck_assert_str_eq(new.v[1].text, "fresh pair={x=3 s=\"in a record\"}");
	ck_assert_uint_eq(new.ext.attached, 1);
	ck_assert_uint_eq(ev.ext.ended, 1);
	events_free(&new);
}
END_TEST

/* A hit whose event is in the old file cannot reach into the new one. */
START_TEST(changed_within_a_large_hit)
{
	char big[258];
	struct events new;
	int i;

	memset(big, 'b', 257);
	big[257] = '\0';
	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	for (i = 0; i < 2; i++)
		TNF_PROBE_4(large, "", "", tnf_int, i,
		    i == 0 ? change_in_argument(128) : 0, tnf_string, a, big,
		    tnf_string, b, big + 1, tnf_string, c, big + 2);
	finish();
	ck_assert_uint_eq(ev.n, 0);
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 1);
	ck_assert_uint_eq(new.ext.lost[TNF_LOST_NO_BLOCK], 1);
	events_free(&new);
}
END_TEST

static int
change_often(unsigned times)
{
	unsigned i;
	int error = 0;

	for (i = 0; i < times && error == 0; i++) {
		unlink(second);
		error = selfctl_open(second, 128);
	}
	return error;
}

/* A hit may last over more than one change. */
START_TEST(changed_often_within_a_hit)
{
	struct events new;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	TNF_PROBE_1(inside, "", "", tnf_int, result, change_often(8));
	number(2);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(1, "inside result=0");
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 1);
	events_free(&new);
	/* After one more it would be nowhere; the program lives. */
	TNF_PROBE_1(inside, "", "", tnf_int, result, change_often(9));
	number(3);
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 1);
	ck_assert_str_eq(new.v[0].text, "number n=3 s=\"text\"");
	events_free(&new);
}
END_TEST

/* The old file is cut off, and its definitions cannot be copied. */
START_TEST(changed_from_one_that_was_cut)
{
	struct tnf_process_control *c = &_tnf_process_control;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(selfctl_open(second, 128), EFAULT);
	ck_assert_uint_eq(c->state, TNF_PROC_BROKEN);
	ck_assert_str_eq(c->file_name, path);
	number(2);
}
END_TEST

static char *attributes;	/* of a probe that a definition cannot read yet */
static int given = -1;

static void
on_segv(int sig)
{
	(void)sig;
	mprotect(attributes, (size_t)getpagesize(), PROT_READ);
	given = selfctl_open(second, 128);
}

/* A controller brings another file while a definition is being written: it hears that the
   process is busy, and the definition is in the file that the process has. */
START_TEST(changed_within_a_definition)
{
	struct tnf_probe_control *p = aligned_alloc(64, sizeof(*p));
	struct sigaction action = { .sa_handler = on_segv, .sa_flags = SA_NODEFER };
	struct tnf_probe_setup setup;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	attributes = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(attributes, "name busy;slots ;keys k;file f.c;line 1;");
	mprotect(attributes, (size_t)getpagesize(), PROT_NONE);
	*p = (struct tnf_probe_control){ .tnf_version = TNF_PROBE_ABI, .size = sizeof(*p), .test = 1,
	    .traced = 1, .ops = _tnf_process_control.ops, .event_size = 8, .attrs = attributes };
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	if (p->ops->alloc(p, &setup) != NULL)
		p->ops->commit(&setup);
	ck_assert_int_eq(given, EBUSY);
	ck_assert_int_eq(selfctl_open(second, 128), 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(1, "busy");
}
END_TEST

#define FILES	20
#define WRITERS	3
#define AHEAD	1000	/* hits of a thread for each file */

static volatile unsigned limit;
static volatile unsigned hits[WRITERS];

static void *
writer(void *arg)
{
	volatile unsigned *n = arg;

	for (*n = 0; *n < FILES * AHEAD; ++*n) {
		while (*n >= limit)
			sched_yield();
		TNF_PROBE_3(writer, "", "", tnf_long, who, n - hits,
		    tnf_uint, n, *n, tnf_string, s, "a string");
	}
	return NULL;
}

static void
name_of(int i, char *ret, size_t size)
{
	snprintf(ret, size, "%s.%d", path, i);
}

/* Threads that write get one file after the other: each file can be read, and
   the events of a thread go on from file to file. */
START_TEST(changed_under_way)
{
	unsigned next[WRITERS] = { 0 }, n;
	size_t k;
	char name[80];
	pthread_t t[WRITERS];
	long who;
	int i, w;

	name_of(0, name, sizeof(name));
	ck_assert_int_eq(selfctl_open(name, 1024), 0);
	selfctl_enable(NULL);
	for (i = 0; i < WRITERS; i++)
		pthread_create(&t[i], NULL, writer,
		    (void *)(uintptr_t)&hits[i]);
	for (i = 1; i < FILES; i++) {
		name_of(i, name, sizeof(name));
		limit += AHEAD;
		/* Each has got beyond the change before: a hit that lasts over
		   many changes is lost, as files older than some are gone. */
		for (w = 0; w < WRITERS; w++)
			while (hits[w] < limit - AHEAD / 2)
				sched_yield();
		ck_assert_int_eq(selfctl_open(name, 1024), 0);
	}
	limit += AHEAD;
	for (i = 0; i < WRITERS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < FILES; i++) {
		name_of(i, name, sizeof(name));
		look_at(name, &ev);
		for (k = 0; k < ev.n; k++) {
			ck_assert_int_eq(sscanf(ev.v[k].text,
			    "writer who=%ld n=%u s=\"a string\"", &who, &n), 2);
			ck_assert(who >= 0 && who < WRITERS);
			ck_assert_uint_eq(n, next[who]++);
		}
		events_free(&ev);
		unlink(name);
	}
	for (i = 0; i < WRITERS; i++)
		ck_assert_uint_eq(next[i], FILES * AHEAD);
}
END_TEST

/* The new file is smaller than the place of the old one's last definition. */
START_TEST(changed_to_a_small_one)
{
	struct tnf_probe_control *all, *p;
	struct tnf_probe_setup setup;
	char *attrs;
	int i;

	ck_assert_int_eq(selfctl_open(path, 1024), 0);
	all = aligned_alloc(64, 2000 * sizeof(*all));
	for (i = 0; i < 2000; i++) {
		p = &all[i];
		memset(p, 0, sizeof(*p));
		ck_assert_int_gt(asprintf(&attrs,
		    "name p%d;slots ;keys k;file f.c;line %d;", i, i), 0);
		*p = (struct tnf_probe_control){ .tnf_version = TNF_PROBE_ABI,
		    .size = sizeof(*p), .test = 1, .traced = 1,
		    .ops = _tnf_process_control.ops, .event_size = 8,
		    .attrs = attrs };
		if (p->ops->alloc(p, &setup) != NULL)
			p->ops->commit(&setup);
	}
	ck_assert_int_eq(selfctl_open(second, 128), ENOSPC);
	ck_assert_int_eq(selfctl_open(second, 2048), 0);
	for (i = 0; i < 2000; i++)
		if (all[i].ops->alloc(&all[i], &setup) != NULL)
			all[i].ops->commit(&setup);
	look_at(second, &ev);
	ck_assert_uint_eq(ev.n, 2000);
	ck_assert_str_eq(ev.v[1999].text, "p1999");
}
END_TEST

/* A child has its parent's file until it gets its own. */
START_TEST(changed_in_child)
{
	struct events new;
	int status;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	if (fork() == 0) {
		if (selfctl_open(second, 256) != 0)
			_exit(1);
		number(2);
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	number(3);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 1);
	ck_assert_str_eq(new.v[0].text, "number n=2 s=\"text\"");
	events_free(&new);
}
END_TEST

static int go[2];
static pid_t forked;

/* The child goes on when the parent has ended its hit. */
static int
change_and_fork(void)
{
	char c;

	ck_assert_int_eq(selfctl_open(second, 256), 0);
	if ((forked = fork()) != 0)
		return 0;
	close(go[1]);
	return read(go[0], &c, 1) == 0 ? 1 : 2;
}

/* A hit begins in the old file, the process gets another one and forks: the
   child's part of the hit is nobody's. */
START_TEST(changed_and_forked_within_a_hit)
{
	struct events new;
	int status;

	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	number(1);
	TNF_PROBE_1(inside, "", "", tnf_int, result, change_and_fork());
	if (forked == 0) {
		number(2);
		_exit(0);
	}
	close(go[1]);
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(1, "inside result=0");
	look_at(second, &new);
	ck_assert_uint_eq(new.n, 1);
	ck_assert_str_eq(new.v[0].text, "number n=2 s=\"text\"");
	events_free(&new);
}
END_TEST

/* No call but those of fork(), of ends, and of who waits for them. */
static void
allow_little(void)
{
	static const int calls[] = { SYS_exit, SYS_exit_group, SYS_clone,
	    SYS_wait4, SYS_set_robust_list, SYS_futex, SYS_rt_sigprocmask,
	    SYS_madvise, SYS_munmap,
#ifdef __SANITIZE_ADDRESS__
	    SYS_sigaltstack,	/* its own, before what does not return */
#endif
	};
	const size_t n = sizeof(calls) / sizeof(calls[0]);
	struct sock_filter code[32], *c = code;
	struct sock_fprog prog = { .filter = code };
	size_t i;

	*c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr));
	for (i = 0; i < n; i++)
		*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (unsigned)calls[i], (unsigned char)(n - i), 0);
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_KILL_PROCESS);
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)(c - code);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0)
		_exit(3);
}

static volatile int filtered;
static volatile int thread_done;

static void *
waits_for_the_filter(void *arg)
{
	int i;

	while (!filtered)
		;
	for (i = 0; i < 5000; i++)
		TNF_PROBE_1(thread, "", "", tnf_int, i, i);
	thread_done = 1;
	while (filtered)
		;
	return NULL;
}

/* The process of the test: it has been opened, and nothing has been hit. */
static int
sandboxed(void)
{
	int status = 1, i;
	pthread_t t;
	pid_t child;

	/* A filter is for one thread: this one makes its own afterwards. */
	if (pthread_create(&t, NULL, waits_for_the_filter, NULL) != 0)
		return 4;
	allow_little();
	for (i = 0; i < 5000; i++)
		number(i);
	filtered = 1;
	while (!thread_done)
		;
	if ((child = fork()) == 0) {
		for (i = 0; i < 5000; i++)
			number(i);
		_exit(0);
	}
	if (wait4(child, &status, 0, NULL) != child)
		return 5;
	number(-1);
	return status;
}

/* A filter that kills: no hit makes a call.  Not the first one, nor the first
   one of a child, nor when all of the ring's blocks have been used. */
START_TEST(filter)
{
	int status;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	if (fork() == 0)
		_exit(sandboxed());
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	finish();
	IS(ev.n - 1, "number n=-1 s=\"text\"");
}
END_TEST

static void *
under_the_filter(void *arg)
{
	int i;

	allow_little();
	for (i = 0; i < 100; i++)
		number(i);
	syscall(SYS_exit_group, 0);
	return NULL;
}

/* ... nor the first hit of a thread. */
START_TEST(filter_of_a_thread)
{
	pid_t child;
	pthread_t t;
	int status;

	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	if ((child = fork()) == 0) {
		number(-1);
		if (pthread_create(&t, NULL, under_the_filter, NULL) == 0)
			pthread_join(t, NULL);
		_exit(6);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	finish();
	ck_assert_uint_eq(ev.n, 101);
	IS(100, "number n=99 s=\"text\"");
	ck_assert_int_eq(ev.v[0].pid, child);
	ck_assert_uint_eq(ev.v[0].tid, (uint32_t)child);
	ck_assert_int_eq(ev.v[1].pid, child);
	ck_assert_uint_ne(ev.v[1].tid, (uint32_t)child);
}
END_TEST

/* A server that opened its file with its own rights goes on with others'. */
START_TEST(other_rights)
{
	if (getuid() != 0)
		return;
	ck_assert_int_eq(selfctl_open(path, 128), 0);
	selfctl_enable(NULL);
	ck_assert_int_eq(seteuid(65534), 0);
	number(1);
	ck_assert_int_eq(seteuid(0), 0);
	finish();
	ck_assert_uint_eq(ev.n, 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		opened_first, open_refused, running_without_file, broken_and_mended, changed,
		changed_within_a_large_hit, changed_often_within_a_hit,
		changed_from_one_that_was_cut, changed_under_way,
		changed_to_a_small_one, changed_within_a_definition, changed_in_child,
		changed_and_forked_within_a_hit, filter,
		filter_of_a_thread, other_rights,
	};

	return run_tests("open", tests, sizeof(tests) / sizeof(tests[0]));
}
