/*
 * hand-over.c - the target gets libtnfprobe and its trace file from us while we hold it.
 *
 * libtnfprobe could open the file at the first hit, but by then the program may
 * have given up the right to open files, by setuid() or by a seccomp filter.
 *
 * The target receives the file as an open descriptor.  So the file needs no path
 * that means the same to both, the target's user needs no access to its
 * directory, and we remain the file's owner.  A thread of the target makes a pair
 * of sockets; we take one end (pidfd_getfd) and send the descriptor, and the
 * thread receives it from the other end.  If that fails, as before Linux 5.6, we
 * give the file to the target's user and the target opens it by its name.
 */
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include <dlfcn.h>

#include "libtnfctl/control.h"

#define TRIES		100	/* of a library that is busy */
#define TRY_US		1000
#define SETTLE_MS	2000	/* for the linker to finish its list */
#define PLACE_TRIES	200	/* enough: if we fail, the first hit opens the file */
#define EXCHANGE_TRIES	5000	/* many: no hit exchanges a file for another */

/*
 * While we give the target a descriptor, a parcel lies in the target's memory.  socketpair() and
 * recvmsg() themselves write the numbers of the new descriptors into the parcel.  So the next
 * controller finds the numbers there, even if we are killed right after the call.
 */
struct parcel {
	uint64_t magic;
	uint64_t socket[2];	/* their inodes; 0: not known yet */
	uint64_t file, device;	/* inode and device of the file that is given */
	int32_t	 pair[2];
	struct msghdr message;
	struct iovec part;
	char	 byte[8];
	union {
		struct cmsghdr header;
		char	 room[CMSG_SPACE(sizeof(int))];
	} ancillary;
};
#define PARCEL_MAGIC	0x6c65637261506e74u	/* no path begins so */

#define PATH_OFFSET	(CALL_DATA - TNF_PATH_SIZE)
_Static_assert(sizeof(struct parcel) <= PATH_OFFSET, "room for both");

/*
 * A controller that was killed may have left descriptors open.  A variable in the target
 * (control_calls) has the address of the memory that this controller used for its calls; the
 * parcel with the numbers of the descriptors is at the start of that memory.  By now the
 * numbers may mean other files, because the target has run since.  So a socket is closed only
 * if its inode is the one that was noted.  If no inodes were noted, the controller was killed
 * before it let the target close anything: both numbers must be sockets, with neighbouring
 * inodes, as socketpair() makes them.
 *
 * We do not trust the target, either: to close a file of a FUSE file system can take for
 * ever, and we would hang with the stopped target.  The kernel answers all questions that we
 * ask here without asking a file system.
 */

/* Facts about a descriptor, from /proc/PID/fdinfo. */
struct facts {
	unsigned long flags;	/* octal */
	unsigned long mount, inode;
};

/* The number that the target has received, or -1. */
static int
parcel_received(const struct parcel *p)
{
	int fd = -1;

	if (p->ancillary.header.cmsg_type == SCM_RIGHTS &&
	    p->ancillary.header.cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(&p->ancillary.header), sizeof(fd));
	return fd;
}

/* The inode of a socket of the target; false: the descriptor is no socket. */
static bool
socket_inode(pid_t pid, int fd, uint64_t *inode)
{
	char path[64], name[64] = "";
	unsigned long n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (readlink(path, name, sizeof(name) - 1) <= 0 ||
	    sscanf(name, "socket:[%lu]", &n) != 1)
		return false;
	*inode = n;
	return true;
}

static bool
left_facts(pid_t pid, int fd, struct facts *ret)
{
	char text[256];

	return fd >= 0 &&
	    tnf_proc_file(text, sizeof(text), "/proc/%d/fdinfo/%d", (int)pid, fd) > 0 &&
	    sscanf(text, "pos: %*s flags: %lo mnt_id: %lu ino: %lu", &ret->flags, &ret->mount,
	    &ret->inode) == 3;
}

