/*
 * filter.c - the process filter: a mode, and a set of processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "common/map.h"
#include "kernel-probes/handle.h"

static bool
is_alive(pid_t pid)
{
	return pid == 0 || kill(pid, 0) == 0 || errno == EPERM;
}

KP_EXPORT int
kp_filter_set(struct kp *kp, bool on)
{
	int r;

	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	kp->state->filter = (kp->state->filter & KP_FILTER_CPUS) | (!on ? KP_FILTER_OFF :
	    kp->state->filter_except ? KP_FILTER_EXCEPT : KP_FILTER_ONLY);
	r = kp_attach_sync(kp);
	return r < 0 ? r : kp_rules_scan(kp);
}

int
kp_filter_make(struct kp *kp)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	kp->filter_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tnf_filter", sizeof(uint32_t),
	    KP_FILTER_MAX, 1, &opts);
	return kp->filter_fd < 0 ? kp_refused(kp, kp->filter_fd, "BPF map") : 0;
}

uint8_t *
kp_filter_reasons(struct kp *kp, pid_t pid)
{
	void *p;

	if (kp->filter == NULL && kp->filter_fd >= 0) {
		p = mmap(NULL, KP_FILTER_MAX, kp->control ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_SHARED, kp->filter_fd, 0);
		kp->filter = p == MAP_FAILED ? NULL : p;
	}
	return kp->filter == NULL || (uint32_t)pid >= KP_FILTER_MAX ? NULL : kp->filter + pid;
}

static int
filter_add(struct kp *kp, pid_t pid, uint8_t value)
{
	uint8_t *reasons;
	int r;

	if (pid < 0 || !is_alive(pid))
		return kp_fail(kp, -ESRCH, "process %d: no such process", (int)pid);
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	if ((reasons = kp_filter_reasons(kp, pid)) == NULL)
		return kp_refused(kp, -ENOMEM, KP_PIN_FILTER);
	*reasons = (uint8_t)((*reasons & (KP_FILTER_NAME | KP_FILTER_GROUP)) | value);
	return 0;
}

KP_EXPORT int
kp_filter_add(struct kp *kp, pid_t pid)
{
	return filter_add(kp, pid, KP_FILTER_ALONE);
}

KP_EXPORT int
kp_filter_follow(struct kp *kp, pid_t pid)
{
	return filter_add(kp, pid, KP_FILTER_FOLLOW);
}

KP_EXPORT int
kp_filter_delete(struct kp *kp, pid_t pid)
{
	uint8_t *reasons;

	if (kp->looking)
		return kp_state_usable(kp);
	reasons = kp_filter_reasons(kp, pid);
	if (reasons == NULL || *reasons == 0)
		return kp_fail(kp, -ESRCH, "process %d: not in the set", (int)pid);
	*reasons = 0;
	return 0;
}

/* The next process of the set from 'pid' on, or -1. */
static pid_t
filter_next(struct kp *kp, pid_t pid)
{
	const uint8_t *set = kp_filter_reasons(kp, 0);

	for (; set != NULL && (uint32_t)pid < KP_FILTER_MAX; pid++)
		if (set[pid] != 0)
			return pid;
	return -1;
}

/* Takes processes out that ended while nothing was attached. */
KP_EXPORT int
kp_filter_list(struct kp *kp, pid_t **ret, int *ret_n)
{
	pid_t *list = NULL, *more, pid;
	int n = 0;

	for (pid = 0; (pid = filter_next(kp, pid)) != -1; pid++) {
		if (!is_alive(pid)) {
			if (kp->control)
				*kp_filter_reasons(kp, pid) = 0;
			continue;
		}
		if ((more = tnf_grow(list, (size_t)n, sizeof *list)) == NULL) {
			free(list);
			return -ENOMEM;
		}
		list = more;
		list[n++] = pid;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}
