/*
 * connector.h - processes that exec and end, as the kernel's connector tells them.
 */
#ifndef TNFWATCH_CONNECTOR_H
#define TNFWATCH_CONNECTOR_H

#include <sys/types.h>

enum connector_what {
	CONNECTOR_EXEC,		/* pid has become another program */
	CONNECTOR_EXIT,		/* its first thread has ended; status as of wait(2) */
	CONNECTOR_OVERFLOW	/* events were lost: look at all processes */
};

typedef void connector_fn(void *arg, enum connector_what, pid_t pid, int status);

/* A socket to be polled, or -1 and errno: CAP_NET_ADMIN is needed, and to be in the
   first network and process name spaces. */
int connector_open(void);
/* Takes all that is there, without waiting. */
void connector_read(int fd, connector_fn *, void *arg);

#endif /* TNFWATCH_CONNECTOR_H */
