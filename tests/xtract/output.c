/*
 * output.c - the file appears whole under its name, or nothing changes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check-run.h"
#include "tnfxtract/source.h"

static char dir[32], file[64], other[64];

static void
setup(void)
{
	strcpy(dir, "/tmp/tnf-output.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof file, "%s/trace.tnf", dir);
	snprintf(other, sizeof other, "%s/other", dir);
}

static void
teardown(void)
{
	unlink(file);
	unlink(other);
	rmdir(file);
	ck_assert_int_eq(rmdir(dir), 0);	/* nothing else was left */
}

static void
write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void
check_file(const char *name, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(name, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(got, sizeof got, f));
	ck_assert_str_eq(got, text);
	fclose(f);
}

static unsigned
entries(void)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

START_TEST(new_file)
{
	struct output o;
	struct stat st;

	umask(_i == 0 ? 022 : 0);
	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(access(file, F_OK), -1);
	ck_assert_int_eq(output_put(&o, 2, "cd", 2), 0);
	ck_assert_int_eq(output_put(&o, 0, "ab", 2), 0);
	ck_assert_int_eq(access(file, F_OK), -1);
	ck_assert_int_eq(output_commit(&o, _i == 1), 0);
	check_file(file, "abcd");
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(entries(), 1);
}
END_TEST

START_TEST(replaces)
{
	struct output o;

	write_file(file, "old");
	ck_assert_int_eq(link(file, other), 0);
	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(output_put(&o, 0, "new", 3), 0);
	check_file(file, "old");
	ck_assert_int_eq(output_commit(&o, false), 0);
	check_file(file, "new");
	check_file(other, "old");	/* the other name of the old file */
}
END_TEST

START_TEST(discards)
{
	struct output o;

	write_file(file, "old");
	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(output_put(&o, 0, "new", 3), 0);
	output_discard(&o);
	output_discard(&o);
	check_file(file, "old");
	ck_assert_uint_eq(entries(), 1);
}
END_TEST

START_TEST(killed)
{
	struct output o;
	pid_t pid;

	write_file(file, "old");
	pid = fork();
	if (pid == 0) {
		output_open(&o, file);
		output_put(&o, 0, "new", 3);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	check_file(file, "old");
	ck_assert_uint_eq(entries(), 1);
}
END_TEST

START_TEST(refuses)
{
	struct output o;

	write_file(other, "theirs");
	ck_assert_int_eq(symlink(other, file), 0);
	ck_assert_int_eq(output_open(&o, file), ELOOP);
	unlink(file);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	ck_assert_int_eq(output_open(&o, file), EISDIR);
	rmdir(file);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	ck_assert_int_eq(output_open(&o, file), ENOTSUP);
	ck_assert_int_eq(output_open(&o, "/dev/null"), ENOTSUP);
	ck_assert_int_eq(output_open(&o, ""), ENOENT);
	ck_assert_int_eq(output_open(&o, "/tmp/"), EISDIR);
	ck_assert_int_eq(output_open(&o, "/nonexistent/x"), ENOENT);
	ck_assert_int_eq(output_open(&o, "/dev/null/x"), ENOTDIR);
	check_file(other, "theirs");
}
END_TEST

/* A link that comes after the look is replaced, not followed. */
START_TEST(late_symlink)
{
	struct output o;
	struct stat st;

	write_file(other, "theirs");
	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(output_put(&o, 0, "new", 3), 0);
	ck_assert_int_eq(symlink(other, file), 0);
	ck_assert_int_eq(output_commit(&o, false), 0);
	check_file(other, "theirs");
	check_file(file, "new");
	ck_assert_int_eq(lstat(file, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
}
END_TEST

START_TEST(directory_gone)
{
	struct output o;

	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(output_put(&o, 0, "new", 3), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(output_commit(&o, false), ENOENT);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}
END_TEST

START_TEST(standard_output)
{
	char got[8] = "";
	struct output o;
	int p[2], saved;

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(output_open(&o, "-"), 0);
	ck_assert_int_eq(output_put(&o, 2, "cd", 2), 0);
	ck_assert_int_eq(output_put(&o, 0, "ab", 2), 0);
	saved = dup(1);
	dup2(p[1], 1);
	ck_assert_int_eq(output_commit(&o, false), 0);
	dup2(saved, 1);
	ck_assert_int_eq(read(p[0], got, sizeof got), 4);
	ck_assert_str_eq(got, "abcd");
}
END_TEST

/* Pieces that lie anywhere are written one behind the other; what a limit cuts off is an error. */
START_TEST(pieces)
{
	static char want[300000];
	const struct iovec piece[] = { { want, 10 }, { want + 10, 0 }, { want + 10, 99990 },
	    { want + 100000, sizeof want - 100000 } };
	struct rlimit old, limit;
	struct output o;
	int e;

	for (size_t i = 0; i < sizeof want; i++)
		want[i] = (char)(i / 7);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	if (_i > 0)
		limit.rlim_cur = (rlim_t)_i * 75000;
	ck_assert_int_eq(output_open(&o, file), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	e = output_put_pieces(&o, 5, piece, sizeof piece / sizeof piece[0]);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(e, _i > 0 ? EFBIG : 0);
	if (_i == 0) {
		char *got = malloc(sizeof want);
		ck_assert_int_eq(pread(o.file.fd, got, sizeof want, 5), sizeof want);
		ck_assert_int_eq(memcmp(want, got, sizeof want), 0);
		free(got);
	}
	output_discard(&o);
	ck_assert_uint_eq(entries(), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("output");
	TCase *tc = tcase_create("output");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, new_file, 0, 2);
	tcase_add_test(tc, replaces);
	tcase_add_test(tc, discards);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, refuses);
	tcase_add_test(tc, late_symlink);
	tcase_add_test(tc, directory_gone);
	tcase_add_test(tc, standard_output);
	tcase_add_loop_test(tc, pieces, 0, 4);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
