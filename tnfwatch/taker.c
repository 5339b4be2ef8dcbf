/*
 * taker.c - the part of tnfwatch that attaches to processes.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <fnmatch.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>

#include "common/proc.h"
#include "tnfwatch/daemon.h"

#define CHILDREN_MAX	4	/* that attach at the same time */
#define SCAN_MS		1000	/* without the connector */
#define CLOSE_MS	20
#define CLOSE_NS	(10 * SECOND)
#define BUSY_TRIES	20
#define BUSY_MS		250
#define LIBRARIES_TRIES	4	/* while words of 'enable' mean no probe: libraries may be mapped yet */
#define NAMES_MAX	1000	/* for trace files of one process number */
#define ROOM	(4 << 20)	/* of the socket: a build makes thousands a second */

/* Events of processes, as the kernel's connector tells them. */
enum connector_what {
	CONNECTOR_EXEC,		/* pid has become another program */
	CONNECTOR_EXIT,		/* its first thread has ended; status as of wait(2) */
	CONNECTOR_OVERFLOW	/* events were lost: look at all processes */
};

typedef void connector_fn(void *arg, enum connector_what, pid_t pid, int status);

static int
connector_listen(int fd)
{
	union {
		struct nlmsghdr h;
		char room[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(enum proc_cn_mcast_op))];
	} m = { .h = { .nlmsg_type = NLMSG_DONE, .nlmsg_len = NLMSG_LENGTH(
	    sizeof(struct cn_msg) + sizeof(enum proc_cn_mcast_op)) } };
	struct cn_msg *cn = NLMSG_DATA(&m.h);
	enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;

	cn->id.idx = CN_IDX_PROC;
	cn->id.val = CN_VAL_PROC;
	cn->len = sizeof op;
	memcpy(cn->data, &op, sizeof op);
	return send(fd, &m, m.h.nlmsg_len, 0) < 0 ? -1 : 0;
}

/* Opens the connector's socket, to be polled; -1: errno.  This needs CAP_NET_ADMIN, and the
   initial network and pid namespaces. */
