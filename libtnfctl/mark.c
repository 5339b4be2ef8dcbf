/*
 * mark.c - a mark in the trace file of a process, or the reason why its recording ends.
 *
 * The target does not write it: it would have to run code for that wherever it stands
 * now, on a stack of which we do not know that it has room.  A trace file may have
 * writers of several processes, as the children of fork() are.  So a child of ours
 * joins the file by libtnfprobe, writes the mark as one event of its own and ends.
 *
 * The file may have been changed by the target in any way, and what is in it leads the
 * writer.  So the child closes all else that it has from us, and where we are root it
 * takes on the rights of the target before it looks at the file: whoever misleads it
 * gains nothing.  A file that is cut off during that work, or a child that does not come to an
 * end, costs the mark.
 */
#include <sys/mman.h>

#include <dlfcn.h>
#include <grp.h>

#include <tnf/runtime.h>
#include <tnf/writer.h>

#include "libtnfctl/control.h"

#define SECONDS	10	/* for the child */

struct mark {
	int	 fd;
	const char *file;
	uint64_t size;
	const char *text, *by;	/* by NULL: it is the reason of a freeze */
	const char *names;	/* with blanks between */
	const int64_t *values;
	pid_t	 target;	/* as it calls itself */
	bool	 drop;		/* we are root, and the target is not */
	uid_t	 uid;
	gid_t	 gid;
	struct tnf_process_control *control;
	__typeof__(tnf_probe_define) *define;
	__typeof__(tnf_probe_hit) *hit;
	__typeof__(tnf_process_freeze) *freeze;
	int	 error;		/* of the writer */
};

/* Functions of the child. */

static bool
library_open(struct mark *m)
{
	char path[PATH_MAX];
	void *lib = NULL;

	/* These variables would give the library a file at once. */
	unsetenv("TNF_ENABLE");
	unsetenv("TNF_FILE");
	setenv("TNF_WATCH", "", 1);
	if (tnfctl_library_path(NULL, path, sizeof(path)))
		lib = dlopen(path, RTLD_NOW);
	if (lib == NULL)
		lib = dlopen(TNFCTL_LIBTNFPROBE, RTLD_NOW);
	if (lib == NULL)
		return false;
	m->control = dlsym(lib, TNF_PROCESS_SYMBOL);
	*(void **)&m->define = dlsym(lib, "tnf_probe_define");
	*(void **)&m->hit = dlsym(lib, "tnf_probe_hit");
	*(void **)&m->freeze = dlsym(lib, "tnf_process_freeze");
	return m->control != NULL && m->define != NULL && m->hit != NULL &&
	    (m->by != NULL || m->freeze != NULL);
}

static void
switch_on(const struct mark *m, struct tnf_probe_control *probe)
{
	probe->ops = m->control->ops;
	probe->traced = 1;
	probe->controlled = 1;
	probe->test = 1;
}

static uint64_t
lost_in(const struct tnf_ext *x)
{
	uint64_t sum = 0;

	for (int i = 0; i < TNF_LOST_REASONS; i++)
		sum += __atomic_load_n(&x->lost[i], __ATOMIC_RELAXED);
	return sum;
}

/* Writes the mark in a thread of its own: a thread gives back its blocks of the file when it
   ends. */
static void *
write_mark(void *arg)
{
	struct tnf_probe_argument_type args[2 + TNFCTL_MARK_VALUES] = {
		{ TNF_N_MARK_TEXT, TNF_ARG_STRING }, { TNF_N_MARK_BY, TNF_ARG_STRING },
	};
	struct mark *m = arg;
	struct tnf_probe_value values[2 + TNFCTL_MARK_VALUES] = {
		{ .u.text = m->text, .size = TNF_SIZE_NUL },
		{ .u.text = m->by, .size = TNF_SIZE_NUL },
	};
	struct tnf_probe_control *probe;
	char *names = strdup(m->names), *rest = names, *name;
	unsigned n = 2;

	while (names != NULL && (name = strtok_r(rest, " ", &rest)) != NULL) {
		values[n].u.i = m->values[n - 2];
		args[n++] = (struct tnf_probe_argument_type){ name, TNF_ARG_INT64 };
	}
	probe = names != NULL ? m->define(TNF_N_MARK, TNF_N_MARK, "", n, args) : NULL;
	free(names);
	if (probe == NULL) {
		m->error = errno;
		return NULL;
	}
	m->control->open_result = -1;
	m->control->open(m->file, m->size, m->fd);
	m->error = m->control->open_result;
	if (m->error != 0)
		return NULL;
	switch_on(m, probe);
	if (m->by != NULL)
		m->hit(probe, values);
	else
		m->freeze(m->text);
	return NULL;
}

/* Joins the file, writes the mark, and leaves the file in order. */
static int
join_and_write(struct mark *m)
{
	char *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	struct tnf_ext *x;
	uint64_t before;
	pthread_t thread;
	int error;

	if (start == MAP_FAILED)
		return errno;
	x = (struct tnf_ext *)(void *)(start + TNF_EXT_OFFSET);
	before = lost_in(x);
	if ((error = pthread_create(&thread, NULL, write_mark, m)) != 0)
		return error;
	pthread_join(thread, NULL);
	if (m->error != 0)
		return m->error;
	/* If nobody had written yet, we have set the file up, but it is the target's. */
	if (x->pid == getpid())
		x->pid = m->target;
	__atomic_fetch_add(&x->ended, 1, __ATOMIC_RELAXED);
	/* The target stands still, or may lose one of its own meanwhile: then we say too
	   much. */
	return lost_in(x) != before ? ENOSPC : 0;
}

