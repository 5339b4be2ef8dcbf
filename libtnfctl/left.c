/*
 * left.c - what a controller that was killed has left open in the target.
 *
 * The target says where the memory of its calls was, and that holds the numbers of
 * the descriptors.  By now they may mean something else: the target has run since.
 * So a socket is closed if its inode is the one that was noted.  If we were killed
 * before that could be noted, nothing had been closed, and the two are a pair with
 * neighbouring inodes.
 *
 * Nor is the target believed: to close a file of a FUSE file system can take for
 * ever, and the target would stay stopped, and we with it.  What is asked for here is
 * told without a question to a file system.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libtnfctl/left.h"

/* As /proc/PID/fdinfo tells it. */
struct facts {
	unsigned long flags;	/* octal */
	unsigned long mount, inode;
};

int
tnfctl_parcel_received(const struct parcel *p)
{
	int fd = -1;

	if (p->ancillary.header.cmsg_type == SCM_RIGHTS &&
	    p->ancillary.header.cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(&p->ancillary.header), sizeof(fd));
	return fd;
}

bool
tnfctl_left_socket(pid_t pid, int fd, uint64_t *inode)
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
	char path[64], line[128];
	unsigned got = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	if (fd < 0 || (f = fopen(path, "re")) == NULL)
		return false;
	while (got < 3 && fgets(line, sizeof(line), f) != NULL)
		got += sscanf(line, "flags: %lo", &ret->flags) == 1 ||
		    sscanf(line, "mnt_id: %lu", &ret->mount) == 1 ||
		    sscanf(line, "ino: %lu", &ret->inode) == 1;
	fclose(f);
	return got == 3;
}

/* A mount of ours of that device, which the kernel itself serves. */
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

	if (!tnfctl_left_socket(c->h->pid, p->pair[i], &inode[i]))
		return false;
	if (p->socket[i] != 0)
		return inode[i] == p->socket[i];
	return tnfctl_left_socket(c->h->pid, p->pair[!i], &inode[!i]) &&
	    inode[1] == inode[0] + 1 &&
	    left_facts(c->h->pid, p->pair[i], &facts) && (facts.flags & O_CLOEXEC) != 0;
}

/* All are looked at before the first is closed. */
static void
left_close(struct calls *c, const struct parcel *p)
{
	int fd[3] = { p->pair[0], p->pair[1], tnfctl_parcel_received(p) }, i;
	bool left[3] = { is_left_socket(c, p, 0), is_left_socket(c, p, 1),
	    is_left_file(c, p, fd[2]) };
	long r;

	for (i = 0; i < 3; i++)
		if (left[i])
			tnfctl_call_kernel(c, SYS_close, (uintptr_t)fd[i], 0, 0, 0, &r);
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
