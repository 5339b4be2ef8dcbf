/*
 * tasks.c - who lives, told by a program in place of /proc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "kernel-probes/handle.h"

/* The program numbers tasks as the first pid name space does.  One that sees itself, by
   the numbers that it has itself, is in that one, as nearly all are. */
static bool
told_has_me(const struct kp_task *t, size_t n)
{
	pid_t pid = getpid(), ppid = getppid();

	for (size_t i = 0; i < n; i++)
		if (t[i].tid == pid)
			return t[i].pid == pid && t[i].ppid == ppid;
	return false;
}

static int
tasks_take(const char *text, size_t size, struct kp_task **ret, size_t *ret_n)
{
	size_t n = size / sizeof(struct kp_told);
	struct kp_task *tasks = calloc(n + 1, sizeof *tasks);
	struct kp_told told;

	if (tasks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		memcpy(&told, text + i * sizeof told, sizeof told);
		if (told.size != sizeof told || (i > 0 && (pid_t)told.tid <= tasks[i - 1].tid)) {
			free(tasks);
			return -EPROTO;
		}
		tasks[i] = (struct kp_task){ .tid = (pid_t)told.tid, .pid = (pid_t)told.pid,
		    .ppid = (pid_t)told.ppid, .flags = told.flags, .groups = told.groups };
		memcpy(tasks[i].comm, told.comm, sizeof told.comm - 1);
	}
	if (!told_has_me(tasks, n)) {
		free(tasks);
		return -ENOTSUP;
	}
	*ret = tasks;
	*ret_n = n;
	return 0;
}

KP_EXPORT int
kp_tasks(struct kp *kp, struct kp_task **ret, size_t *ret_n)
{
	int fd = kp_iterator(KP_PROGRAM_tell_tasks), r;
	char *text = NULL;
	size_t size = 0;

	if (fd < 0)
		return fd;
	r = -tnf_read_all(fd, &text, &size);
	close(fd);
	if (r < 0)
		return r;
	r = tasks_take(text, size, ret, ret_n);
	free(text);
	return r;
}
