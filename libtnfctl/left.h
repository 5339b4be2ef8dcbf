/*
 * left.h - what a controller that was killed has left open in the target.
 */
#ifndef LIBTNFCTL_LEFT_H
#define LIBTNFCTL_LEFT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "libtnfctl/call.h"

/*
 * What lies in the target while it is given a descriptor.  The kernel writes the
 * numbers of the descriptors there, in the calls that open them, so that whoever
 * comes next knows them at whatever moment we are killed.
 */
struct parcel {
	uint64_t magic;
	uint64_t socket[2];	/* their inodes; 0: not known yet */
	uint64_t file, device;	/* the inode of what is given, and where */
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

/* The number that the target has received, or -1. */
int	tnfctl_parcel_received(const struct parcel *);
/* The inode of a socket of the target's; false: it is no socket. */
bool	tnfctl_left_socket(pid_t, int fd, uint64_t *inode);
/* Closes what the last controller has left.  False: there is no place for a note that
   calls are made, or it cannot be told yet what is left. */
bool	tnfctl_left_settle(struct calls *);

#endif