static int
connector_open(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int room = ROOM, e;
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && connector_listen(fd) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static void
connector_tell(const struct proc_event *ev, connector_fn *fn, void *arg)
{
	if (ev->what == PROC_EVENT_EXEC)
		fn(arg, CONNECTOR_EXEC, ev->event_data.exec.process_tgid, 0);
	else if (ev->what == PROC_EVENT_EXIT &&
	    ev->event_data.exit.process_pid == ev->event_data.exit.process_tgid)
		fn(arg, CONNECTOR_EXIT, ev->event_data.exit.process_tgid,
		    (int)ev->event_data.exit.exit_code);
}

static void
connector_take(const char *buf, size_t size, connector_fn *fn, void *arg)
{
	struct proc_event ev;
	struct nlmsghdr h;
	struct cn_msg cn;

	if (size < NLMSG_HDRLEN + sizeof cn)
		return;
	memcpy(&h, buf, sizeof h);
	memcpy(&cn, buf + NLMSG_HDRLEN, sizeof cn);
	if (h.nlmsg_len > size || cn.id.idx != CN_IDX_PROC || cn.id.val != CN_VAL_PROC)
		return;
	/* Newer kernels have a longer struct, older ones a shorter one. */
	memset(&ev, 0, sizeof ev);
	size -= NLMSG_HDRLEN + sizeof cn;
	memcpy(&ev, buf + NLMSG_HDRLEN + sizeof cn, size < sizeof ev ? size : sizeof ev);
	connector_tell(&ev, fn, arg);
}

/* Takes all messages that are there, without waiting. */
static void
connector_read(int fd, connector_fn *fn, void *arg)
{
	struct sockaddr_nl from;
	char buf[1024];

	for (;;) {
		socklen_t len = sizeof from;
		ssize_t n = recvfrom(fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &len);
		if (n < 0 && errno == ENOBUFS) {
			fn(arg, CONNECTOR_OVERFLOW, 0, 0);
			continue;
		}
		if (n <= 0)
			return;
		/* Messages of other processes are passed over: only the kernel has port 0. */
		if (from.nl_pid == 0)
			connector_take(buf, (size_t)n, fn, arg);
	}
}

struct taking {
	const struct config *c;
	int	 fd;		/* to tnfwatch */
	int	 connector;	/* or -1 */
	struct map done;	/* struct taken by pid: these processes are not tried again */
	pid_t	*waiting;
	size_t	 n_waiting;
	unsigned children;
	bool	 ready;		/* the daemon has been told that we are ready */
};

static void
taker_tell(int fd, const struct taker_report *r)
{
	/* The daemon may be gone. */
	while (send(fd, r, sizeof *r, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Identifies a file by facts that need no answer of its file system's server, which perhaps never
   answers. */
struct file_id {
	uint32_t major, minor;
	uint64_t ino;
};

/* Facts that tell one use of a pid from the next, and a program from the one before it. */
struct taken {
	uint64_t started;
	struct file_id program;
};

static bool
file_id(const char *path, struct file_id *ret)
{
	struct statx st;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &st) != 0)
		return false;
	*ret = (struct file_id){ st.stx_dev_major, st.stx_dev_minor, st.stx_ino };
	return true;
}

static bool
program_id(pid_t pid, struct file_id *ret)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return file_id(path, ret);
}

static bool
same_program(pid_t pid, const char *program)
{
	struct file_id a, b;

	return program_id(pid, &a) && file_id(program, &b) && a.ino == b.ino &&
	    a.major == b.major && a.minor == b.minor;
}

/* True if a line such as "0::/system.slice/nginx.service" has 'unit' as a component. */
static bool
in_unit(const char *text, const char *unit)
{
	size_t n = strlen(unit);
	bool is = false;

	for (const char *p = text; !is && (p = strstr(p, unit)) != NULL; p++)
		is = p > text && p[-1] == '/' && strchr("/\n", p[n]) != NULL;
	return is;
}

/* True if a line has this path, or one below it. */
static bool
in_cgroup(const char *text, const char *path)
{
	size_t n = strlen(path);
	bool is = false;

	while (n > 0 && path[n - 1] == '/')
		n--;
	for (const char *p = text; !is && (p = strchr(p, ':')) != NULL; p++)
		is = p[1] == '/' && strncmp(p + 1, path, n) == 0 && strchr("/\n", p[1 + n]) != NULL;
	return is;
}

/* True if the process is in a container of the pod with this uid, or with a name of this pattern. */
static bool
in_pod(const char *text, const char *pod)
{
	struct container_names names;
	struct container c;

	return tnf_container_of(text, &c) && (strcmp(c.pod, pod) == 0 || (*c.id != '\0' &&
	    tnf_container_names(CONTAINER_LOGS, c.id, &names) && fnmatch(pod, names.pod, 0) == 0));
}

static bool
in_group(const struct config_process *p, pid_t pid)
{
	char text[16384];

	if (tnf_proc_file(text, sizeof text, "/proc/%d/cgroup", (int)pid) < 0)
		return false;
	return p->unit != NULL ? in_unit(text, p->unit) : p->cgroup != NULL ?
	    in_cgroup(text, p->cgroup) : in_pod(text, p->pod);
}

bool
taker_means(const struct config_process *p, pid_t pid)
{
	char comm[64];

	if (p->pid != 0)
		return p->pid == pid;
	if (p->program != NULL)
		return same_program(pid, p->program);
	if (p->comm == NULL)
		return in_group(p, pid);
	read_comm(pid, comm);
	return strcmp(comm, p->comm) == 0;
}

/* Returns the index of the section that means the process, or -1. */
static int
process_section_of(const struct config *c, pid_t pid)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (taker_means(&c->process[i], pid))
			return (int)i;
	return -1;
}

/* Finds a name for the ring that no file has yet: a ring of an earlier process with this number may
   still be read. */
static bool
ring_name(const struct config *c, const struct config_process *p, pid_t pid, char path[512])
{
	int n = snprintf(path, 512, "%s/%s-%d.tnf", c->rings, p->name, (int)pid);

	for (int i = 2; n < 512 && i < NAMES_MAX && access(path, F_OK) == 0; i++)
		n = snprintf(path, 512, "%s/%s-%d.%d.tnf", c->rings, p->name, (int)pid, i);
	return n < 512 && access(path, F_OK) != 0;
}

