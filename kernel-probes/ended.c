/*
 * ended.c - who the threads were that have ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "handle.h"

#define AT_ONCE		4096u	/* a bucket must fit */
#define CALLS_MAX	64u	/* the map changes under the walk */

struct part {
	uint32_t	tid[AT_ONCE];
	struct kp_ended	who[AT_ONCE];
};

/* It lived when tracing ended, and still does: /proc tells. */
static bool
lives(pid_t tid, pid_t pid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

static void
walk(int fd, struct part *part, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
	uint32_t in, out, n, calls;
	int r = 0;

	for (calls = 0; r == 0 && calls < CALLS_MAX; calls++) {
		n = AT_ONCE;
		r = bpf_map_lookup_batch(fd, calls == 0 ? NULL : &in, &out,
		    part->tid, part->who, &n, NULL);
		if (r != 0 && r != -ENOENT)
			return;
		for (uint32_t i = 0; i < n && i < AT_ONCE; i++) {
			struct kp_ended *e = &part->who[i];

			e->comm[sizeof e->comm - 1] = '\0';
			if (lives((pid_t)part->tid[i], (pid_t)e->pid))
				continue;
			fn(arg, (pid_t)part->tid[i], (pid_t)e->pid,
			    (pid_t)e->ppid, e->comm);
		}
		in = out;
	}
}

KP_EXPORT void
kp_ended(struct kp *kp, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
	struct part *part;
	int fd;

	fd = bpf_obj_get(KP_PIN_ENDED);
	if (fd < 0)
		return;
	part = malloc(sizeof *part);
	if (part != NULL)
		walk(fd, part, fn, arg);
	free(part);
	close(fd);
}
