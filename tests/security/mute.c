/*
 * mute.c - for LD_PRELOAD, in a file called libc.so.6: when prex has the target make
 * a pair of sockets, one of the two is a file of a file system that never
 * answers to close().  A process that takes that one and closes it waits for ever, and no
 * signal ends it.
 *
 * TNF_MUTE names a directory to mount that file system upon.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int mute = -1;

static struct fuse_attr
attributes(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .nlink = 1,
	    .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644 };
}

static void
answer(int fd, const struct fuse_in_header *asked, int error, const void *data,
    size_t size)
{
	struct { struct fuse_out_header head; char data[256]; } a = {
	    .head = { .len = (uint32_t)(sizeof(a.head) + size), .error = error,
	    .unique = asked->unique } };

	if (size > 0)
		memcpy(a.data, data, size);
	if (write(fd, &a, a.head.len) != (ssize_t)a.head.len)
		_exit(1);
}

static void
serve(int fd)
{
	struct fuse_init_out init = { .major = 7, .minor = 31,
	    .max_write = 4096, .time_gran = 1 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	struct fuse_entry_out entry = { .nodeid = 2, .entry_valid = 1000,
	    .attr_valid = 1000, .attr = attributes(2) };
	struct fuse_open_out opened = { .fh = 1 };
	union { struct fuse_in_header head; char room[65536 + 4096]; } asked;

	while (read(fd, &asked, sizeof(asked)) > 0) {
		switch (asked.head.opcode) {
		case FUSE_INIT:
			answer(fd, &asked.head, 0, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			attr.attr = attributes(asked.head.nodeid);
			answer(fd, &asked.head, 0, &attr, sizeof(attr));
			break;
		case FUSE_LOOKUP:
			answer(fd, &asked.head, 0, &entry, sizeof(entry));
			break;
		case FUSE_OPEN:
			answer(fd, &asked.head, 0, &opened, sizeof(opened));
			break;
		case FUSE_FLUSH:
		case FUSE_FORGET:
			break;
		default:
			answer(fd, &asked.head, -ENOSYS, NULL, 0);
			break;
		}
	}
	_exit(0);
}

static void __attribute__((constructor))
begin(void)
{
	const char *dir = getenv("TNF_MUTE");
	char options[100], file[4096];
	int fd;

	if (dir == NULL)
		return;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
	    "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("mute", dir, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		printf("no file system: %s\n", strerror(errno));
		exit(77);
	}
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	close(fd);
	snprintf(file, sizeof(file), "%s/file", dir);
	mute = open(file, O_RDONLY);
	if (mute < 0) {
		printf("no file: %s\n", strerror(errno));
		exit(77);
	}
}

long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6], ret;
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	ret = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_socketpair && ret == 0 && mute >= 0)
		((int *)a[3])[1] = mute;
	return ret;
}
