/*
 * held.c - victim: a page with what its tracer has to read waits for userfaultfd(2).
 *
 * The page with the control block of libtnfprobe is not there until a line comes; who needs
 * it then waits.  Each line of input is a hit; "unharmed" at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <tnf/probe.h>

#include "victim.h"

static char *page;
static size_t size;

/* A copy of what was there; the page itself is empty, and belongs to the descriptor. */
static char *
take_page(int fd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return NULL;
	memcpy(copy, page, size);
	if (mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return NULL;
	r.range.start = (uintptr_t)page;
	r.range.len = size;
	return ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &r) == 0 ? copy : NULL;
}

static bool
give_page(int fd, const char *copy)
{
	struct uffdio_copy c = { .dst = (uintptr_t)page, .src = (uintptr_t)copy, .len = size };

	return ioctl(fd, UFFDIO_COPY, &c) == 0;
}

int
main(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *copy, line[16];
	unsigned hits = 0;

	if (fd < 0) {
		puts("no userfaultfd");
		return 0;
	}
	size = (size_t)getpagesize();
	/* By name: of a variable that is referred to, the program has a copy, beside its own. */
	page = (char *)((uintptr_t)dlsym(RTLD_DEFAULT, TNF_PROCESS_SYMBOL) & ~(uintptr_t)(size - 1));
	if ((copy = take_page(fd)) == NULL)
		victim_harmed(strerror(errno));
	victim_ready();
	if (read(0, line, sizeof(line)) <= 0 || !give_page(fd, copy))
		victim_harmed("the page");
	victim_ready();
	while (read(0, line, sizeof(line)) > 0) {
		TNF_PROBE_1(held, "held", "", tnf_uint, n, hits);
		hits++;
		victim_ready();
	}
	puts("unharmed");
	return 0;
}
