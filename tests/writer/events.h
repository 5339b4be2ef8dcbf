/*
 * events.h - a trace file as a list of lines, for tests.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdint.h>
#include <stdio.h>

#include <tnf/com.h>

struct event_line {
	int64_t	 time;
	int32_t	 pid;
	uint32_t tid;
	int32_t	 cpu;
	uint32_t pos;		/* in the file */
	char	*text;		/* name a=1 s="x" r={x=1 y=NULL} cut="x"... */
};

struct events {
	size_t	 n;
	struct event_line *v;	/* in order of time */
	unsigned probes;
	unsigned damaged;	/* reports of the reader; shown on stderr */
	unsigned held;		/* blocks that threads have */
	struct tnf_ext ext;
};

/* Reads the file; exits with a message if that is not possible. */
void events_read(const char *path, struct events *);
void events_free(struct events *);

#endif
