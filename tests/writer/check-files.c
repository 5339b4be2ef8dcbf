/*
 * check-files.c - files that are not what they should be, or do not stay so; SIGBUS, ours
 * and others'.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/writer/suite.h"

static jmp_buf away;

static void
broken(int error)
{
	TNF_PROBE_0(b, "", "");
	TNF_PROBE_0(b, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
	ck_assert_int_eq(_tnf_process_control.broken_errno, error);
}

START_TEST(file_gone) { start(128); unlink(path); broken(ENOENT); } END_TEST

START_TEST(file_symlink)
{
	char other[80];

	start(128);
	snprintf(other, sizeof(other), "%s.x", path);
	rename(path, other);
	ck_assert_int_eq(symlink(other, path), 0);
	broken(ELOOP);
	unlink(other);
}
END_TEST

START_TEST(file_hard_link)
{
	char other[80];

	start(128);
	snprintf(other, sizeof(other), "%s.x", path);
	ck_assert_int_eq(link(path, other), 0);
	broken(EINVAL);
	unlink(other);
}
END_TEST

START_TEST(file_short)
{
	start(256);
	ck_assert_int_eq(truncate(path, 200000), 0);
	broken(EFBIG);
}
END_TEST

START_TEST(file_fifo)
{
	start(128);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	broken(EINVAL);
}
END_TEST

START_TEST(file_foreign)
{
	start(128);
	if (getuid() != 0)
		return;
	ck_assert_int_eq(chown(path, 1, 1), 0);
	broken(EPERM);
}
END_TEST

/*
 * Root's file, and a server that has another user's rights for a while: its
 * hits in that time are lost, even where that user may replace the file, and
 * the first one afterwards opens it.
 */
START_TEST(file_refused)
{
	char dir[80];
	struct stat st;

	if (getuid() != 0)
		return;
	snprintf(dir, sizeof(dir), "%s.d", path);
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	strcat(strcpy(path, dir), "/t");
	start(128);
	ck_assert_int_eq(seteuid(65534), 0);
	TNF_PROBE_0(refused, "", "");
	ck_assert_int_eq(seteuid(0), 0);
	while (_tnf_process_control.state == TNF_PROC_READY)
		TNF_PROBE_0(again, "", "");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, 0);
	finish();
	ck_assert_uint_eq(ev.n, 1);
	IS(0, "again");
	ck_assert_uint_ge(ev.ext.lost[TNF_LOST_BUSY], 1);
	unlink(path);
	rmdir(dir);
}
END_TEST

/* The file is cut off while we write: we live. */
START_TEST(truncated)
{
	int i;

	start(128);
	for (i = 0; i < 5000; i++) {
		TNF_PROBE_1(t, "", "", tnf_int, i, i);
		if (i == 1000)
			ck_assert_int_eq(truncate(path, 0), 0);
	}
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
}
END_TEST

static volatile sig_atomic_t others;

static void
on_sigbus(int sig, siginfo_t *si, void *context)
{
	others++;
	longjmp(away, 1);
}

/* A SIGBUS that is not ours goes to the program's handler. */
START_TEST(other_sigbus)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus,
	    .sa_flags = SA_SIGINFO | SA_NODEFER };
	char other[80], *m;
	int fd;

	sigaction(SIGBUS, &sa, NULL);
	start(128);
	TNF_PROBE_0(t, "", "");
	snprintf(other, sizeof(other), "%s.x", path);
	fd = open(other, O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	unlink(other);
	m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (setjmp(away) == 0)
		ck_assert_int_eq(*(volatile char *)m, 0);
	ck_assert_int_eq(others, 1);
	ck_assert_int_eq(truncate(path, 0), 0);
	TNF_PROBE_0(t, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
	ck_assert_int_eq(others, 1);
}
END_TEST

/* A SIGBUS by kill() does what it does without us. */
START_TEST(sent_sigbus)
{
	int status;

	signal(SIGBUS, SIG_DFL);	/* sanitizers have a handler */
	start(128);
	if (fork() == 0) {
		TNF_PROBE_0(child, "", "");
		raise(SIGBUS);
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}
END_TEST

START_TEST(ignored_sigbus)
{
	signal(SIGBUS, SIG_IGN);
	start(128);
	TNF_PROBE_0(t, "", "");
	raise(SIGBUS);
	ck_assert_int_eq(truncate(path, 0), 0);
	TNF_PROBE_0(t, "", "");
	ck_assert_uint_eq(_tnf_process_control.state, TNF_PROC_BROKEN);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		file_gone, file_symlink, file_hard_link, file_short, file_fifo,
		file_foreign, file_refused, truncated, other_sigbus, sent_sigbus,
		ignored_sigbus,
	};

	return run_tests("files", tests, sizeof(tests) / sizeof(tests[0]));
}
