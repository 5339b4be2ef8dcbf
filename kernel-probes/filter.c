/*
 * filter.c - the process filter: a mode, and a set of processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include <bpf/bpf.h>

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
	kp->state->filter = !on ? KP_FILTER_OFF : kp->state->filter_except ?
	    KP_FILTER_EXCEPT : KP_FILTER_ONLY;
	r = kp_attach_sync(kp);
	return r < 0 ? r : kp_rules_scan(kp);
}

static int
filter_add(struct kp *kp, pid_t pid, uint32_t value)
{
	uint32_t key = pid, has = 0;
	int r;

	if (pid < 0 || !is_alive(pid))
		return kp_fail(kp, -ESRCH, "process %d: no such process", (int)pid);
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	if (bpf_map_lookup_elem(kp->filter_fd, &key, &has) == 0)
		value |= has & (KP_FILTER_NAME | KP_FILTER_GROUP);
	r = bpf_map_update_elem(kp->filter_fd, &key, &value, BPF_ANY);
	if (r == -E2BIG)
		return kp_fail(kp, r, "process filter: the set is full");
	return r < 0 ? kp_refused(kp, r, KP_PIN_FILTER) : 0;
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
	uint32_t key = pid;

	if (kp->looking)
		return kp_state_usable(kp);
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

/*
 * Reads the whole set, each bucket at one time.  A walk key by key would begin anew
 * whenever the latest key has left the set.
 */
static int
filter_read(int fd, uint32_t *keys, uint32_t *values)
{
	uint32_t in, out, n, got = 0;
	int r = 0;

	for (int calls = 0; r == 0 && got < KP_FILTER_MAX && calls < KP_FILTER_MAX; calls++) {
		n = KP_FILTER_MAX - got;
		r = bpf_map_lookup_batch(fd, calls == 0 ? NULL : &in, &out,
		    keys + got, values, &n, NULL);
		if (r != 0 && r != -ENOENT)
			return r;
		got += n;
		in = out;
	}
	return (int)got;
}

/* Deletes processes that ended while nothing was attached. */
KP_EXPORT int
kp_filter_list(struct kp *kp, pid_t **ret, int *ret_n)
{
	uint32_t *keys = calloc(2 * KP_FILTER_MAX, sizeof *keys);
	pid_t *list = (pid_t *)keys;
	int got = 0, n = 0;

	if (keys == NULL)
		return -ENOMEM;
	if (kp->filter_fd >= 0)
		got = filter_read(kp->filter_fd, keys, keys + KP_FILTER_MAX);
	if (got < 0) {
		free(keys);
		return kp_refused(kp, got, KP_PIN_FILTER);
	}
	for (int i = 0; i < got; i++)
		if (is_alive((pid_t)keys[i]))
			list[n++] = (pid_t)keys[i];
		else
			kp_filter_delete(kp, (pid_t)keys[i]);
	qsort(list, (size_t)n, sizeof *list, by_number);
	*ret = list;
	*ret_n = n;
	return 0;
}
