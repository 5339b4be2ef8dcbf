/*
 * silent.h - a file system of one file, whose server can stop to answer.
 */
#ifndef SILENT_H
#define SILENT_H

#include <stdbool.h>
#include <sys/types.h>

enum silence { SILENT_NEVER, SILENT_OPEN, SILENT_READ };

struct silent {
	pid_t	 server;	/* it dies with us */
	char	 path[512];
	volatile int *silence;	/* about what it says nothing; shared with it */
};

/* From now on we, and those whom we start, see this file through a server that answers all.
   False: this machine or user cannot have that; says why. */
bool	silent_begin(struct silent *, const char *path);
/* Whoever waits goes on; the file is as before, for those who do not have it open. */
void	silent_end(struct silent *);

#endif
