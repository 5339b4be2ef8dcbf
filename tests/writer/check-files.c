/*
 * check-files.c - files that are not what they should be, or do not stay so; SIGBUS, ours
 * and others'.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/* In the file of another process the place of the names leads out of the file, or into the middle of
   something.  The word stays as it is, so nothing was written there. */
START_TEST(names_outside)
{
	static const struct { int64_t block; uint32_t at; bool good; } rows[] = {
		{ 0, 40, false }, { 512, 40, false }, { 1 << 30, 40, false }, { -512, 40, true },
		{ -512, 480, true }, { -512, 32, false }, { -512, 39, false }, { -512, 44, false }, { -504, 40, false },
		{ 0x10000 - 131072, 40, true }, { 0xfe00 - 131072, 40, false },
	};
	uint64_t *word, set;
	char name[16], *base;
	int fd;

	start(128);
	TNF_PROBE_0(first, "", "");
	fd = open(path, O_RDWR);
	base = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(base != MAP_FAILED);
	word = &((struct tnf_ext *)(void *)(base + TNF_EXT_OFFSET))->names;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set = (uint64_t)(131072 + rows[i].block) << 32 | 1 << 16 | rows[i].at;
		memset(base + 131072 - 512 + 24, 0, 512 - 24);
		__atomic_store_n(word, set, __ATOMIC_RELEASE);
		snprintf(name, sizeof(name), "n%zu", i);
		prctl(PR_SET_NAME, name);
		ck_assert_msg((*word != set) == rows[i].good, "row %zu: %llx", i, (unsigned long long)*word);
	}
	munmap(base, 131072);
	close(fd);
}
END_TEST

static void *
hit_as(void *name)
{
	prctl(PR_SET_NAME, name);
	TNF_PROBE_0(hit, "", "");
	return NULL;
}

/* Does the first hit of a thread of this name take room for that? */
static bool
takes_room(const char *name)
{
	uint64_t *word, before;
	pthread_t thread;
	char *base;
	bool takes;
	int fd;

	prctl(PR_SET_NAME, "one");
	start(128);
	TNF_PROBE_0(first, "", "");
	prctl(PR_SET_NAME, "other");
	prctl(PR_SET_NAME, "one");
	fd = open(path, O_RDWR);
	base = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(base != MAP_FAILED);
	word = &((struct tnf_ext *)(void *)(base + TNF_EXT_OFFSET))->names;
	before = *word;
	pthread_create(&thread, NULL, hit_as, (void *)(uintptr_t)name);
	pthread_join(thread, NULL);
	takes = *word != before;
	munmap(base, 131072);
	close(fd);
	return takes;
}

/* One that is called as its process does not; others do. */
START_TEST(names_same) { ck_assert(!takes_room("one")); } END_TEST
START_TEST(names_other) { ck_assert(takes_room("two")); } END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		file_gone, file_symlink, file_hard_link, file_short, file_fifo,
		file_foreign, file_refused, truncated, other_sigbus, sent_sigbus,
		ignored_sigbus, names_outside, names_same, names_other,
	};

	return run_tests("files", tests, sizeof(tests) / sizeof(tests[0]));
}
