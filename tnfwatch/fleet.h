/*
 * fleet.h - the processes of tnffleet that the daemon starts: one that answers other
 * machines ([fleet]), and those that ask others for an incident ("ask =").
 *
 * The library for the wire has threads, and what comes over the wire may be hostile: in
 * processes of their own, neither concerns the process that holds the rings.
 */
#ifndef TNFWATCH_FLEET_H
#define TNFWATCH_FLEET_H

#include <stdint.h>
#include <sys/types.h>

struct config_fleet;
struct daemon;

struct agent {
	pid_t	 pid;		/* 0: none */
	int64_t	 begun;		/* monotonic */
	int64_t	 retry;		/* monotonic: not again before that */
	int64_t	 wait;		/* between two starts of one that ends by itself */
	int64_t	 end;		/* it was told to end, and is killed then; 0: not told */
};

struct asker {
	pid_t	 pid;		/* 0: none */
	int64_t	 until;		/* monotonic: it is killed then */
	char	*text;		/* as in the configuration */
	char	*to;		/* the directory */
};
#define ASKERS_MAX	4

/* Starts the agent where the configuration has [fleet], and again when it has ended; kills
   askers that take too long. */
void fleet_care(struct daemon *, int64_t now);
void fleet_child_ended(struct daemon *, pid_t, int status);	/* any child */
/* The configuration has been read again: one that has another [fleet] gets a new agent. */
void fleet_reload(struct daemon *, const struct config_fleet *before);
/* The agent has ended when this returns, which takes at most about a second. */
void agent_stop(struct daemon *);

/* Starts an asker for d->window if its trigger asks others.  It begins when asker_go() is
   called with the descriptor that is returned, and ends if that is closed before; -1:
   nobody asks. */
int asker_start(struct daemon *);
void asker_go(int);
void asker_stop(struct daemon *);	/* all of them */

#endif /* TNFWATCH_FLEET_H */
