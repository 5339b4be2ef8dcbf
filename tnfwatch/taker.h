/*
 * taker.h - the part of tnfwatch that attaches to processes.
 *
 * The taker is a process of its own, small and quick.  It looks for processes that the
 * configuration means, at its start and whenever a program is executed.  For each it has a
 * child that attaches to the process, gives it a trace file, switches on its probes and lets
 * it go.  A child that hangs or fails disturbs no other; if tnfwatch is killed, children
 * complete their process first.  Results come as messages over a socket.
 */
#ifndef TNFWATCH_TAKER_H
#define TNFWATCH_TAKER_H

#include <sys/types.h>

#include <limits.h>

#include "tnfwatch/config.h"

enum taker_what {
	TAKER_TAKEN,		/* it has the trace file 'path', or none: "" */
	TAKER_FAILED,		/* 'detail' says why */
	TAKER_ENDED,		/* 'status' as of wait(2) */
	TAKER_SCANS,		/* new processes are found by scanning: 'detail' */
	TAKER_READY		/* all that were there at the start have been tried */
};

struct taker_report {
	enum taker_what what;
	pid_t	 pid;
	int	 status;
	bool	 told;		/* of TAKER_TAKEN: it says so itself */
	unsigned process;	/* of the configuration, by its number */
	char	 comm[64];
	char	 path[512];
	char	 detail[512];	/* of TAKER_TAKEN: what could not be had of it; or "" */
	struct enabled probes;	/* that are on */
};

struct taker {
	pid_t	 pid;
	int	 fd;		/* a struct taker_report comes with each recv() */
};

/* Does the section mean this process? */
bool taker_means(const struct config_process *, pid_t);
/* Starts a taker.  0 or an errno. */
int taker_start(struct taker *, const struct config *);
/* The taker ends when its children have; this function does not wait. */
void taker_stop(struct taker *);

#endif /* TNFWATCH_TAKER_H */
