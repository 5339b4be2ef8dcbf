/*
 * proc.c - what /proc says of this very process, a program beside it, and files that appear whole.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/proc.h"
#include "common/xalloc.h"
#include "tests/check-run.h"

static char dir[] = "/tmp/tnf-proc.XXXXXX", path[64];
static long page;

static void
setup(void)
{
	page = sysconf(_SC_PAGESIZE);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a file", dir);
}

static void
teardown(void)
{
	unlink(path);
	rmdir(dir);
}

/* A file's second page, shared and writable, then its first, private and executable. */
START_TEST(mappings)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	char *base = mmap(NULL, 4 * (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text = base + page, *data = base + 2 * page;
	char name[MAPPING_FILE_MAX];
	const struct mapping *m, *first;
	struct maps maps;
	struct stat st, other;

	ck_assert_int_eq(ftruncate(fd, 2 * page), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(!tnf_maps_write_file(getpid(), &st));
	ck_assert(mmap(text, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == text);
	ck_assert(!tnf_maps_write_file(getpid(), &st));
	ck_assert(mmap(data, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, page) == data);
	if (geteuid() == 0) {
		ck_assert(tnf_maps_write_file(getpid(), &st));
		ck_assert_int_eq(stat("/proc/self/exe", &other), 0);
		ck_assert(!tnf_maps_write_file(getpid(), &other));
	}
	ck_assert_int_eq(tnf_maps_read(getpid(), &maps), 0);
	for (size_t i = 1; i < maps.n; i++)
		ck_assert(maps.m[i].start >= maps.m[i - 1].end);
	first = tnf_maps_find(&maps, (uintptr_t)text);
	m = tnf_maps_find(&maps, (uintptr_t)data + (uintptr_t)page - 1);
	ck_assert(first != NULL && m == first + 1 && tnf_maps_find(&maps, (uintptr_t)data) == m);
	ck_assert(tnf_maps_find(&maps, (uintptr_t)data - 1) == first);
	ck_assert_str_eq(m->path, path);
	ck_assert(m->start == (uintptr_t)data && m->end == m->start + (uintptr_t)page && m->offset == (uint64_t)page);
	ck_assert(m->inode == st.st_ino && major(m->device) == major(st.st_dev) && minor(m->device) == minor(st.st_dev));
	ck_assert(m->write && m->shared && !m->exec && !first->write && !first->shared && first->exec);
	ck_assert(tnf_mapping_is_written(m) && !tnf_mapping_is_written(first));
	ck_assert(tnf_maps_file_start(&maps, m) == first && tnf_maps_file_start(&maps, first) == first);
	ck_assert(mapping_same_file(m, first));
	ck_assert(!mapping_same_file(first - 1, first - 1) && !mapping_same_file(m, tnf_maps_find(&maps, (uintptr_t)setup)));
	ck_assert(tnf_maps_find(&maps, 1) == NULL && tnf_maps_find(&maps, maps.m[0].start) == &maps.m[0]);
	ck_assert(tnf_maps_find(&maps, maps.m[maps.n - 1].end) == NULL);
	ck_assert(tnf_maps_file_start(&maps, &maps.m[maps.n - 1]) == NULL ||
	    maps.m[maps.n - 1].offset == 0);
	tnf_mapping_file(m, getpid(), name);
	ck_assert(geteuid() != 0 || (stat(name, &other) == 0 && other.st_ino == st.st_ino));
	munmap(text, (size_t)page);
	tnf_maps_free(&maps);
	ck_assert(maps.n == 0 && maps.m == NULL);
	/* Without its first page, it has no start. */
	ck_assert_int_eq(tnf_maps_read(getpid(), &maps), 0);
	ck_assert(tnf_maps_file_start(&maps, tnf_maps_find(&maps, (uintptr_t)data)) == NULL);
	tnf_maps_free(&maps);
	ck_assert_int_eq(tnf_maps_read(0x7fffffff, &maps), ENOENT);
	close(fd);
}
END_TEST

/* More mappings than there is room for at first, and more text than is read at once. */
START_TEST(many_mappings)
{
	size_t n = 3000;
	char *base = mmap(NULL, 2 * n * (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct maps maps;

	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(mprotect(base + 2 * i * (size_t)page, (size_t)page, PROT_READ), 0);
	ck_assert_int_eq(tnf_maps_read(getpid(), &maps), 0);
	ck_assert_uint_gt(maps.n, 2 * n - 2);
	for (size_t i = 0; i < 2 * n - 1; i++)
		if (tnf_maps_find(&maps, (uintptr_t)base + i * (size_t)page)->start != (uintptr_t)base + i * (size_t)page)
			ck_abort_msg("mapping %zu", i);
	tnf_maps_free(&maps);
}
END_TEST

static void *
thread(void *arg)
{
	char text[32];

	prctl(PR_SET_NAME, "other one");
	ck_assert(tnf_thread_status_text(getpid(), gettid(), "Name", text, sizeof text));
	ck_assert_str_eq(text, "other one");
	ck_assert_int_eq(tnf_thread_status(getpid(), gettid(), "Pid"), gettid());
	ck_assert_int_eq(tnf_thread_status(getpid(), gettid(), "Tgid"), getpid());
	ck_assert_int_eq(tnf_thread_status_last(getpid(), gettid(), "NSpid"), gettid());
	return NULL;
}

START_TEST(status)
{
	char text[64], want[64];
	struct timespec t;
	uint64_t began;
	pthread_t other;

	prctl(PR_SET_NAME, "a) R 1 (b");
	ck_assert(tnf_proc_status_text(getpid(), "Name", text, sizeof text));
	ck_assert_str_eq(text, "a) R 1 (b");
	ck_assert(tnf_proc_status_text(getpid(), "Name", text, 3));
	ck_assert_str_eq(text, "a)");
	ck_assert(!tnf_proc_status_text(getpid(), "Nam", text, sizeof text));
	ck_assert(!tnf_proc_status_text(0x7fffffff, "Name", text, sizeof text));
	ck_assert_int_eq(tnf_proc_status(getpid(), "Pid"), getpid());
	ck_assert_int_eq(tnf_proc_status(getpid(), "PPid"), getppid());
	ck_assert_int_eq(tnf_proc_status(getpid(), "State"), -1);
	ck_assert_int_eq(tnf_proc_status(getpid(), "None"), -1);
	ck_assert_int_eq(tnf_thread_status(getpid(), getpid(), "None"), -1);
	ck_assert_int_eq(tnf_thread_status_last(getpid(), getpid(), "None"), -1);
	/* qemu-user adds a thread of its own. */
	ck_assert_int_ge(tnf_thread_status_last(getpid(), getpid(), "Threads"), 1);
	ck_assert_int_le(tnf_thread_status_last(getpid(), getpid(), "Threads"), 2);
	if (geteuid() == 0) {
		ck_assert_int_eq(setresuid(11, 22, 0), 0);
		ck_assert_int_eq(tnf_proc_status_nth(getpid(), "Uid", PROC_ID_REAL), 11);
		ck_assert_int_eq(tnf_proc_status_nth(getpid(), "Uid", PROC_ID_EFFECTIVE), 22);
		ck_assert_int_eq(tnf_proc_status_nth(getpid(), "Uid", PROC_ID_SAVED), 0);
		ck_assert_int_eq(tnf_proc_status_nth(getpid(), "Uid", PROC_ID_FS), 22);
		ck_assert_int_eq(tnf_proc_status_nth(getpid(), "Uid", 4), -1);
		ck_assert_int_eq(setresuid(0, 0, 0), 0);
	}
	/* The machine has been up for longer, and this process for less than a day. */
	began = tnf_proc_started(getpid()) / (uint64_t)sysconf(_SC_CLK_TCK);
	clock_gettime(CLOCK_BOOTTIME, &t);
	ck_assert(began > 0 && began <= (uint64_t)t.tv_sec && began + 86400 > (uint64_t)t.tv_sec);
	ck_assert_uint_ge(tnf_proc_started(getpid()), tnf_proc_started(getppid()));
	ck_assert_uint_eq(tnf_proc_started(0x7fffffff), 0);
	ck_assert_int_eq(pthread_create(&other, NULL, thread, NULL), 0);
	pthread_join(other, NULL);
	prctl(PR_SET_NAME, "me");
	snprintf(want, sizeof want, "root by me[%d]", (int)getpid());
	tnf_who_is(0, getpid(), text, sizeof text);
	ck_assert_str_eq(text, want);
	tnf_who_is(123456, 0x7fffffff, text, sizeof text);
	ck_assert_str_eq(text, "123456 by [2147483647]");
	tnf_who_is(0, getpid(), text, 5);
	ck_assert_str_eq(text, "root");
}
END_TEST

START_TEST(files)
{
	static char big[300000];
	char text[8], *all;
	size_t n;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (char)(i % 127 + 1);
	ck_assert_int_eq(pwrite_all(fd, "0123456789", 10, 0), 0);
	ck_assert_int_eq(tnf_proc_file(text, sizeof text, "%s/%s", dir, "a file"), 7);
	ck_assert_str_eq(text, "0123456");
	ck_assert_int_eq(pwrite_all(fd, big, sizeof big, 2), 0);
	ck_assert_int_eq(tnf_read_all(fd, &all, &n), 0);
	ck_assert_uint_eq(n, sizeof big + 2);
	ck_assert(memcmp(all, "01", 2) == 0 && memcmp(all + 2, big, sizeof big) == 0 && all[n] == '\0');
	free(all);
	/* All that is left: nothing. */
	ck_assert_int_eq(tnf_read_all(fd, &all, NULL), 0);
	ck_assert_str_eq(all, "");
	free(all);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(tnf_proc_file(text, sizeof text, "%s", path), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(tnf_proc_file(text, sizeof text, "%s/none", dir), -1);
	close(fd);
	ck_assert_int_eq(tnf_read_all(fd, &all, &n), EBADF);
	ck_assert_int_eq(pwrite_all(fd, "x", 1, 0), EBADF);
	ck_assert_int_eq(pwrite_all(fd, "x", 0, 0), 0);
	fd = open("/dev/full", O_WRONLY);
	ck_assert_int_eq(pwrite_all(fd, "x", 1, 0), ENOSPC);
	close(fd);
}
END_TEST

/* Lists the entries of the directory, "NAME," each. */
static const char *
entries(void)
{
	static char text[200];
	DIR *d = directory_open(AT_FDCWD, dir);
	struct dirent *e;

	ck_assert_ptr_nonnull(d);
	for (*text = '\0'; (e = directory_next(d)) != NULL; )
		strcat(strcat(text, e->d_name), ",");
	closedir(d);
	return text;
}

/* A file is there when it is whole, in place of what was there; one that is given up never. */
START_TEST(whole)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	struct whole w;
	struct stat st;
	char text[8];

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(tnf_whole_open(&w, at, "a file"), 0);
		ck_assert_int_eq(dprintf(w.fd, "text %d", i), 6);
		ck_assert_str_eq(entries(), i == 0 ? "" : "a file,");
		ck_assert_int_eq(tnf_whole_commit(&w), 0);
		ck_assert_int_eq(w.fd, -1);
		ck_assert_str_eq(entries(), "a file,");
		ck_assert_int_eq(tnf_proc_file(text, sizeof text, "%s", path), 6);
		ck_assert_int_eq(text[5], '0' + i);
		ck_assert(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_nlink == 1);
	}
	ck_assert_int_eq(tnf_whole_open(&w, at, "another"), 0);
	errno = 5;
	tnf_whole_discard(&w);
	tnf_whole_discard(&w);
	ck_assert(errno == 5 && w.fd == -1);
	ck_assert_str_eq(entries(), "a file,");
	ck_assert_int_ne(tnf_whole_open(&w, -1, "x"), 0);
	/* It cannot take the place of a directory. */
	ck_assert_int_eq(mkdirat(at, "d", 0700), 0);
	ck_assert_int_eq(tnf_whole_open(&w, at, "d"), 0);
	ck_assert_int_eq(tnf_whole_commit(&w), EISDIR);
	ck_assert_int_eq(unlinkat(at, "d", AT_REMOVEDIR), 0);
	ck_assert_str_eq(entries(), "a file,");
	ck_assert_int_eq(symlinkat(".", at, "link"), 0);
	ck_assert_ptr_null(directory_open(at, "link"));
	unlinkat(at, "link", 0);
	close(at);
	/* Nothing can be made there, with a name or without; no name is left to be removed. */
	at = open("/proc", O_RDONLY | O_DIRECTORY);
	ck_assert_int_ne(tnf_whole_open(&w, at, "x"), 0);
	ck_assert(w.temp[0] == '\0' && w.fd == -1);
	close(at);
}
END_TEST

/* A file that cannot be opened gives -1 and the reason. */
START_TEST(no_file)
{
	char text[16];

	errno = 0;
	ck_assert_int_eq(tnf_proc_file(text, sizeof(text), "/proc/%s", "none"), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* A program is taken from the directory of the one that runs, and else by its name. */
START_TEST(beside)
{
	char self[4096], *found;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	found = tnf_program_path(strrchr(self, '/') + 1);
	ck_assert_str_eq(found, self);
	free(found);
	found = tnf_program_path("no program has this name");
	ck_assert_str_eq(found, "no program has this name");
	free(found);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("proc");
	TCase *t = tcase_create("proc");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, no_file);
	tcase_add_test(t, mappings);
	tcase_add_test(t, many_mappings);
	tcase_add_test(t, status);
	tcase_add_test(t, files);
	tcase_add_test(t, beside);
	tcase_add_test(t, whole);
	suite_add_tcase(s, t);
	return check_run(s);
}
