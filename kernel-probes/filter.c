/*
 * filter.c - the process filter: a mode, and a set of processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "handle.h"

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
	kp->state->filter = on;
	return kp_attach_sync(kp);
}

KP_EXPORT int
kp_filter_add(struct kp *kp, pid_t pid)
{
	uint32_t key = pid;
	int r;

	if (pid < 0 || !is_alive(pid))
		return kp_fail(kp, -ESRCH, "process %d: no such process", (int)pid);
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	r = bpf_map_update_elem(kp->filter_fd, &key, &key, BPF_ANY);
	if (r == -E2BIG)
		return kp_fail(kp, r, "process filter: the set is full");
	return r < 0 ? kp_refused(kp, r, KP_PIN_FILTER) : 0;
}

KP_EXPORT int
kp_filter_delete(struct kp *kp, pid_t pid)
{
	uint32_t key = pid;

	if (kp->filter_fd < 0 || bpf_map_delete_elem(kp->filter_fd, &key) < 0)
		return kp_fail(kp, -ESRCH, "process %d: not in the set", (int)pid);
	return 0;
}

static int
by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* Processes that ended while nothing was attached go now. */
KP_EXPORT int
kp_filter_list(struct kp *kp, pid_t **ret, int *ret_n)
{
	uint32_t key, next, *prev = NULL;
	pid_t *list = NULL, *more;
	int n = 0;

	while (kp->filter_fd >= 0 &&
	    bpf_map_get_next_key(kp->filter_fd, prev, &next) == 0) {
		if (n % 64 == 0) {
			more = realloc(list, (n + 64) * sizeof *list);
			if (more == NULL) {
				free(list);
				return -ENOMEM;
			}
			list = more;
		}
		list[n++] = next;
		key = next;
		prev = &key;
	}
	for (int i = n; i-- > 0;)
		if (!is_alive(list[i]) && kp_filter_delete(kp, list[i]) == 0)
			list[i] = list[--n];
	if (n != 0)
		qsort(list, n, sizeof *list, by_number);
	*ret = list;
	*ret_n = n;
	return 0;
}
