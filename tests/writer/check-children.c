/*
 * check-children.c - the blocks of children that have ended are used again.
 *
 * TNF_TEST_CHILDREN: how many children a test makes; the file is larger then.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/writer/suite.h"

enum end { END_EXIT, END_SILENT, END_KILLED };

#define EACH	27	/* events of the parent that a block holds at least */

static void
parent_hits(int n)
{
	int i;

	for (i = 0; i < n; i++)
		TNF_PROBE_1(parent, "", "", tnf_int, i, i);
}

/* Numbers of processes begin again: the next child has a lower one than ours. */
static void
lower_numbers(void)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");

	if (f == NULL)
		return;		/* this kernel cannot do it: higher ones, then */
	fprintf(f, "%d", (int)getpid() / 2);
	fclose(f);
}

/* Asked by LeakSanitizer at exit(): it finds no /proc in another root. */
int __lsan_is_turned_off(void) __attribute__((visibility("default")));
static bool in_other_root;

int
__lsan_is_turned_off(void)
{
	return in_other_root;
}

static void
child(enum end how, const char *root)
{
	if (root != NULL && chroot(root) != 0)
		_exit(1);
	in_other_root = root != NULL;
	TNF_PROBE_0(child, "", "");
	if (how == END_EXIT)
		exit(0);
	if (how == END_KILLED)
		raise(SIGKILL);
	_exit(0);
}

/* Afterwards the parent alone goes round the ring: nearly all of it is its. */
static void
many(enum end how, bool in_root)
{
	const char *wanted = getenv("TNF_TEST_CHILDREN");
	int i, status, n = wanted != NULL ? atoi(wanted) : 300;
	unsigned kbytes = wanted != NULL ? 4096 : 128;
	unsigned blocks = (kbytes * 1024 - 0x18000) / 512;
	pid_t pid;

	if (in_root && getuid() != 0)
		return;
	start(kbytes);
	ck_assert_int_eq(mkdir(second, 0700), 0);
	if (in_root)
		lower_numbers();
	parent_hits(1);
	for (i = 0; i < n; i++) {
		if ((pid = fork()) == 0)
			child(how, in_root ? second : NULL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, how == END_KILLED ? SIGKILL : 0);
		parent_hits(2);
	}
	rmdir(second);
	parent_hits((int)blocks * EACH * 3);
	finish();
	for (i = 0; i < TNF_LOST_REASONS; i++)
		ck_assert_uint_eq(ev.ext.lost[i], 0);
	for (i = 0, n = 0; i < (int)ev.n; i++)
		n += ev.v[i].pid == getpid();
	printf("# %d of %u blocks\n", n / EACH, blocks);
	ck_assert_int_ge(n, (int)(blocks - blocks / 16 - 4) * EACH);
}

START_TEST(in_order) { many(END_EXIT, false); } END_TEST
START_TEST(silent) { many(END_SILENT, false); } END_TEST
START_TEST(killed) { many(END_KILLED, false); } END_TEST
START_TEST(root_in_order) { many(END_EXIT, true); } END_TEST
START_TEST(root_silent) { many(END_SILENT, true); } END_TEST
START_TEST(root_killed) { many(END_KILLED, true); } END_TEST

/* A child that ends in order gives its block back itself. */
START_TEST(given_back)
{
	int i, status;

	start(128);
	parent_hits(1);
	for (i = 0; i < 300; i++) {
		if (fork() == 0)
			child(END_EXIT, NULL);
		ck_assert_int_gt(wait(&status), 0);
	}
	finish();
	/* The parent's. */
	ck_assert_uint_eq(ev.held, 1);
	/* Not one was passed over. */
	ck_assert_uint_eq(ev.ext.data_cursor, 301 + 300 / 64);
}
END_TEST

/* A block that has not been given back is told. */
START_TEST(held)
{
	int i, status;

	start(128);
	parent_hits(1);
	for (i = 0; i < 3; i++) {
		if (fork() == 0)
			child(i == 0 ? END_SILENT : END_KILLED, NULL);
		ck_assert_int_gt(wait(&status), 0);
	}
	finish();
	ck_assert_uint_eq(ev.held, 4);
	ck_assert_uint_eq(ev.ext.data_cursor, 4);
}
END_TEST

