/*
 * unheld.c - processes that are controlled, watched, or looked at, without ptrace: the calling one,
 * one that the client reaches by functions of its own, one that is left alone, and one that is only
 * looked at.
 */
#include <sys/uio.h>

#include <dlfcn.h>
#include <link.h>
#include <poll.h>

#include "libtnfctl/control.h"
#include "libtnfctl/imports.h"

/* A walk through the objects of a process; the program comes first. */
struct listing {
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;
	bool	 first;
};

/*
 * A process that controls its own probes.
 *
 * Objects that come and go are noticed at the next call that goes through the
 * probes: the dynamic linker counts them.
 */

/* Controllers from outside read both, and set the second one. */
TNFCTL_API extern volatile int _tnfctl_internal_tracing_flag;
TNFCTL_API extern volatile pid_t _tnfctl_externally_traced_pid;
volatile int _tnfctl_internal_tracing_flag;
volatile pid_t _tnfctl_externally_traced_pid;

struct internal {
	unsigned long long adds, subs;	/* as of the latest look */
};

static bool
int_read(tnfctl_handle_t *h, uintptr_t address, void *buf, size_t n)
{
	const struct iovec to = { buf, n }, from = { (void *)address, n };

	/* Not memcpy(): tnfctl_text_read() reads as far as there is memory. */
	return process_vm_readv(h->pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

/* Writes the words in order, each in one piece, because our other threads run while we write. */
static bool
int_write(tnfctl_handle_t *h, uintptr_t address, const void *buf, size_t n)
{
	uint32_t word;

	if (n == sizeof(word) && address % sizeof(word) == 0) {
		memcpy(&word, buf, sizeof(word));
		__atomic_store_n((uint32_t *)address, word, __ATOMIC_SEQ_CST);
		return true;
	}
	if (n == sizeof(uint64_t) && address % sizeof(uint64_t) == 0) {
		__atomic_store_n((uint64_t *)address,
		    *(const uint64_t *)buf, __ATOMIC_SEQ_CST);
		return true;
	}
	memcpy((void *)address, buf, n);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return true;
}

static int
internal_list_one(struct dl_phdr_info *i, size_t size, void *arg)
{
	struct listing *l = arg;
	struct internal *self = l->h->priv;
	struct object_info info = {
		.name = i->dlpi_name, .file = i->dlpi_name, .fd = -1,
		.bias = i->dlpi_addr,
		.key = { i->dlpi_addr, (uintptr_t)i->dlpi_phdr },
		.main = l->first,
	};
	char exe[PATH_MAX];
	ssize_t n;

	if (l->first) {
		n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		exe[n > 0 ? n : 0] = '\0';
		info.name = exe;
		info.file = "/proc/self/exe";
	}
	l->first = false;
	self->adds = i->dlpi_adds;
	self->subs = i->dlpi_subs;
	if (*info.name != '/')
		return 0;		/* the vDSO */
	l->err = tnfctl_object_seen(l->h, &info);
	return l->err != TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
int_objects(tnfctl_handle_t *h)
{
	struct listing l = { .h = h, .first = true };

	dl_iterate_phdr(internal_list_one, &l);
	return l.err;
}

static int
internal_counters(struct dl_phdr_info *i, size_t size, void *arg)
{
	struct internal *now = arg;

	now->adds = i->dlpi_adds;
	now->subs = i->dlpi_subs;
	return 1;
}

static tnfctl_errcode_t
int_look(tnfctl_handle_t *h)
{
	struct internal *seen = h->priv, now;

	dl_iterate_phdr(internal_counters, &now);
	if (now.adds == seen->adds && now.subs == seen->subs &&
	    !tnfctl_pools_grown(h))
		return TNFCTL_ERR_NONE;
	return tnfctl_control_refresh(h);
}

static tnfctl_errcode_t
int_probe_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	tnfctl_errcode_t err = int_look(h);

	return err ? err : tnfctl_control_probe_set(h, p, enabling, on);
}

static tnfctl_errcode_t
int_attrs(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	tnfctl_errcode_t err = tnfctl_control_refresh(h);

	return err ? err : tnfctl_control_attrs(h, ret);
}

static tnfctl_errcode_t
int_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	_tnfctl_internal_tracing_flag = 0;
	free(h->priv);
	return TNFCTL_ERR_NONE;
}

static const struct target_ops internal_ops = {
	.close = int_close,
	.refresh = tnfctl_control_refresh,
	.look = int_look,
	.attrs = int_attrs,
	.buffer_alloc = tnfctl_buffer_create,
	.probe_state = tnfctl_control_probe_state,
	.probe_set = int_probe_set,
	.probe_connect = tnfctl_control_connect,
	.probe_disconnect = tnfctl_control_disconnect,
	.read = int_read,
	.write = int_write,
	.objects = int_objects,
};

static tnfctl_errcode_t
internal_claim(void)
{
	if (_tnfctl_externally_traced_pid == getpid())
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "process %d: another process "
		    "controls its probes", (int)getpid());
	if (__atomic_exchange_n(&_tnfctl_internal_tracing_flag, 1,
	    __ATOMIC_SEQ_CST) != 0)
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "process %d: it controls its own "
		    "probes already", (int)getpid());
	return TNFCTL_ERR_NONE;
}