static tnfctl_errcode_t
take_file(tnfctl_handle_t *h, const struct config *c, const struct config_process *p,
    struct taker_report *r)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(h, &attrs);

	if (err != TNFCTL_ERR_NONE)
		return err;
	if (attrs.trace_buf_state == TNFCTL_BUF_BROKEN)
		return TNFCTL_ERR_BUFBROKEN;
	if (attrs.trace_buf_state == TNFCTL_BUF_OK) {
		r->told = true;
		snprintf(r->path, sizeof r->path, "%s", attrs.trace_file_name != NULL ?
		    attrs.trace_file_name : "");
		return TNFCTL_ERR_NONE;
	}
	/* Somebody may have removed the directory just now. */
	if (access(c->rings, F_OK) != 0)
		make_directory(c->rings);
	if (!ring_name(c, p, r->pid, r->path))
		return TNFCTL_ERR_FILENOTFOUND;
	return tnfctl_buffer_alloc(h, r->path, (unsigned int)p->size);
}

/* Lets go of the process, and tries so for CLOSE_NS at most, as other processes wait to be taken.  If a
   thread sleeps deep in the kernel for longer, the kernel lets it go when this child ends. */
static void
let_go(tnfctl_handle_t *h)
{
	int64_t until = now_mono() + CLOSE_NS;

	while (tnfctl_close(h, TNFCTL_TARG_DEFAULT) == TNFCTL_ERR_BUSY && now_mono() < until)
		poll(NULL, 0, CLOSE_MS);
}

static void
report_detail(struct taker_report *r, tnfctl_errcode_t err)
{
	const char *detail = tnfctl_error_detail();

	snprintf(r->detail, sizeof r->detail, "%s", detail != NULL && *detail != '\0' ? detail :
	    tnfctl_strerror(err));
}

/* True if the process has no libtnfprobe, and cannot be given it. */
static bool
is_without(tnfctl_errcode_t err)
{
	return err == TNFCTL_ERR_NOLIBTNFPROBE || err == TNFCTL_ERR_NOTLOADABLE ||
	    err == TNFCTL_ERR_NOTDYNAMIC;
}

/*
 * Attaches.  If the section says "fast", a process without libtnfprobe gets the library.  A process
 * that stays without it is not touched (*alone): the kernel records its events.  'r' tells why
 * the process did not get the library.
 */
static tnfctl_errcode_t
take_hold(const struct config_process *p, struct taker_report *r, tnfctl_handle_t **ret,
    bool *alone)
{
	tnfctl_errcode_t err = (p->fast ? tnfctl_pid_load : tnfctl_pid_open)(r->pid, ret);

	*alone = is_without(err);
	if (*alone) {
		report_detail(r, err);
		return tnfctl_pid_watch(r->pid, ret);
	}
	return err == TNFCTL_ERR_NONE && p->fast ? tnfctl_import_add(*ret, "fast", NULL) : err;
}

/* Waits as long as the program may be making its own ring (libtnfprobe/auto-watch.c).  A program of
   another user must not make one, so we do not wait for it; one with a seccomp filter does not make
   one, and gets its ring from us after the wait. */
static void
wait_for_start(const struct config *c, const struct config_process *p, pid_t pid)
{
	if (p->from_start && start_is_told(c) &&
	    tnf_proc_status_nth(pid, "Uid", PROC_ID_FS) == (long)geteuid())
		starting_wait(pid, c->rings);
}

/* True if the process has ended (even if nothing has waited for it) and left a ring, which the
   daemon will find. */
static bool
has_left_ring(const struct config *c, const struct config_process *p, pid_t pid)
{
	char path[512], exe[64], to[8];

	snprintf(exe, sizeof exe, "/proc/%d/exe", (int)pid);
	return p->from_start && readlink(exe, to, sizeof to) < 0 && snprintf(path, sizeof path, "%s/%s-%d.tnf",
	    c->rings, p->name, (int)pid) < (int)sizeof path && access(path, F_OK) == 0;
}

