/*
 * filter-set.c - the set is listed once, and to its end, while it shrinks: each
 * process that was asked about has ended, and left the set, before the next.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "kernel-probes/handle.h"

#define MEMBERS	1000

/* A hash map: keys in some order; a key that is gone leads to the first. */
static unsigned char gone[MEMBERS];
static int calls;

int
bpf_map_get_next_key(int fd, const void *key, void *next)
{
	const uint32_t *k = key;
	uint32_t i;

	if (k != NULL && (calls & 3) == 0)
		gone[*k - 1] = 1;	/* it ends just now */
	i = k == NULL || gone[*k - 1] ? 0 : *k;
	if (++calls > 100 * MEMBERS)
		return -ENOENT;
	for (; i < MEMBERS; i++)
		if (!gone[i]) {
			*(uint32_t *)next = i + 1;
			return 0;
		}
	return -ENOENT;
}

int
bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values,
    __u32 *n, const struct bpf_map_batch_opts *opts)
{
	uint32_t i = in == NULL ? 0 : *(uint32_t *)in, got = 0, *key = keys;

	for (; i < MEMBERS && got < *n; i++)
		if (!gone[i])
			key[got++] = i + 1;
	*n = got;
	*(uint32_t *)out = i;
	for (uint32_t k = 0; k < got; k += 3)
		gone[key[k] - 1] = 1;
	return i == MEMBERS ? -ENOENT : 0;
}

int bpf_map_delete_elem(int fd, const void *key) { return 0; }
int bpf_map_update_elem(int fd, const void *key, const void *v, __u64 f) { return 0; }
int kp_fail(struct kp *kp, int r, const char *fmt, ...) { return r; }
int kp_refused(struct kp *kp, int r, const char *what) { return r; }
int kp_state_usable(struct kp *kp) { return 0; }
int kp_state_make(struct kp *kp) { return 0; }
int bpf_map_lookup_elem(int fd, const void *key, void *v) { return -ENOENT; }
int kp_rules_scan(struct kp *kp) { return 0; }
int kp_attach_sync(struct kp *kp) { return 0; }
/* Those that have ended are listed until they are reaped. */
int kill(pid_t pid, int signal) { return 0; }

int
main(void)
{
	struct kp kp = { .filter_fd = 3 };
	int n = 0, bad;
	pid_t *list = NULL;

	bad = kp_filter_list(&kp, &list, &n) != 0 || n > MEMBERS;
	for (int i = 1; i < n; i++)
		if (list[i] == list[i - 1]) {
			printf("# process %d is listed twice\n", (int)list[i]);
			bad = 1;
			break;
		}
	if (n < MEMBERS / 2)
		bad = 1;
	printf("%s 1 - a set that shrinks: %d of %d\n1..1\n", bad ? "not ok" : "ok", n,
	    MEMBERS);
	free(list);
	return bad;
}