/* True if our name space has a mount with this number, of that device, that is not a FUSE mount. */
static bool
is_served_here(unsigned long mount, dev_t device)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int id, major, minor;
	const char *type;
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (f != NULL && !found && getline(&line, &room, f) > 0)
		found = sscanf(line, "%u %*u %u:%u", &id, &major, &minor) == 3 &&
		    id == mount && makedev(major, minor) == device &&
		    (type = strstr(line, " - ")) != NULL &&
		    strncmp(type + 3, "fuse", 4) != 0;
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

static bool
is_left_file(const struct calls *c, const struct parcel *p, int fd)
{
	struct facts facts;

	return left_facts(c->h->pid, fd, &facts) && facts.inode == p->file &&
	    (facts.flags & O_CLOEXEC) != 0 && is_served_here(facts.mount, (dev_t)p->device);
}

static bool
is_left_socket(const struct calls *c, const struct parcel *p, int i)
{
	struct facts facts;
	uint64_t inode[2];

	if (!socket_inode(c->h->pid, p->pair[i], &inode[i]))
		return false;
	if (p->socket[i] != 0)
		return inode[i] == p->socket[i];
	return socket_inode(c->h->pid, p->pair[!i], &inode[!i]) &&
	    inode[1] == inode[0] + 1 &&
	    left_facts(c->h->pid, p->pair[i], &facts) && (facts.flags & O_CLOEXEC) != 0;
}

/* Closes the descriptors that were left, after it has looked at all three. */
static void
left_close(struct calls *c, const struct parcel *p)
{
	int fd[3] = { p->pair[0], p->pair[1], parcel_received(p) }, i;
	bool left[3] = { is_left_socket(c, p, 0), is_left_socket(c, p, 1),
	    is_left_file(c, p, fd[2]) };

	for (i = 0; i < 3; i++)
		if (left[i])
			tnfctl_direct_close_descriptor(c, fd[i]);
}

bool
tnfctl_left_settle(struct calls *c)
{
	uintptr_t before;
	struct parcel p;

	if (c->h->control_calls == 0 || !c->h->ops->read(c->h, c->h->control_calls,
	    &before, sizeof(before)))
		return false;
	if (before == 0)
		return true;
	if (tnfctl_call_is_used(c, before))
		return false;
	if (tnfctl_call_get_of(c, before, &p, sizeof(p)) && p.magic == PARCEL_MAGIC)
		left_close(c, &p);
	return true;
}

/* Sets up a message of one byte and a descriptor, in a parcel that will lie at 'at'. */
static void
set_message(struct parcel *p, struct parcel *at)
{
	p->part = (struct iovec){ at->byte, 1 };
	p->message = (struct msghdr){ .msg_iov = &at->part, .msg_iovlen = 1,
	    .msg_control = &at->ancillary,
	    .msg_controllen = sizeof(p->ancillary.room) };
}

/*
 * Sends our descriptor to the other end of a socket of the target.  The socket's number
 * comes from the target, so it is not trusted.  If it named a file on a dead FUSE mount,
 * close() on our copy would block for ever, while the target is stopped.  So
 * socket_inode() first makes sure that it is a socket.
 */