/* A child by a bare clone() has no part in what its parent holds. */
START_TEST(bare_clone)
{
	int status;

	start(128);
	parent_hits(1);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
		exit(0);
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	if (fork() == 0) {
		for (int i = 0; i < 64 * EACH; i++)
			TNF_PROBE_1(child, "", "", tnf_int, i, i);
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	parent_hits(1);
	finish();
	/* The parent's block is still its own. */
	ck_assert_str_eq(ev.v[0].text, "parent i=0");
	IS(ev.n - 1, "parent i=0");
	ck_assert_uint_eq(ev.ext.ended, 0);
}
END_TEST

/* Ends without giving its block back; 1: it cannot do what is asked. */
static void
hit_and_go(void)
{
	TNF_PROBE_0(child, "", "");
	_exit(0);
}

/* The first process of a pid name space makes children in another one. */
static void
first_of_its_space(void)
{
	int status, hit[2];
	pid_t pid[2];
	char c;

	TNF_PROBE_0(child, "", "");
	if (unshare(CLONE_NEWPID) != 0 || pipe(hit) != 0)
		_exit(1);
	/* While it lives its space does. */
	if ((pid[0] = fork()) == 0) {
		TNF_PROBE_0(child, "", "");
		if (write(hit[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	if (read(hit[0], &c, 1) != 1)
		_exit(1);
	if ((pid[1] = fork()) == 0)
		hit_and_go();
	if (waitpid(pid[1], &status, 0) != pid[1])
		_exit(1);
	kill(pid[0], SIGKILL);
	_exit(waitpid(pid[0], NULL, 0) == pid[0] ? status : 1);
}

/* The owners of blocks, in the order of the blocks. */
static unsigned
owners(uint64_t *ret, unsigned max)
{
	struct tnf_block_header h;
	FILE *f = fopen(path, "r");
	unsigned n = 0;
	long at;

	ck_assert_ptr_nonnull(f);
	for (at = 0x18000; fseek(f, at, SEEK_SET) == 0 &&
	    fread(&h, sizeof(h), 1, f) == 1; at += 512)
		if (h.next_block != 0 && h.generation != TNF_GENERATION_TAG && n < max)
			ret[n++] = h.next_block;
	fclose(f);
	return n;
}

/* A child in another pid name space does not believe to be in its parent's. */
START_TEST(children_in_another_space)
{
	uint64_t owner[5] = { 0 };
	int status;

	start(128);
	parent_hits(1);
	if (fork() == 0) {
		if (unshare(CLONE_NEWPID) != 0)
			_exit(77);
		if (fork() == 0)
			first_of_its_space();
		_exit(wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	ck_assert_int_gt(wait(&status), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return;		/* not for everybody */
	ck_assert_int_eq(status, 0);
	/* Ours, the first of a space, the first two of another one in it. */
	ck_assert_uint_eq(owners(owner, 5), 4);
	ck_assert_uint_ne(owner[1] >> 44, owner[0] >> 44);
	ck_assert_uint_ne(owner[2] >> 44, owner[1] >> 44);
	ck_assert_uint_eq(owner[3] >> 44, owner[2] >> 44);
}
END_TEST

/* May be killed for asking who its parent is. */
static void
confine(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(f[0]), f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		_exit(77);
}

/* Numbers have begun again, and a filter watches: nothing is asked. */
START_TEST(lower_and_confined)
{
	int status, inner;

	start(128);
	parent_hits(1);
	if (fork() == 0) {
		TNF_PROBE_0(child, "", "");
		if (getuid() == 0)
			lower_numbers();
		else
			printf("# not root: the number is a higher one\n");
		confine();
		if (fork() == 0)
			hit_and_go();
		_exit(wait(&inner) > 0 && inner == 0 ? 0 : 1);
	}
	ck_assert_int_gt(wait(&status), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return;		/* a kernel without filters */
	ck_assert_int_eq(status, 0);
	finish();
	ck_assert_uint_eq(ev.n, 3);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		in_order, silent, killed, root_in_order, root_silent,
		root_killed, given_back, held, bare_clone,
		children_in_another_space, lower_and_confined,
	};

	return run_tests("children", tests, sizeof(tests) / sizeof(tests[0]));
}
