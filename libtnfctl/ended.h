/*
 * ended.h - names of threads that have ended while we held the process.
 */
#ifndef LIBTNFCTL_ENDED_H
#define LIBTNFCTL_ENDED_H

#include <stddef.h>
#include <sys/types.h>

#include <tnf/tnfctl.h>

/* A ring of the latest; all zero is an empty one. */
struct ended {
	tnfctl_ended_t *threads;
	size_t	 next;		/* the oldest, once the ring is full */
	size_t	 n;
};

/* The thread is a zombie whose status nobody has taken yet: it has its name. */
void	tnfctl_ended_note(struct ended *, pid_t pid, pid_t tid);
size_t	tnfctl_ended_fill(const struct ended *, tnfctl_ended_t *ret, size_t room);
void	tnfctl_ended_free(struct ended *);

#endif
