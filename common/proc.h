/*
 * proc.h - what the kernel says: of processes and threads, of what they have mapped, of
 * its symbols, and the time.  Each call reads the file in /proc anew.
 */
#ifndef COMMON_PROC_H
#define COMMON_PROC_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The text of a field in a task's "status" (proc(5)), from behind "field:" and blanks to the
   end of the line; false: there is no such task or field, or we have no right to read it. */
bool	tnf_proc_status_text(pid_t, const char *field, char *ret, size_t size);
bool	tnf_thread_status_text(pid_t pid, pid_t tid, const char *field, char *ret,
	    size_t size);

/* The first number of the field; -1 for the same reasons. */
long	tnf_proc_status(pid_t, const char *field);
long	tnf_thread_status(pid_t pid, pid_t tid, const char *field);

/* When a process began, in ticks of sysconf(_SC_CLK_TCK) since the boot (CLOCK_BOOTTIME); 0: there
   is no such process. */
uint64_t tnf_proc_started(pid_t);

/* One number of a field that has several: the user IDs are real, effective, saved,
   and that of the file system. */
enum { PROC_ID_REAL, PROC_ID_EFFECTIVE, PROC_ID_SAVED, PROC_ID_FS };
long	tnf_proc_status_nth(pid_t, const char *field, unsigned n);

/* The last number; of NSpid, that is the task's number in its own name space. */
long	tnf_thread_status_last(pid_t pid, pid_t tid, const char *field);

/* Reads the first bytes of a file, and puts a NUL behind them.  Returns how many bytes these
   are; -1: the file cannot be read. */
ssize_t	tnf_proc_file(char *ret, size_t size, const char *path, ...)
	    __attribute__((format(printf, 3, 4)));
/* The path of a process' control group in a hierarchy: "name=systemd" and the like, "" for
   cgroup v2.  false: it has none there, or the file cannot be read. */
bool	tnf_proc_cgroup(pid_t, const char *hierarchy, char *ret, size_t size);

/* Reads a descriptor to its end; *ret is malloc'ed and ends with a NUL.  0 or an errno.
   *ret_size, unless ret_size is NULL, is the size without the NUL. */
int	tnf_read_all(int fd, char **ret, size_t *ret_size);

/* A mapping of a process, as a line of its maps tells it. */
struct mapping {
	uintptr_t start;
	uintptr_t end;
	uint64_t offset;
	uint64_t device;	/* of the file system, and the file's number there */
	uint64_t inode;
	bool	 exec;
	bool	 write;
	bool	 shared;
	char	*path;		/* "" anonymous; "[stack]" and the like */
};

struct maps {
	struct mapping *m;	/* by address */
	size_t	 n;
	char	*text;
};

#define MAPPING_FILE_MAX	96
/* A name that leads to the very file that is mapped, whatever its own name leads to
   now.  Only callers with CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN (root, as a rule) can
   open it.  'name' is returned. */
const char *tnf_mapping_file(const struct mapping *, pid_t,
	    char name[MAPPING_FILE_MAX]);
/* A file that others see change. */
bool	tnf_mapping_is_written(const struct mapping *);

/* True if the process has this file mapped, shared and writable.  False also if nobody may know. */
struct stat;
bool	tnf_maps_write_file(pid_t, const struct stat *);

/* Two mappings of one file; false for memory that has none. */
static inline bool
mapping_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

int	tnf_maps_read(pid_t, struct maps *ret);	/* 0 or an errno */
void	tnf_maps_free(struct maps *);
const struct mapping *tnf_maps_find(const struct maps *, uintptr_t);
/* The mapping of the start of the same file, at or below this one. */
const struct mapping *tnf_maps_file_start(const struct maps *,
	    const struct mapping *);

/* Tells other people who asks for something: "root by prex[4711]"; a user without a name is
   a number, a program without one is left out.  The answer is cut to fit. */
void	tnf_who_is(uid_t, pid_t, char *ret, size_t size);

/* A kernel's list of symbols: this one's, a copy of it, or a System.map. */
#define KALLSYMS	"/proc/kallsyms"

/* Names are not NUL-terminated: they end where their line has a blank. */
struct kallsym {
	uint64_t    address;		/* 0: the kernel hides it */
	char	    type;		/* as in nm(1) */
	const char *name;
	size_t	    length;
	const char *module;		/* "": the kernel itself */
	size_t	    module_length;
};

/* A line "ADDRESS TYPE NAME[\t[MODULE]]", to its newline or NUL; false: another one. */
bool tnf_kallsyms_line(const char *line, struct kallsym *ret);

/* Calls fn for each symbol of the list at 'path', in the list's order, until it
   returns false.  The kernel's list is long, and slow to read (some 80 ms).
   0, or an errno: the list cannot be opened. */
int tnf_kallsyms_each(const char *path, bool (*fn)(void *arg, const struct kallsym *), void *arg);

/* A clock's time in nanoseconds. */
static inline int64_t
clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * The container and the pod that a control group tells.
 */

#define CONTAINER_LOGS	"/var/log/containers"	/* where a node of Kubernetes names them */

struct container {
	char	id[65];		/* 64 hexadecimal digits; "": none */
	char	pod[37];	/* the pod's uid, with dashes; "": none */
};

/* Names as people gave them; each "" if it is not known. */
struct container_names {
	char	pod[256], pod_namespace[64], name[64];
};

/* The innermost container of a control group's path, as Docker, Podman, containerd and CRI-O
   name theirs, with systemd's names (cri-containerd-ID.scope) or without; and the pod that the
   path belongs to.  False, and both are "": neither. */
bool tnf_container_of(const char *cgroup, struct container *);

/* Finds the names of a container among the links POD_NAMESPACE_NAME-ID.log of a directory
   (CONTAINER_LOGS); false: it has none. */
bool tnf_container_names(const char *directory, const char *id, struct container_names *);

/* Finds a container of the pod with this name, by the same links; false: there is none. */
bool tnf_container_in_pod(const char *directory, const char *pod, char id[65]);

#endif