/* Loads libtnfprobe into programs that were not linked with it. */
static void
load_library(void)
{
	char path[PATH_MAX];

	if (dlsym(RTLD_DEFAULT, TNF_PROCESS_SYMBOL) != NULL)
		return;
	if (dlopen(TNFCTL_LIBTNFPROBE, RTLD_NOW | RTLD_GLOBAL) == NULL &&
	    tnfctl_library_path(NULL, path, sizeof(path)))
		dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_internal_open(tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err = internal_claim();
	tnfctl_handle_t *h;

	if (err != TNFCTL_ERR_NONE)
		return err;
	load_library();
	h = tnfctl_handle_new(&internal_ops, getpid());
	if (h != NULL)
		h->priv = calloc(1, sizeof(struct internal));
	if (h == NULL || h->priv == NULL)
		err = tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	else if ((err = tnfctl_control_refresh(h)) == TNFCTL_ERR_NONE &&
	    h->control == 0)
		err = tnfctl_error_set(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: "
		    TNFCTL_LIBTNFPROBE " is not there to be loaded: %s",
		    (int)getpid(), "set LD_LIBRARY_PATH");
	if (err == TNFCTL_ERR_NONE) {
		*ret = h;
		return err;
	}
	_tnfctl_internal_tracing_flag = 0;
	if (h != NULL)
		free(h->priv);
	tnfctl_handle_free(h);
	return err;
}

/* Another process, reached through functions of the client's. */

struct indirect {
	void	*client;
	tnfctl_ind_config_t config;
};

static bool
ind_read(tnfctl_handle_t *h, uintptr_t address, void *buf, size_t n)
{
	struct indirect *i = h->priv;

	return i->config.p_read(i->client, address, buf, n) == 0;
}

static bool
ind_write(tnfctl_handle_t *h, uintptr_t address, const void *buf, size_t n)
{
	struct indirect *i = h->priv;

	return i->config.p_write(i->client, address, (void *)(uintptr_t)buf,
	    n) == 0;
}

static int
indirect_list_one(void *client, const struct tnfctl_ind_obj_info *i, void *arg)
{
	struct listing *l = arg;
	struct object_info info = {
		.name = i->objname ? i->objname : "",
		.file = i->objname ? i->objname : "",
		.fd = i->objfd,
		.bias = NO_BIAS,
		.base = i->text_base,
		.key = { i->text_base, i->data_base },
		.main = l->first,
	};

	l->first = false;
	l->err = tnfctl_object_seen(l->h, &info);
	return l->err != TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
ind_objects(tnfctl_handle_t *h)
{
	struct listing l = { .h = h, .first = true };
	struct indirect *i = h->priv;

	if (i->config.p_obj_iter(i->client, indirect_list_one, &l) != 0 &&
	    l.err == TNFCTL_ERR_NONE)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: the client's "
		    "function cannot list its objects", (int)h->pid);
	return l.err;
}

static tnfctl_errcode_t
ind_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	tnfctl_control_claim(h, 0);
	free(h->priv);
	return TNFCTL_ERR_NONE;
}

static const struct target_ops indirect_ops = {
	.close = ind_close,
	.refresh = tnfctl_control_refresh,
	.attrs = tnfctl_control_attrs,
	.buffer_alloc = tnfctl_buffer_create,
	.mark = tnfctl_mark_file,
	.freeze = tnfctl_freeze_file,
	.probe_state = tnfctl_control_probe_state,
	.probe_set = tnfctl_control_probe_set,
	.probe_connect = tnfctl_control_connect,
	.probe_disconnect = tnfctl_control_disconnect,
	.read = ind_read,
	.write = ind_write,
	.objects = ind_objects,
};

TNFCTL_API tnfctl_errcode_t
tnfctl_indirect_open(void *client, tnfctl_ind_config_t *config,
    tnfctl_handle_t **ret)
{
	tnfctl_handle_t *h = tnfctl_handle_new(&indirect_ops,
	    config->p_getpid(client));
	struct indirect *i = malloc(sizeof(*i));
	tnfctl_errcode_t err = tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);

	if (h != NULL && i != NULL) {
		*i = (struct indirect){ .client = client, .config = *config };
		h->priv = i;
		if ((err = tnfctl_control_refresh(h)) == TNFCTL_ERR_NONE)
			err = tnfctl_control_check(h);
	}
	if (err == TNFCTL_ERR_NONE) {
		tnfctl_control_claim(h, getpid());
		*ret = h;
		return err;
	}
	free(i);
	tnfctl_handle_free(h);
	return err;
}