static bool
send_descriptor(pid_t pid, int socket, int fd)
{
	struct parcel p = { .magic = 0 };
	autoclose int process = -1, end = -1;
	uint64_t inode;

	if (!socket_inode(pid, socket, &inode) ||
	    (process = (int)syscall(SYS_pidfd_open, pid, 0)) < 0 ||
	    (end = (int)syscall(SYS_pidfd_getfd, process, socket, 0)) < 0)
		return false;
	set_message(&p, &p);
	p.ancillary.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
	    .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd)) };
	memcpy(CMSG_DATA(&p.ancillary.header), &fd, sizeof(fd));
	return sendmsg(end, &p.message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* The number under which the target has the file, or -1.  'at' is the address of the
   parcel in the target. */
static int
receive_descriptor(struct calls *c, const struct parcel *p, struct parcel *at)
{
	struct parcel now;
	long got;

	if (!tnfctl_call_kernel(c, SYS_recvmsg, (uintptr_t)p->pair[0],
	    (uintptr_t)&at->message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, 0, &got) ||
	    !tnfctl_call_get(c, 0, &now, sizeof(now)))
		return -1;
	return parcel_received(&now);
}

/* Closes a descriptor only if it still is the socket that was noted: to close another file (FUSE)
   could take for ever. */
static void
close_sockets(struct calls *c, const struct parcel *p)
{
	uint64_t inode;

	for (int i = 0; i < 2; i++)
		if (socket_inode(c->h->pid, p->pair[i], &inode) && inode == p->socket[i])
			tnfctl_direct_close_descriptor(c, p->pair[i]);
}

/* Notes the sockets for the controller that comes next if we are killed. */
static bool
note_sockets(struct calls *c, struct parcel *p, struct parcel *at)
{
	for (int i = 0; i < 2; i++)
		if (!socket_inode(c->h->pid, p->pair[i], &p->socket[i]))
			return false;
	set_message(p, at);
	return tnfctl_call_put(c, 0, p, sizeof(*p)) != 0;
}

int
tnfctl_direct_give_descriptor(struct calls *c, int fd)
{
	struct parcel p = { .magic = PARCEL_MAGIC, .pair = { -1, -1 } }, *at;
	struct stat st;
	int theirs = -1;
	long r;

	if (fstat(fd, &st) != 0)
		return -1;
	p.file = st.st_ino;
	p.device = st.st_dev;
	at = (struct parcel *)tnfctl_call_put(c, 0, &p, sizeof(p));
	if (at == NULL || !tnfctl_call_kernel(c, SYS_socketpair, AF_UNIX, SOCK_DGRAM |
	    SOCK_CLOEXEC, 0, (uintptr_t)at->pair, &r) || !tnfctl_call_get(c, 0, &p, sizeof(p)))
		return -1;
	if (note_sockets(c, &p, at) && send_descriptor(c->h->pid, p.pair[1], fd))
		theirs = receive_descriptor(c, &p, at);
	close_sockets(c, &p);
	return theirs;
}

void
tnfctl_direct_close_descriptor(struct calls *c, int theirs)
{
	long r;

	tnfctl_call_kernel(c, SYS_close, (uintptr_t)theirs, 0, 0, 0, &r);
}

static tnfctl_errcode_t
not_opened(tnfctl_handle_t *h, const char *path, const char *why)
{
	if (h->gone || direct_proc(h)->gone ||
	    direct_proc(h)->event != PROC_NOTHING)
		return tnfctl_error_set(TNFCTL_ERR_NOTARGET, "process %d: %s", (int)h->pid,
		    why);
	return tnfctl_error_set(TNFCTL_ERR_ACCES, "process %d: it cannot open %s: %s",
	    (int)h->pid, path, why);
}

static tnfctl_errcode_t
open_in_target(struct calls *c, int fd, const char *path, unsigned int bytes)
{
	struct call call = { .function = c->h->control_open,
	    .args = { 0, bytes, (uintptr_t)fd } };
	int32_t result = -1;
	const char *why;

	for (int tries = 0; tries < TRIES; tries++) {
		result = -1;
		call.args[0] = tnfctl_call_put(c, PATH_OFFSET, path, strlen(path) + 1);
		if (call.args[0] == 0 || !c->h->ops->write(c->h,
		    CONTROL(c->h, open_result), &result, sizeof(result)))
			return tnfctl_error_lost(c->h, "its memory cannot be written");
		if ((why = tnfctl_call_make(c, &call)) != NULL)
			return not_opened(c->h, path, why);
		if (!c->h->ops->read(c->h, CONTROL(c->h, open_result), &result,
		    sizeof(result)) || result == -1)
			return not_opened(c->h, path, "it has not tried");
		if (result != EAGAIN && result != EBUSY)
			break;
		if (tnfctl_proc_is_late(c->p))
			break;
		tnfctl_proc_run_for(c->p, TRY_US);
	}
	if (result == ENOSPC && c->h->proc_state == TNF_PROC_RUNNING)
		return tnfctl_error_set(TNFCTL_ERR_SIZETOOSMALL, "%s: %u bytes: too small "
		    "for what process %d has defined in %s: make it larger",
		    path, bytes, (int)c->h->pid, c->h->trace_file);
	return result == 0 ? TNFCTL_ERR_NONE :
	    not_opened(c->h, path, strerror(result));
}

static tnfctl_errcode_t
open_with(struct calls *c, int fd, const char *path, unsigned int bytes)
{
	int theirs = tnfctl_direct_give_descriptor(c, fd);
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (theirs < 0)
		err = tnfctl_buffer_give(c->h, fd, path);
	if (err == TNFCTL_ERR_NONE)
		err = open_in_target(c, theirs, path, bytes);
	if (theirs >= 0)
		tnfctl_direct_close_descriptor(c, theirs);
	return err;
}

/* An error if a seccomp filter will keep the target from opening the file at its first hit.  A
   program that we have started opens it before its own first instruction. */
static tnfctl_errcode_t
at_first_hit(tnfctl_handle_t *h, const char *path)
{
	const struct proc *p = direct_proc(h);
	const char *why = p->ours ? NULL : tnfctl_filter_forbids(p);

	return why != NULL ? not_opened(h, path, why) : TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_direct_take_file(tnfctl_handle_t *h, int fd, const char *path,
    unsigned int bytes, bool *ret_taken)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct proc *p = direct_proc(h);
	sigset_t all, mask;
	int tries = h->proc_state == TNF_PROC_NO_BUFFER ? PLACE_TRIES :
	    EXCHANGE_TRIES;
	struct calls c;
	const char *why;

	*ret_taken = false;
	if (h->control_open == 0)
		return at_first_hit(h, path);
	/* Our signals are blocked until the end of this function.  If one is pending, each wait for
	   the target ends early. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	tnfctl_proc_hurry(p, TNFCTL_ATTACH_MS, &mask);
	/* A program that we have started is tried only once: before its initialisers it cannot be
	   called, and one of the initialisers opens the file. */
	if ((why = tnfctl_call_begin(&c, h, p->ours ? 1 : tries)) == NULL) {
		c.tries = tries;
		err = open_with(&c, fd, path, bytes);
		*ret_taken = err == TNFCTL_ERR_NONE;
	} else if (p->gone || p->event != PROC_NOTHING ||
	    h->proc_state != TNF_PROC_NO_BUFFER) {
		err = not_opened(h, path, why);
	} else {
		err = at_first_hit(h, path);
	}
	tnfctl_call_end(&c);
	/* The other threads ran during the call, and may have unloaded objects. */
	if (*ret_taken && (err = tnfctl_direct_settle(p, SETTLE_MS)) == TNFCTL_ERR_NONE)
		err = tnfctl_control_refresh(h);
	tnfctl_proc_unhurry(p);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return err;
}

/*
 * libtnfprobe, which the target loads by a call of dlopen().
 */
#define INJECT_TRIES	6000	/* without it there is no tracing */

static bool
library_try(const char *dir, size_t len, const char *sub, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%.*s%s/%s", (int)len, dir, sub,
	    TNFCTL_LIBTNFPROBE);

	return n > 0 && (size_t)n < size && access(ret, R_OK) == 0;
}

