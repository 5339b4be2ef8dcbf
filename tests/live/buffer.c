/*
 * buffer.c - the trace file is made safely, or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/live/live.h"

static struct victim v;
static char base[128];

static tnfctl_errcode_t
alloc(const char *name, unsigned int bytes)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	if (v.pid == 0)
		v = VICTIM("many", "1");
	OK(tnfctl_pid_open(v.pid, &h));
	err = tnfctl_buffer_alloc(h, name, bytes);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	return err;
}

/* The next file is for another process. */
static void
next_victim(void)
{
	CHECK(victim_end(&v) == 0);
	v.pid = 0;
}

static char *
in_base(const char *name)
{
	static char path[4][256];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s.%s", base, name);
	return p;
}

static void
test_arguments(void)
{
	char longer[5000];
	struct stat st;
	tnfctl_handle_t *h;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	CHECK(alloc(NULL, 1 << 20) == TNFCTL_ERR_BADARG);
	CHECK(alloc("", 1 << 20) == TNFCTL_ERR_BADARG);
	CHECK(alloc(longer, 1 << 20) == TNFCTL_ERR_BADARG);
	CHECK(alloc(in_base("small"), 131071) == TNFCTL_ERR_SIZETOOSMALL);
	CHECK(alloc(in_base("big"), 0xffffffff) == TNFCTL_ERR_SIZETOOBIG);
	CHECK(alloc("/no/such/dir/file", 1 << 20) == TNFCTL_ERR_FILENOTFOUND);
	CHECK(alloc("/tmp", 1 << 20) != TNFCTL_ERR_NONE);
	CHECK(alloc(in_base("ok"), 131072) == TNFCTL_ERR_NONE);
	CHECK(stat(in_base("ok"), &st) == 0);
	CHECK((st.st_mode & 07777) == 0600 && st.st_size == 131072);
	CHECK(st.st_blocks * 512 >= 131072);
	CHECK(alloc(in_base("again"), 1 << 20) == TNFCTL_ERR_BUFEXISTS);
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	next_victim();
}

/* The file that a link leads to is not touched, nor is one that shares a hard link. */
static void
test_links(void)
{
	char *precious = in_base("precious"), *link_name = in_base("link");
	struct stat st;
	int fd;

	fd = open(precious, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	CHECK(fd >= 0 && write(fd, "keep", 4) == 4);
	close(fd);
	CHECK(symlink(precious, link_name) == 0);
	CHECK(alloc(link_name, 1 << 20) == TNFCTL_ERR_NONE);
	next_victim();
	CHECK(lstat(link_name, &st) == 0 && S_ISREG(st.st_mode));
	CHECK(file_size(precious) == 4);
	CHECK(unlink(link_name) == 0 && link(precious, link_name) == 0);
	CHECK(alloc(link_name, 1 << 20) == TNFCTL_ERR_NONE);
	next_victim();
	CHECK(file_size(precious) == 4 && file_has(precious, "keep"));
}

/* In a sticky directory nobody's file can be replaced but one's own. */
static void
test_sticky(void)
{
	char *dir = in_base("sticky"), name[300];
	int status, fd;
	pid_t pid;

	if (geteuid() != 0)
		return;
	CHECK(mkdir(dir, 0777) == 0 && chmod(dir, 01777) == 0);
	snprintf(name, sizeof(name), "%s/file", dir);
	fd = open(name, O_WRONLY | O_CREAT, 0666);
	CHECK(fd >= 0 && write(fd, "root", 4) == 4);
	close(fd);
	if ((pid = fork()) == 0) {
		CHECK(setgid(65534) == 0 && setuid(65534) == 0);
		/* A build that others have no right to look into. */
		if (access(victim_path("libvictim-plugin.so"), R_OK) != 0)
			_exit(0);
		CHECK(alloc(name, 1 << 20) == TNFCTL_ERR_ACCES);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(file_size(name) == 4);
}

/* Root makes the file, and it stays root's; the target has it nevertheless. */
static void
test_owner(void)
{
	tnfctl_trace_attrs_t attrs;
	char *name = in_base("owner");
	tnfctl_handle_t *h;
	struct stat st;

	if (geteuid() != 0)
		return;
	victim_user = 65534;
	v = VICTIM("many", "1");
	victim_user = 0;
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	CHECK(stat(name, &st) == 0 && st.st_uid == 0);
	enable_all(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_trace_attrs_get(h, &attrs));
	CHECK(attrs.trace_buf_state == TNFCTL_BUF_OK);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	next_victim();
}

/* A full file system is our error, and what was there stays. */
static void
test_full(void)
{
	char *dir = in_base("full"), name[300];
	int fd;

	if (geteuid() != 0)
		return;
	CHECK(mkdir(dir, 0777) == 0);
	if (mount("tnf-test", dir, "tmpfs", 0, "size=1m") != 0)
		return;
	snprintf(name, sizeof(name), "%s/file", dir);
	fd = open(name, O_WRONLY | O_CREAT, 0666);
	CHECK(fd >= 0 && write(fd, "old", 3) == 3);
	close(fd);
	CHECK(alloc(name, 4 << 20) == TNFCTL_ERR_INTERNAL);
	CHECK(strstr(tnfctl_error_detail(), "No space left") != NULL);
	CHECK(file_size(name) == 3);
	umount(dir);
}

static void
test_limit(void)
{
	const struct rlimit limit = { 1 << 20, 1 << 20 };
	int status;
	pid_t pid;

	if (v.pid != 0)
		next_victim();
	if ((pid = fork()) == 0) {
		CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		CHECK(alloc(in_base("limit"), 2 << 20) == TNFCTL_ERR_INTERNAL);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* The number of the file without a name that we have open; 0: there is none. */
static ino_t
nameless(void)
{
	struct stat st;

	for (int fd = 3; fd < 100; fd++)
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
			return st.st_ino;
	return 0;
}

/* Room that was prepared becomes the next file of that size, whatever its name, and is given up
   for one of another size. */
static void
test_prepared(void)
{
	char *name = in_base("prepared"), *other = in_base("unprepared");
	struct stat st;
	ino_t number;

	tnfctl_buffer_prepare("/no/such/dir/file", 1 << 20);
	CHECK(nameless() == 0);
	tnfctl_buffer_prepare(other, 1 << 20);
	number = nameless();	/* 0: this file system cannot do it */
	CHECK(alloc(name, 1 << 20) == TNFCTL_ERR_NONE);
	CHECK(stat(name, &st) == 0 && (number == 0 || st.st_ino == number));
	CHECK((st.st_mode & 07777) == 0600 && st.st_nlink == 1);
	CHECK(st.st_size == 1 << 20 && st.st_blocks * 512 >= 1 << 20);
	next_victim();
	tnfctl_buffer_prepare(name, 1 << 20);
	CHECK(alloc(other, 2 << 20) == TNFCTL_ERR_NONE && file_size(other) == 2 << 20);
	CHECK(nameless() == 0);
	tnfctl_buffer_prepare(name, 1 << 20);
	tnfctl_buffer_prepare(NULL, 0);
	CHECK(nameless() == 0);
	next_victim();
}

int
main(void)
{
	snprintf(base, sizeof(base), "%s", trace_name());
	test_arguments();
	test_links();
	test_sticky();
	test_owner();
	test_full();
	test_limit();
	test_prepared();
	return 0;
}
