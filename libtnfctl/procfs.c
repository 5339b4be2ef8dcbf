/*
 * procfs.c - state and memory of a process, as /proc has them.
 */
#include <sys/uio.h>

#include "libtnfctl/proc.h"

#define STAT_SIZE	512u
#define PIECE_MAX	256u	/* bytes; larger pieces are written as many are */
#define KERNEL_THREAD	0x200000u	/* PF_KTHREAD of the kernel's sched.h */

/* The fields behind the name in /proc/PID/task/TID/stat; NULL: there are none. */
static const char *
stat_fields(pid_t pid, pid_t tid, char text[STAT_SIZE])
{
	const char *end;

	if (tnf_proc_file(text, STAT_SIZE, "/proc/%d/task/%d/stat", (int)pid, (int)tid) <= 0)
		return NULL;
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' ? end + 2 : NULL;
}

char
tnfctl_proc_state(pid_t pid, pid_t tid)
{
	char text[STAT_SIZE];
	const char *fields = stat_fields(pid, tid, text);

	return fields != NULL ? *fields : 0;
}

bool
tnfctl_proc_is_kernel(pid_t pid)
{
	char text[STAT_SIZE];
	const char *fields = stat_fields(pid, pid, text);
	unsigned flags;

	return fields != NULL && sscanf(fields, "%*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	    (flags & KERNEL_THREAD) != 0;
}

/* Why nothing is written to a process that has exec'd: the kernel ties this descriptor to
   the address space that it was opened for.  After an exec tnfctl_proc_read() and
   tnfctl_proc_write() get 0 bytes from it, and never reach the new program; so neither of
   them asks. */
tnfctl_errcode_t
tnfctl_proc_open_memory(struct proc *p)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)p->pid);
	if (p->mem >= 0)
		close(p->mem);
	p->mem = open(name, O_RDWR | O_CLOEXEC);
	return p->mem < 0 ? tnfctl_error_set_errno(errno, "%s", name) : TNFCTL_ERR_NONE;
}

/* process_vm_readv() and process_vm_writev() take a page in a tenth of the time that /proc/PID/mem takes, but would
   find another program as well, which an exec() has put in its place: they are for a process of which no thread
   runs that could call it. */
size_t
tnfctl_proc_read_some(struct proc *p, uintptr_t address, void *buf, size_t n)
{
	struct iovec to = { buf, n }, from = { (void *)address, n };
	ssize_t got = tnfctl_proc_stands(p) ? process_vm_readv(p->pid, &to, 1, &from, 1, 0) : -1;

	/* That system call may be forbidden, or not there, or refuse code that may only be executed. */
	if (got < 0)
		got = pread(p->mem, buf, n, (off_t)address);
	return got > 0 ? (size_t)got : 0;
}

bool
tnfctl_proc_read(struct proc *p, uintptr_t address, void *buf, size_t n)
{
	char *to = buf;
	ssize_t got;

	for (; n > 0; n -= (size_t)got, to += got, address += (size_t)got) {
		got = pread(p->mem, to, n, (off_t)address);
		if (got <= 0)
			return false;
	}
	return true;
}

bool
tnfctl_proc_memory_is_gone(const struct proc *p)
{
	char c;

	/* Any address: where there is none mapped, it would be an error. */
	return pread(p->mem, &c, 1, (off_t)getpagesize()) == 0;
}

/* False if the process has exec'd, as tnfctl_proc_open_memory() says. */
bool
tnfctl_proc_write(struct proc *p, uintptr_t address, const void *buf, size_t n)
{
	const char *from = buf;
	ssize_t put;

	for (; n > 0; n -= (size_t)put, from += put, address += (size_t)put) {
		put = pwrite(p->mem, from, n, (off_t)address);
		if (put <= 0)
			return false;
	}
	return true;
}

bool
tnfctl_proc_stands(const struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->threads[i].stopped)
			return false;
	return p->n > 0;
}

bool
tnfctl_proc_write_pieces(struct proc *p, const struct iovec *from, const struct iovec *to, size_t n)
{
	size_t size = 0;
	bool fine = true;

	for (size_t i = 0; i < n; i++)
		size += to[i].iov_len;
	if ((n > 1 || size > PIECE_MAX) && tnfctl_proc_stands(p) && process_vm_writev(p->pid, from, n, to, n, 0) == (ssize_t)size)
		return true;
	for (size_t i = 0; i < n; i++)
		fine = tnfctl_proc_write(p, (uintptr_t)to[i].iov_base, from[i].iov_base, to[i].iov_len) && fine;
	return fine;
}

/*
 * The file of this name, if it is the one that is mapped there.  The mapping itself
 * says which, to who has the rights; else its number must do, as some file systems
 * (overlay, btrfs) show other devices in the list of mappings than in stat(2).
 */
static int
open_if(const char *path, pid_t pid, const struct mapping *m)
{
	char name[MAPPING_FILE_MAX];
	int fd = tnfctl_file_open(path);
	struct stat st, mapped;

	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (stat(tnf_mapping_file(m, pid, name), &mapped) == 0 ?
	    st.st_ino == mapped.st_ino && st.st_dev == mapped.st_dev :
	    st.st_ino == m->inode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
tnfctl_proc_open_mapped(pid_t pid, const struct mapping *m, char *path, size_t size)
{
	char name[MAPPING_FILE_MAX];
	int fd;

	if (m->path[0] == '/') {
		snprintf(path, size, "%s", m->path);
		if ((fd = open_if(path, pid, m)) >= 0)
			return fd;
		snprintf(path, size, "/proc/%d/root%s", (int)pid, m->path);
		if ((fd = open_if(path, pid, m)) >= 0)
			return fd;
	}
	snprintf(path, size, "%s", tnf_mapping_file(m, pid, name));
	return tnfctl_file_open(path);
}