/* Finds libtnfprobe beside this library, or where a build that is not installed has it. */
bool
tnfctl_library_path(const char *dir, char *ret, size_t size)
{
	const char *slash;
	Dl_info info;

	if (dir != NULL)
		return library_try(dir, strlen(dir), "", ret, size);
	if (dladdr((void *)(uintptr_t)tnfctl_pid_open, &info) == 0 ||
	    info.dli_fname == NULL || info.dli_fname[0] != '/' ||
	    (slash = strrchr(info.dli_fname, '/')) == NULL)
		return false;
	return library_try(info.dli_fname, (size_t)(slash - info.dli_fname), "", ret,
	    size) || library_try(info.dli_fname, (size_t)(slash - info.dli_fname),
	    "/../libtnfprobe", ret, size);
}

static tnfctl_errcode_t
not_loaded(tnfctl_handle_t *h, const char *why)
{
	return tnfctl_error_set(TNFCTL_ERR_NOTLOADABLE, "process %d: "
	    TNFCTL_LIBTNFPROBE " is not loaded and cannot be now: %s: start "
	    "the program under control, or with LD_PRELOAD="
	    TNFCTL_LIBTNFPROBE, (int)h->pid, why);
}

/* The library that the target is to load. */
struct library {
	char	 name[PATH_MAX];	/* a path that means the same to it */
	int	 fd;			/* or our file, which its root does not have; or -1 */
};

