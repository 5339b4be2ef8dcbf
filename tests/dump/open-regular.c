/*
 * open-regular.c - what a target names is opened only if it is a file: a FIFO
 * does not make us wait, and a device does not notice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

static int failed;

static void
expect(const char *path, int flags, int error)
{
	struct stat st;
	int fd = tnf_open_regular(path, O_RDONLY | flags, &st);

	if ((fd < 0 ? errno : 0) != error || (fd >= 0 && !S_ISREG(st.st_mode))) {
		printf("FAIL: %s: %s, not %s\n", path,
		    fd < 0 ? strerror(errno) : "opened", strerror(error));
		failed = 1;
	}
	if (fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) {
		printf("FAIL: %s: stays open over exec()\n", path);
		failed = 1;
	}
	if (fd >= 0)
		close(fd);
}

int
main(void)
{
	char dir[] = "/tmp/tnf-open.XXXXXX";
	int fd;

	alarm(60);		/* a FIFO waits for ever */
	if (mkdtemp(dir) == NULL || chdir(dir) != 0 ||
	    (fd = open("file", O_WRONLY | O_CREAT, 0600)) < 0 ||
	    mkfifo("fifo", 0600) != 0 || symlink("file", "link") != 0 ||
	    symlink("fifo", "to-fifo") != 0)
		return 1;
	close(fd);
	expect("file", 0, 0);
	expect("link", 0, 0);
	expect("link", O_NOFOLLOW, EINVAL);
	expect("fifo", 0, EINVAL);
	expect("to-fifo", 0, EINVAL);
	expect(".", 0, EINVAL);
	expect("/dev/null", 0, EINVAL);
	expect("nowhere", 0, ENOENT);
	unlink("file");
	unlink("fifo");
	unlink("link");
	unlink("to-fifo");
	if (chdir("/") == 0)
		rmdir(dir);
	return failed;
}
