/*
 * detail.c - what went wrong, in words.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "kernel-probes/handle.h"

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
		return true;		/* do not blame what we do not know */
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