/* A process in another root has another file of this name, or none. */
static tnfctl_errcode_t
library_find(tnfctl_handle_t *h, struct library *ret)
{
	char theirs[PATH_MAX + 32];
	struct stat a, b;

	ret->fd = -1;
	if (!tnfctl_library_path(NULL, ret->name, sizeof(ret->name))) {
		snprintf(ret->name, sizeof(ret->name), "%s", TNFCTL_LIBTNFPROBE);
		return TNFCTL_ERR_NONE;
	}
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)h->pid, ret->name);
	if (stat(ret->name, &a) != 0 || (stat(theirs, &b) != 0 ? errno != ENOENT :
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return TNFCTL_ERR_NONE;
	ret->fd = open(ret->name, O_RDONLY | O_CLOEXEC);
	return ret->fd >= 0 ? TNFCTL_ERR_NONE : tnfctl_error_set_errno(errno, "%s", ret->name);
}

static tnfctl_errcode_t
call_dlopen(struct calls *c, uintptr_t function, const char *library)
{
	struct call call = { .function = function, .args = { 0, RTLD_NOW } };
	char why[PATH_MAX + 128];
	const char *fact;

	call.args[0] = tnfctl_call_put(c, 0, library, strlen(library) + 1);
	fact = call.args[0] != 0 ? tnfctl_call_make(c, &call) :
	    "its memory cannot be written";
	if (fact != NULL)
		return not_loaded(c->h, fact);
	tnfctl_control_refresh(c->h);
	if (c->h->control != 0)
		return TNFCTL_ERR_NONE;
	snprintf(why, sizeof(why), "its dlopen() refused %s%s%s", library,
	    call.error ? ": " : "", call.error ? strerror(call.error) : "");
	return not_loaded(c->h, why);
}

/*
 * The target gets our file as a descriptor and loads it by the descriptor's name in
 * /proc; we put nothing into its root.  No other program uses the name with this "./",
 * so the linker does not take a library that is loaded later in the same way for this one.
 */
static tnfctl_errcode_t
call_dlopen_ours(struct calls *c, uintptr_t function, int fd)
{
	int theirs = tnfctl_direct_give_descriptor(c, fd);
	char name[64], there[64];
	tnfctl_errcode_t err;
	struct stat st;

	if (theirs < 0)
		return not_loaded(c->h, "its root directory does not have it, and it "
		    "cannot be given a descriptor of ours");
	snprintf(name, sizeof(name), "/proc/self/./fd/%d", theirs);
	snprintf(there, sizeof(there), "/proc/%d/root/proc/self", (int)c->h->pid);
	if (lstat(there, &st) == 0)
		err = call_dlopen(c, function, name);
	else
		err = not_loaded(c->h, "its root directory has neither it nor /proc");
	tnfctl_direct_close_descriptor(c, theirs);
	return err;
}

static tnfctl_errcode_t
inject_name(tnfctl_handle_t *h, const struct library *library)
{
	tnfctl_errcode_t err;
	uintptr_t function;
	struct calls c;
	const char *why;

	if (!tnfctl_objects_function(h, "libc.so.6", "dlopen", &function) &&
	    !tnfctl_objects_function(h, NULL, "dlopen", &function))
		return not_loaded(h, "it has no dlopen()");
	why = tnfctl_call_begin(&c, h, INJECT_TRIES);
	if (why != NULL)
		err = not_loaded(h, why);
	else if (library->fd >= 0)
		err = call_dlopen_ours(&c, function, library->fd);
	else
		err = call_dlopen(&c, function, library->name);
	tnfctl_call_end(&c);
	return err;
}

tnfctl_errcode_t
tnfctl_inject_library(tnfctl_handle_t *h)
{
	struct library library;
	tnfctl_errcode_t err;

	if (h->nprobes == 0 && !direct_proc(h)->load)
		return tnfctl_direct_no_probes(h->pid);
	if ((err = library_find(h, &library)) != TNFCTL_ERR_NONE)
		return err;
	err = inject_name(h, &library);
	if (library.fd >= 0)
		close(library.fd);
	return err;
}
