/*
 * fake-kp.c - kernel-probes without a kernel: the buffer is a file.
 *
 * TNF_FAKE_BUFFER names it; TNF_FAKE_ERRNO makes opening fail, TNF_FAKE_LOST
 * is a number of events lost, TNF_FAKE_HOOK of hits that the kernel skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tnf/com.h>

#include "kernel-probes/catalogue.h"
#include "kernel-probes/kernel_probes.h"

static struct kp {
	void	*base;
	size_t	 size;
} the_kp;

int
kp_open(bool control, struct kp **ret)
{
	const char *name = getenv("TNF_FAKE_BUFFER");
	struct stat st;
	int fd;

	if (getenv("TNF_FAKE_ERRNO") != NULL)
		return -atoi(getenv("TNF_FAKE_ERRNO"));
	if (name == NULL)
		return -ENOENT;
	fd = open(name, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	the_kp.size = (size_t)st.st_size;
	the_kp.base = mmap(NULL, the_kp.size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (the_kp.base == MAP_FAILED)
		return -errno;
	*ret = &the_kp;
	return 0;
}

void
kp_close(struct kp *kp)
{
	if (kp != NULL)
		munmap(kp->base, kp->size);
}

int
kp_status(struct kp *kp, struct kp_status *ret)
{
	const char *lost = getenv("TNF_FAKE_LOST"), *hook = getenv("TNF_FAKE_HOOK");

	memset(ret, 0, sizeof *ret);
	ret->state = kp_standing(kp);
	ret->size = kp->size;
	if (lost != NULL) {
		ret->lost[TNF_LOST_NESTED] = strtoull(lost, NULL, 10);
		ret->lost_cpu_max = ret->lost[TNF_LOST_NESTED] - 1;
		ret->lost_cpu = 3;
	}
	if (hook != NULL)
		ret->lost[TNF_LOST_HOOK] = strtoull(hook, NULL, 10);
	return 0;
}

enum kp_state
kp_standing(struct kp *kp)
{
	return getenv("TNF_FAKE_BROKEN") != NULL ? KP_BROKEN : KP_OK;
}

int
kp_map(struct kp *kp, const void **ret, size_t *ret_size)
{
	*ret = kp->base;
	*ret_size = kp->size;
	return 0;
}

int
kp_tasks(struct kp *kp, struct kp_task **ret, size_t *ret_n)
{
	return -ENOTSUP;
}

int
kp_probe_count(struct kp *kp)
{
	return 0;
}

int
kp_probe_get(struct kp *kp, unsigned id, struct kp_probe *ret)
{
	return -EINVAL;
}

void
kp_ended(struct kp *kp, const struct kp_task *living, size_t n,
    void (*fn)(void *, pid_t, pid_t, pid_t, const char *), void *arg)
{
	fn(arg, 2000000001, 2000000000, 1, "gone");
}

const char *
kp_detail(struct kp *kp)
{
	return getenv("TNF_FAKE_ERRNO") != NULL ?
	    "kernel: tracing needs CAP_BPF: run as root" : "";
}

void
kp_renamed(struct kp *kp, void (*fn)(void *, pid_t, int64_t, const char *), void *arg)
{
	fn(arg, 2000000001, 5000, "before");
}

void
kp_ran(struct kp *kp, void (*fn)(void *, pid_t, int64_t, const char *), void *arg)
{
	fn(arg, 2000000000, 4000, "/bin/gone");
}

void
kp_objects(struct kp *kp, void (*fn)(void *, const struct kp_mapped *), void *arg)
{
}

bool
kp_frozen(struct kp *kp, int64_t *time, char *why, size_t size)
{
	return false;
}

void
kp_value_names(struct kp *kp, void (*fn)(void *arg, const char *probe, const char *member,
    const char *names), void *arg)
{
}

/* Buffers of these tests have no probes of the kernel. */
int
kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret)
{
	return -ENOSPC;
}
