/*
 * open.c - a session begins and ends; texts that explain its errors.
 *
 * Locks are flock()s on directories of the bpffs: they need no file of their
 * own, and whoever may pin may lock.  The one that controls holds KP_DIR; each
 * that reads the buffer shares KP_DIR_PROG, which is there while a buffer is.
 */
#include <sys/file.h>

#include <bpf/btf.h>
#include <linux/capability.h>
#include <stdarg.h>

#include "kernel-probes/handle.h"

static const struct kp kp_closed = {
	.lock = -1, .state_fd = -1, .filter_fd = -1, .buf_fd = -1, .cpu_fd = -1,
	.pool_fd = -1, .asked_fd = -1, .rows_fd = -1, .counts_fd = -1,
	.where_fd = -1, .rules_fd = -1, .sites_fd = -1, .types_fd = -1,
};

/* The directory may have been removed between our open() and flock(). */
static bool
still_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
	    a.st_dev == b.st_dev;
}

static int
lock_control(struct kp *kp)
{
	int r, fd;

	for (;;) {
		if ((r = kp_pins_dir(kp, KP_DIR)) < 0)
			return r;
		fd = kp_pins_open(kp);
		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
			close(fd);
			return kp_fail(kp, -EBUSY, "kernel: another session "
			    "controls the probes: end it first");
		}
		if (still_there(fd, KP_DIR))
			break;
		close(fd);
	}
	kp->lock = fd;
	return 0;
}

static int
no_buffer(struct kp *kp)
{
	return kp_fail(kp, -ENOENT, "kernel: no trace buffer: allocate one with prex -k");
}

static int
lock_reading(struct kp *kp)
{
	autoclose int dir = kp_pins_open(kp);

	/* A user without the rights is not told whether there is a buffer. */
	if (dir == -ENOENT)
		return kp_may_use(kp) < 0 ? -EPERM : no_buffer(kp);
	if (dir < 0)
		return dir;
	kp->lock = openat(dir, KP_SUB_PROG,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (kp->lock == -1)
		return errno == ENOENT || errno == ENOTDIR ? no_buffer(kp) :
		    kp_refused(kp, -errno, KP_DIR);
	if (flock(kp->lock, LOCK_SH | LOCK_NB) == -1)
		return kp_fail(kp, -EBUSY, "kernel: the trace buffer is being removed");
	return 0;
}

static int
open_control(struct kp *kp)
{
	int r;

	if ((r = kp_may_use(kp)) < 0 || (r = kp_hooks_find(kp)) < 0 ||
	    (r = kp_pins_mount(kp)) < 0 || (r = lock_control(kp)) < 0)
		return r;
	if ((r = kp_state_open(kp)) < 0 || kp->foreign)
		return r;
	return kp_imports_open(kp);
}

static int
open_reading(struct kp *kp)
{
	int r;

	if ((r = lock_reading(kp)) < 0 || (r = kp_state_open(kp)) < 0 ||
	    (r = kp_state_usable(kp)) < 0)
		return r;
	return kp->state->buffer_size == 0 ? no_buffer(kp) : kp_imports_open(kp);
}

static struct kp *
new_session(void)
{
	struct kp *kp = malloc(sizeof *kp);

	if (kp == NULL)
		return NULL;
	*kp = kp_closed;
	kp->state = &kp->local;
	return kp;
}

/* On failure the handle stays, for kp_detail(). */
KP_EXPORT int
kp_open(bool control, struct kp **ret)
{
	struct kp *kp = new_session();

	*ret = kp;
	if (kp == NULL)
		return -ENOMEM;
	kp->control = control;
	return control ? open_control(kp) : open_reading(kp);
}

KP_EXPORT int
kp_look(struct kp **ret)
{
	struct kp *kp = new_session();
	int r;

	*ret = kp;
	if (kp == NULL)
		return -ENOMEM;
	kp->looking = true;
	if ((r = kp_hooks_find(kp)) == 0)
		kp_state_new(kp);
	return r;
}

KP_EXPORT void
kp_close(struct kp *kp)
{
	bool empty;

	if (kp == NULL)
		return;
	empty = kp->control && kp->lock != -1 && kp->state == &kp->local && !kp->foreign;
	kp_state_close(kp);
	if (empty)
		rmdir(KP_DIR);		/* made for the lock alone */
	if (kp->lock != -1)
		close(kp->lock);
	kp_imports_free(kp);
	btf__free(kp->btf);
	kp_close_fd(&kp->types_fd);
	free(kp->kept);
	free(kp->kept_rules);
	free(kp);
}

int
kp_fail(struct kp *kp, int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(kp->detail, sizeof kp->detail, fmt, ap);
	va_end(ap);
	return r;
}

static bool
have_capability(int cap)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	if (syscall(SYS_capget, &h, d) == -1)
		return true;		/* unknown: do not blame it */
	return d[cap / 32].effective & 1u << cap % 32;
}

/* "[none] integrity confidentiality": is the last one chosen? */
static bool
locked_down(void)
{
	char text[128];

	return tnf_proc_file(text, sizeof text, "/sys/kernel/security/lockdown") > 0 &&
	    strstr(text, "[confidentiality]") != NULL;
}

int
kp_may_use(struct kp *kp)
{
	if (have_capability(CAP_SYS_ADMIN) ||
	    (have_capability(CAP_BPF) && have_capability(CAP_PERFMON)))
		return 0;
	return kp_refused(kp, -EPERM, "kernel probes");
}

int
kp_refused(struct kp *kp, int r, const char *what)
{
	if (r != -EPERM && r != -EACCES)
		return kp_fail(kp, r, "%s: %s", what, strerror(-r));
	if (!have_capability(CAP_BPF) && !have_capability(CAP_SYS_ADMIN))
		return kp_fail(kp, r, "%s: no permission: needs CAP_BPF (or root)", what);
	if (!have_capability(CAP_PERFMON) && !have_capability(CAP_SYS_ADMIN))
		return kp_fail(kp, r, "%s: no permission: needs CAP_PERFMON (or root)", what);
	if (locked_down())
		return kp_fail(kp, r, "%s: refused: the kernel is locked down "
		    "(/sys/kernel/security/lockdown is confidentiality)", what);
	return kp_fail(kp, r, "%s: refused: %s: see kernel.unprivileged_bpf_disabled, "
	    "kernel.perf_event_paranoid and the security modules", what, strerror(-r));
}

KP_EXPORT const char *
kp_detail(struct kp *kp)
{
	return kp == NULL ? "" : kp->detail;
}