/*
 * A process that is only looked at: its probes are listed without stopping it, loading
 * anything into it, or changing anything.
 */

/* Such a handle, and one on a process that is left alone, has nothing of its own but a descriptor:
   of the memory, or a pidfd. */
static int
handle_fd(const tnfctl_handle_t *h)
{
	return (int)(intptr_t)h->priv;
}

/* Opens such a handle; fd: -1, with errno, if the descriptor could not be opened. */
static tnfctl_errcode_t
open_by_fd(const struct target_ops *ops, pid_t pid, int fd,
    tnfctl_errcode_t (*begin)(tnfctl_handle_t *), tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ?
		    tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: there is none", (int)pid) :
		    tnfctl_error_set_errno(errno, "process %d", (int)pid);
	if ((h = tnfctl_handle_new(ops, pid)) == NULL) {
		close(fd);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	h->priv = (void *)(intptr_t)fd;
	if ((err = begin(h)) != TNFCTL_ERR_NONE) {
		close(fd);
		tnfctl_handle_free(h);
		return err;
	}
	*ret = h;
	return tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
}

static tnfctl_errcode_t
look_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	close(handle_fd(h));
	return TNFCTL_ERR_NONE;
}

static bool
look_read(tnfctl_handle_t *h, uintptr_t at, void *buf, size_t n)
{
	return pread(handle_fd(h), buf, n, (off_t)at) == (ssize_t)n;
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
	autoclose int fd = -1;
	char path[4096];

	if (tnfctl_object_known(h, info.key) ||
	    (fd = tnfctl_proc_open_mapped(h->pid, m, path, sizeof path)) < 0)
		return TNFCTL_ERR_NONE;
	info.fd = fd;
	return tnfctl_object_seen(h, &info);
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
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
	return open_by_fd(&look_ops, pid, open(name, O_RDONLY | O_CLOEXEC), tnfctl_control_refresh, ret);
}

/*
 * A process that is left alone: nothing is loaded into it, and it is never stopped.  It has the
 * probes that the kernel hits (imports.h) and no others.
 */
#define LOOK_MS		1000	/* between two looks at what it has loaded */

static tnfctl_errcode_t
watched_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	if (op == TNFCTL_TARG_KILL)
		syscall(SYS_pidfd_send_signal, handle_fd(h), SIGKILL, NULL, 0);
	close(handle_fd(h));
	return TNFCTL_ERR_NONE;
}

static bool
has_ended(const tnfctl_handle_t *h)
{
	struct pollfd p = { handle_fd(h), POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static tnfctl_errcode_t
watched_attrs(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	*ret = (tnfctl_trace_attrs_t){ .targ_pid = h->pid,
	    .trace_buf_state = TNFCTL_BUF_NONE, .trace_state = B_TRUE };
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
watched_no_file(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG,
	    "process %d: it has no probes of TNF, and needs "
	    "no trace file: events go to the kernel's buffer", (int)h->pid);
}

/* Waits: the process runs anyway.  Returns when it has ended, has loaded an object, or a signal
   came. */
static tnfctl_errcode_t
watched_continue(tnfctl_handle_t *const *v, size_t n, size_t *which,
    tnfctl_event_t *ret, tnfctl_handle_t **child)
{
	tnfctl_handle_t *h = v[0];
	struct pollfd p = { handle_fd(h), POLLIN, 0 };
	size_t before = h->nprobes;
	tnfctl_errcode_t err;
	int r;

	if (n != 1)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "a process that is not held cannot be "
		    "continued with others");
	tnfctl_imports_release(h);
	tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
	for (;;) {
		tnfctl_proc_leave_again();
		r = poll(&p, 1, LOOK_MS);
		if (r < 0 && errno == EINTR) {
			*ret = TNFCTL_EVENT_EINTR;
			return TNFCTL_ERR_NONE;
		}
		if (r != 0 || has_ended(h)) {
			h->gone = true;
			*ret = TNFCTL_EVENT_EXIT;
			return TNFCTL_ERR_NONE;
		}
		err = tnfctl_imports_refresh(h);
		if (err != TNFCTL_ERR_NONE && !has_ended(h))
			return err;
		if (h->nprobes > before) {
			*ret = TNFCTL_EVENT_DLOPEN;
			return TNFCTL_ERR_NONE;
		}
	}
}

static const struct target_ops watched_ops = {
	.close = watched_close,
	.import_add = tnfctl_imports_add,
	.refresh = tnfctl_imports_refresh,
	.attrs = watched_attrs,
	.buffer_alloc = watched_no_file,
	.cont = watched_continue,
	.mark = tnfctl_import_mark,
};

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_watch(pid_t pid, tnfctl_handle_t **ret)
{
	return open_by_fd(&watched_ops, pid, (int)syscall(SYS_pidfd_open, pid, 0), tnfctl_imports_begin,
	    ret);
}
