/*
 * asker.h - children that ask other machines for an incident's sake: "ask =".
 *
 * Each is a child of the daemon's own, with a limit of time: whoever writes incidents
 * does not wait for other machines.
 */
#ifndef TNFWATCH_ASKER_H
#define TNFWATCH_ASKER_H

#include <stdint.h>
#include <sys/types.h>

struct daemon;

struct asker {
	pid_t	 pid;		/* 0: none */
	int64_t	 until;		/* monotonic: it is killed then */
	char	*text;		/* as in the configuration */
	char	*to;		/* the directory */
};
#define ASKERS_MAX	4

/* Starts one for d->window if its trigger asks others.  It begins when asker_go() is
   called with what this returns, and ends if that is closed before; -1: nobody asks. */
int asker_start(struct daemon *);
void asker_go(int);
void asker_care(struct daemon *, int64_t now);
void asker_ended(struct daemon *, pid_t, int status);	/* any child */
void asker_stop(struct daemon *);	/* all of them */

#endif /* TNFWATCH_ASKER_H */
