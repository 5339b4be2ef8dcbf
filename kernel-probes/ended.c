/*
 * ended.c - who the threads were that have ended.
 */
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "handle.h"

#define STEPS_MAX	(1u << 20)	/* the map changes under the walk */

KP_EXPORT void
kp_ended(struct kp *kp, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
	struct kp_ended e;
	uint32_t key, *last = NULL, steps;
	int fd;

	fd = bpf_obj_get(KP_PIN_ENDED);
	if (fd < 0)
		return;
	for (steps = 0; steps < STEPS_MAX &&
	    bpf_map_get_next_key(fd, last, &key) == 0; steps++) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &e) != 0)
			continue;
		e.comm[sizeof e.comm - 1] = '\0';
		fn(arg, (pid_t)key, (pid_t)e.pid, (pid_t)e.ppid, e.comm);
	}
	close(fd);
}