static void
keep_only(int fd)
{
	/* Without this call (Linux before 5.9) they stay open. */
	if (fd > 3)
		syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0u);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u);
}

static int
mark_become(const struct mark *m)
{
	if (!m->drop)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(m->gid, m->gid, m->gid) < 0 ||
	    setresuid(m->uid, m->uid, m->uid) < 0)
		return errno;
	return 0;
}

static _Noreturn void
mark_child(struct mark *m)
{
	sigset_t none;
	int error;

	/* The program's signal handlers are not for us. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(SECONDS);
	if (!library_open(m))
		_exit(ELIBACC);
	keep_only(m->fd);
	if ((error = mark_become(m)) == 0)
		error = join_and_write(m);
	_exit(error > 0 && error < 256 ? error : error != 0 ? EIO : 0);
}

/* Functions of the parent. */

/* Opens the trace file that the target has named. */
static tnfctl_errcode_t
open_file(tnfctl_handle_t *h, struct mark *m)
{
	struct stat st;

	m->fd = tnf_its_file_open(h->pid, h->trace_file, O_RDWR, &st);
	if (m->fd >= 0)
		return TNFCTL_ERR_NONE;
	if (errno != EPERM && errno != EACCES && errno != EINVAL)
		return tnfctl_error_set_errno(errno, "%s", h->trace_file);
	return tnfctl_error_set(TNFCTL_ERR_ACCES,
	    "%s: it is not the file of process %d: give that another "
	    "one (-o)", h->trace_file, (int)h->pid);
}

static tnfctl_errcode_t
not_written(const struct mark *m, int status)
{
	int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	if (WIFSIGNALED(status))
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL,
		    "%s: the mark was not written: its writer "
		    "ended by signal %d", m->file, WTERMSIG(status));
	if (error == ELIBACC)
		return tnfctl_error_set(TNFCTL_ERR_NOLIBTNFPROBE, "%s: the mark was not written: "
		    TNFCTL_LIBTNFPROBE " is not there to be loaded: set LD_LIBRARY_PATH",
		    m->file);
	if (error == ENOSPC)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL,
		    "%s: the mark was not written: the file is "
		    "full, or all of it is held: give the process another one (-o)", m->file);
	return tnfctl_error_set_errno(error, "%s: the mark was not written", m->file);
}

static tnfctl_errcode_t
run_writer(struct mark *m)
{
	pid_t child = fork(), r;
	int status, left;

	if (child < 0)
		return tnfctl_error_set_errno(errno, "fork");
	if (child == 0)
		mark_child(m);
	/* The target's user can stop the child, which then does not see its own alarm. */
	for (left = (SECONDS + 1) * 200; (r = waitpid(child, &status, WNOHANG)) == 0 && left > 0; left--)
		usleep(5000);
	if (r == 0) {
		kill(child, SIGKILL);
		while ((r = waitpid(child, &status, 0)) < 0 && errno == EINTR)
			;
	}
	if (r < 0)
		return tnfctl_error_set_errno(errno, "waitpid");
	return status == 0 ? TNFCTL_ERR_NONE : not_written(m, status);
}

tnfctl_errcode_t
tnfctl_mark_file(tnfctl_handle_t *h, const char *text, const char *by,
    const char *names, const int64_t *values)
{
	struct mark m = { .text = text, .by = by, .names = names, .values = values };
	tnfctl_errcode_t err;

	if (h->gone)
		return tnfctl_error_ended(h);
	if (h->proc_state == TNF_PROC_NO_BUFFER || h->trace_file == NULL)
		return tnfctl_error_set(TNFCTL_ERR_NOBUF, "process %d: no trace file yet: "
		    "tnfctl_buffer_alloc() makes one", (int)h->pid);
	if (h->proc_state != TNF_PROC_RUNNING && h->proc_state != TNF_PROC_READY)
		return tnfctl_error_broken(h);
	if (!tnfctl_owner_of(h->pid, &m.uid, &m.gid))
		return tnfctl_error_ended(h);
	m.drop = geteuid() == 0 && m.uid != 0;
	m.target = (pid_t)tnf_thread_status_last(h->pid, h->pid, "NStgid");
	m.file = h->trace_file;
	m.size = h->trace_size;
	if ((err = open_file(h, &m)) != TNFCTL_ERR_NONE)
		return err;
	err = run_writer(&m);
	close(m.fd);
	return err;
}

static tnfctl_errcode_t
switch_off(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	return tnfctl_probe_disable(h, p, NULL);
}

tnfctl_errcode_t
tnfctl_freeze_file(tnfctl_handle_t *h, const char *why)
{
	tnfctl_errcode_t err = tnfctl_probe_apply(h, switch_off, NULL);

	return err != TNFCTL_ERR_NONE ? err : tnfctl_mark_file(h, why, NULL, "", NULL);
}