/* Gives the process what its section says, and lets it go. */
static tnfctl_errcode_t
take_all(const struct config *c, const struct config_process *p, tnfctl_handle_t *h, bool alone,
    struct taker_report *r)
{
	tnfctl_errcode_t err = alone ? TNFCTL_ERR_NONE : take_file(h, c, p, r);

	r->probes = (struct enabled){ .n = 0 };
	if (err == TNFCTL_ERR_NONE)
		err = enable_apply(p->enable, h, c->kernel_buffer, NULL, &r->probes);
	if (err != TNFCTL_ERR_NONE)
		report_detail(r, err);
	else if (*r->probes.refused != '\0')
		snprintf(r->detail, sizeof r->detail, "%s", r->probes.refused);
	else if (alone && (r->probes.n > 0 || p->enable == NULL))
		/* The reason why there is no library does not matter: the kernel records. */
		*r->detail = '\0';
	let_go(h);
	return err;
}

static tnfctl_errcode_t
take_once(const struct config *c, const struct config_process *p, struct taker_report *r,
    bool *alone)
{
	tnfctl_handle_t *h = NULL;
	tnfctl_errcode_t err = take_hold(p, r, &h, alone);

	if (err == TNFCTL_ERR_NONE)
		return take_all(c, p, h, *alone, r);
	report_detail(r, err);
	if (h != NULL)
		let_go(h);
	return err;
}

static void
taker_take(const struct taking *t, pid_t pid, unsigned section)
{
	const struct config_process *p = &t->c->process[section];
	struct taker_report r = { .what = TAKER_TAKEN, .pid = pid, .process = section };
	tnfctl_errcode_t err;
	bool alone;

	wait_for_start(t->c, p, pid);
	for (int i = 0;; i++) {
		err = take_once(t->c, p, &r, &alone);
		/* Another controller may have the process, or the kernel, for a moment.  A program
		   that we do not stop may map libraries after this look: while words of 'enable'
		   mean no probe, look again. */
		if (i == BUSY_TRIES || (err != TNFCTL_ERR_BUSY && (err != TNFCTL_ERR_NONE ||
		    !alone || r.probes.unused == 0 || i >= LIBRARIES_TRIES)))
			break;
		poll(NULL, 0, BUSY_MS);
	}
	if (err != TNFCTL_ERR_NONE && has_left_ring(t->c, p, pid))
		return;
	if (err != TNFCTL_ERR_NONE)
		r.what = TAKER_FAILED;
	read_comm(pid, r.comm);
	taker_tell(t->fd, &r);
}

/* True once for each program of each process. */
static bool
is_new(struct taking *t, pid_t pid)
{
	struct taken now = { .started = tnf_proc_started(pid) }, *known;
	bool fresh;

	program_id(pid, &now.program);
	known = tnf_xmap_put(&t->done, &pid, sizeof pid, &fresh);
	if (!fresh && memcmp(known, &now, sizeof now) == 0)
		return false;
	*known = now;
	return true;
}

static void
taker_wait(struct taking *t, pid_t pid)
{
	t->waiting = tnf_xreallocarray(t->waiting, t->n_waiting + 1, sizeof *t->waiting);
	t->waiting[t->n_waiting++] = pid;
}

static void
taker_fork(struct taking *t, pid_t pid, unsigned section)
{
	pid_t child = fork();

	if (child == 0) {
		if (t->connector >= 0)
			close(t->connector);
		taker_take(t, pid, section);
		_exit(0);
	}
	if (child > 0)
		t->children++;
	else
		taker_wait(t, pid);
}

static void
taker_try(struct taking *t, pid_t pid)
{
	int section;

	if (t->children >= CHILDREN_MAX) {
		taker_wait(t, pid);
		return;
	}
	if ((section = process_section_of(t->c, pid)) >= 0)
		taker_fork(t, pid, (unsigned)section);
}

static void
taker_scan(struct taking *t)
{
	autoclosedir DIR *dir = opendir("/proc");
	struct dirent *d;
	pid_t pid;

	while (dir != NULL && (d = readdir(dir)) != NULL)
		if ((pid = (pid_t)atoi(d->d_name)) > 0 && pid != getpid() && pid != getppid() &&
		    process_section_of(t->c, pid) >= 0 && is_new(t, pid))
			taker_try(t, pid);
}

