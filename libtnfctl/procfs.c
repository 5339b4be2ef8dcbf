/*
 * procfs.c - state and memory of a process, as /proc has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/proc.h"

char
proc_state(pid_t pid, pid_t tid)
{
	char name[64], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stat", (int)pid,
	    (int)tid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

tnfctl_errcode_t
proc_open_memory(struct proc *p)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)p->pid);
	if (p->mem >= 0)
		close(p->mem);
	p->mem = open(name, O_RDWR | O_CLOEXEC);
	return p->mem < 0 ? fail_errno(errno, "%s", name) : TNFCTL_ERR_NONE;
}

bool
proc_read(struct proc *p, uintptr_t address, void *buf, size_t n)
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
proc_write(struct proc *p, uintptr_t address, const void *buf, size_t n)
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
