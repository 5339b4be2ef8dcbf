/*
 * look.c - a process that is only looked at: its probes are listed without stopping it, loading
 * anything into it, or changing anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libtnfctl/control.h"
#include "libtnfctl/imports.h"
#include "libtnfctl/proc.h"

/* A descriptor of its memory is all that the handle has of its own. */
static int
look_fd(const tnfctl_handle_t *h)
{
	return (int)(intptr_t)h->priv;
}

static tnfctl_errcode_t
look_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	close(look_fd(h));
	return TNFCTL_ERR_NONE;
}

static bool
look_read(tnfctl_handle_t *h, uintptr_t at, void *buf, size_t n)
{
	return pread(look_fd(h), buf, n, (off_t)at) == (ssize_t)n;
}

static bool
look_write(tnfctl_handle_t *h, uintptr_t at, const void *buf, size_t n)
{
	return false;
}

static tnfctl_errcode_t
look_object(tnfctl_handle_t *h, const struct mapping *m, bool first)
{
	struct object_info info = { .name = m->path, .file = m->path, .bias = NO_BIAS,
	    .base = m->start, .key = { m->start, m->inode }, .main = first };
	tnfctl_errcode_t err;
	char path[4096];

	if (tnfctl_object_known(h, info.key) ||
	    (info.fd = tnfctl_proc_open_mapped(h->pid, m, path, sizeof path)) < 0)
		return TNFCTL_ERR_NONE;
	err = tnfctl_object_seen(h, &info);
	close(info.fd);
	return err;
}

/* The files whose beginnings are mapped; the program comes first. */
static tnfctl_errcode_t
look_objects(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct maps maps;
	bool first = true;
	int e = tnf_maps_read(h->pid, &maps);

	if (e != 0)
		return tnfctl_error_set_errno(e, "process %d: its mappings", (int)h->pid);
	for (size_t i = 0; i < maps.n && err == TNFCTL_ERR_NONE; i++) {
		const struct mapping *m = &maps.m[i];

		if (m->inode == 0 || m->offset != 0 || m->write)
			continue;
		err = look_object(h, m, first);
		first = false;
	}
	tnf_maps_free(&maps);
	return err;
}

static tnfctl_errcode_t
look_no_change(tnfctl_handle_t *h)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it is only looked at", (int)h->pid);
}

static tnfctl_errcode_t
look_no_file(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	return look_no_change(h);
}

static tnfctl_errcode_t
look_no_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	return look_no_change(h);
}

static const struct target_ops look_ops = {
	.close = look_close,
	.import_add = tnfctl_imports_add,
	.refresh = tnfctl_control_refresh,
	.attrs = tnfctl_control_attrs,
	.buffer_alloc = look_no_file,
	.probe_state = tnfctl_control_probe_state,
	.probe_set = look_no_set,
	.read = look_read,
	.write = look_write,
	.objects = look_objects,
};

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_look(pid_t pid, tnfctl_handle_t **ret)
{
	tnfctl_handle_t *h = tnfctl_handle_new(&look_ops, pid);
	tnfctl_errcode_t err;
	char name[64];
	int fd;

	if (h == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	h->priv = (void *)(intptr_t)fd;
	if (fd < 0)
		err = errno == ENOENT ?
		    tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: there is none", (int)pid) :
		    tnfctl_error_set_errno(errno, "process %d", (int)pid);
	else if ((err = tnfctl_control_refresh(h)) != TNFCTL_ERR_NONE)
		close(fd);
	if (err != TNFCTL_ERR_NONE) {
		tnfctl_handle_free(h);
		return err;
	}
	*ret = h;
	return tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
}
