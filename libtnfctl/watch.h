/*
 * watch.h - wait for the target and for signals to ourselves at once.
 */
#ifndef LIBTNFCTL_WATCH_H
#define LIBTNFCTL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct watch;

enum watch_result {
	WATCH_CHILD,		/* *ret_tid has something to say to wait(2) */
	WATCH_SIGNAL,		/* a signal handler has run */
	WATCH_TIMEOUT
};

struct watch *tnfctl_watch_start(void);	/* NULL, errno */
void	tnfctl_watch_stop(struct watch *);
/* Signals are as in 'mask' while it waits.  timeout_ms: -1 for ever. */
enum watch_result tnfctl_watch_wait(struct watch *, const sigset_t *mask,
	    int timeout_ms, pid_t *ret_tid);
/* After WATCH_CHILD: look on.  not_ours: it was nobody that we know. */
void	tnfctl_watch_next(struct watch *, bool not_ours);

#endif