static void
taker_event(void *arg, enum connector_what what, pid_t pid, int status)
{
	struct taker_report r = { .what = TAKER_ENDED, .pid = pid, .status = status };
	struct taking *t = arg;

	switch (what) {
	case CONNECTOR_EXEC:
		if (process_section_of(t->c, pid) >= 0) {
			is_new(t, pid);		/* notes it, so that no scan takes it again */
			taker_try(t, pid);
		}
		break;
	case CONNECTOR_EXIT:
		if (tnf_map_remove(&t->done, &pid, sizeof pid))
			taker_tell(t->fd, &r);
		break;
	case CONNECTOR_OVERFLOW:
		taker_scan(t);
		break;
	}
}

static void
taker_reap(struct taking *t)
{
	size_t before = t->n_waiting + 1;

	while (t->children > 0 && waitpid(-1, NULL, WNOHANG) > 0)
		t->children--;
	/* A process for which no child could be forked goes on waiting. */
	while (t->n_waiting > 0 && t->n_waiting < before && t->children < CHILDREN_MAX) {
		before = t->n_waiting;
		pid_t pid = t->waiting[0];
		memmove(t->waiting, t->waiting + 1, --t->n_waiting * sizeof *t->waiting);
		taker_try(t, pid);
	}
	if (!t->ready && t->children == 0 && t->n_waiting == 0) {
		t->ready = true;
		taker_tell(t->fd, &(struct taker_report){ .what = TAKER_READY });
	}
}

static void
taker_on_child(int sig)
{
}

static void
taker_begin(struct taking *t)
{
	struct taker_report r = { .what = TAKER_SCANS };

	/* The connector is opened before the scan, so that no process is missed between them. */
	if (t->c->n_processes > 0 && (t->connector = connector_open()) < 0) {
		snprintf(r.detail, sizeof r.detail, "new processes are found by looking once a "
		    "second, and how they end is not known: %s: CAP_NET_ADMIN is needed",
		    strerror(errno));
		taker_tell(t->fd, &r);
	}
	tnf_map_init(&t->done, sizeof(struct taken));
	/* The taker needs priority to stop a program before it gets to main(). */
	setpriority(PRIO_PROCESS, 0, -10);
	taker_scan(t);
}

static _Noreturn void
taker_main(const struct config *c, int fd)
{
	struct taking t = { .c = c, .fd = fd, .connector = -1 };
	struct sigaction sa = { .sa_handler = taker_on_child };
	struct pollfd p[2];
	sigset_t none, child;
	struct timespec tick = { .tv_sec = SCAN_MS / 1000, .tv_nsec = SCAN_MS % 1000 * MS };

	prctl(PR_SET_NAME, "tnfwatch-take");
	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&none);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	taker_begin(&t);
	for (;;) {
		taker_reap(&t);
		p[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = t.connector, .events = POLLIN };
		bool ticks = t.n_waiting > 0 || (t.connector < 0 && c->n_processes > 0);
		if (ppoll(p, 2, ticks ? &tick : NULL, &none) < 0)
			continue;
		/* tnfwatch has ended, or has closed our socket. */
		if (p[0].revents != 0)
			break;
		if (t.connector >= 0)
			connector_read(t.connector, taker_event, &t);
		else
			taker_scan(&t);
	}
	/* The children complete what they have begun. */
	_exit(0);
}

int
taker_start(struct taker *t, const struct config *c)
{
	int fd[2], e;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		return errno;
	fflush(NULL);
	if ((t->pid = fork()) == 0) {
		/* No lock, socket or file of tnfwatch stays open in the taker. */
		dup2(fd[1], 3);
		close_range(4, ~0u, 0);
		taker_main(c, 3);
	}
	e = errno;
	close(fd[1]);
	t->fd = fd[0];
	if (t->pid > 0)
		return 0;
	close(t->fd);
	t->fd = -1;
	return e;
}

void
taker_stop(struct taker *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
