/*
 * ended.c - who the threads were that have ended, or have another name now.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kernel-probes/handle.h"

#define AT_ONCE		4096u	/* a bucket must fit */
#define CALLS_MAX	64u	/* the map changes under the walk */

typedef void each_f(const void *key, void *value, void *arg);

static void
map_walk(const char *pin, size_t key_size, size_t value_size, each_f *fn, void *arg)
{
	char *keys = malloc(AT_ONCE * key_size), *values = malloc(AT_ONCE * value_size);
	uint32_t in, out, n, calls;
	int fd = bpf_obj_get(pin), r = fd < 0 || keys == NULL || values == NULL ? -1 : 0;

	for (calls = 0; r == 0 && calls < CALLS_MAX; calls++) {
		n = AT_ONCE;
		r = bpf_map_lookup_batch(fd, calls == 0 ? NULL : &in, &out, keys,
		    values, &n, NULL);
		if (r != 0 && r != -ENOENT)
			break;
		for (uint32_t i = 0; i < n && i < AT_ONCE; i++)
			fn(keys + i * key_size, values + i * value_size, arg);
		in = out;
	}
	free(keys);
	free(values);
	if (fd >= 0)
		close(fd);
}

/* It lived when tracing ended, and still does: /proc tells. */
static bool
lives(pid_t tid, pid_t pid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

struct ended_call {
	void	(*fn)(void *arg, pid_t tid, pid_t pid, pid_t ppid, const char *comm);
	void	*arg;
};

static void
ended_each(const void *key, void *value, void *arg)
{
	const struct ended_call *c = arg;
	const pid_t *tid = key;
	struct kp_ended *e = value;

	e->comm[sizeof e->comm - 1] = '\0';
	if (!lives(*tid, (pid_t)e->pid))
		c->fn(c->arg, *tid, (pid_t)e->pid, (pid_t)e->ppid, e->comm);
}

KP_EXPORT void
kp_ended(struct kp *kp, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
	struct ended_call c = { fn, arg };

	map_walk(KP_PIN_ENDED, sizeof(uint32_t), sizeof(struct kp_ended), ended_each, &c);
}

struct renamed_call {
	void	(*fn)(void *arg, pid_t tid, int64_t time, const char *comm);
	void	*arg;
};

static void
renamed_each(const void *key, void *value, void *arg)
{
	const struct renamed_call *c = arg;
	const struct kp_renamed *r = key;
	struct kp_former *f = value;

	f->comm[sizeof f->comm - 1] = '\0';
	c->fn(c->arg, (pid_t)r->tid, (int64_t)r->time, f->comm);
}

KP_EXPORT void
kp_renamed(struct kp *kp, void (*fn)(void *arg, pid_t tid, int64_t time,
    const char *comm), void *arg)
{
	struct renamed_call c = { fn, arg };

	map_walk(KP_PIN_RENAMED, sizeof(struct kp_renamed), sizeof(struct kp_former),
	    renamed_each, &c);
}
