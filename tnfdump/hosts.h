/*
 * hosts.h - --hosts: files of several machines on one time line.
 *
 * The line is the monotonic clock of the first machine.  What another one recorded is
 * moved there by way of both wall clocks and what is known of their offsets; how far
 * that may be wrong is known too, and two events of different machines that lie
 * closer than that are in no certain order.
 */
#ifndef TNFDUMP_HOSTS_H
#define TNFDUMP_HOSTS_H

#include "tnfdump/tnfdump.h"

/* What a clock may be off when nothing tells: the kernel's own limit, 16 s. */
#define HOSTS_ERROR_UNKNOWN	INT64_C(16000000000)

/* No clock is further off, nor known worse: some 36 years; sums of a few do not overflow. */
#define HOSTS_CLOCK_MAX		(INT64_C(1) << 60)

struct host {
	char	*name;
	unsigned files;
	int64_t	 offset;	/* add to its wall clock; as recorded, or as messages have it */
	int64_t	 error;		/* of that, either way */
	int64_t	 moved;		/* by messages, beyond what was recorded */
	const char *source;	/* "asker", "kernel", "option", "unknown": constant text */
};

/* The options. */
int hosts_set(struct dump *, const char *);
int hosts_clock_set(struct dump *, const char *);	/* NAME=OFFSET[,ERROR] */
int hosts_message_set(struct dump *, const char *);	/* SEND,RECEIVE,MEMBER[,MEMBER...] */

/* The files in the directories among the paths, NULL ends; the caller frees nothing
   before hosts_free(). */
char **hosts_paths(struct dump *, char **paths);
/* All files are in the stream: groups them by machine and moves their times. */
void hosts_join(struct dump *);
void hosts_free(struct dump *);

/* The machines; *n is how many.  tnf_file_host() of an event's file is the index of its
   machine.  NULL: --hosts was not given. */
const struct host *hosts_list(const struct dump *, unsigned *n);
/* NULL: the file could not be put on the line, or --hosts was not given. */
const char *host_name(const struct dump *, const struct tnf_event *);
/* What to add to a time of the line to get ns since 1970; false: not told. */
bool hosts_wall(const struct dump *, int64_t *ret);
/* The event's machine is on the line. */
bool hosts_placed(const struct dump *, const struct tnf_event *);

/* Told of each event that is printed; from then on dump->unordered says whether one
   of another machine that was printed before it may have come after it. */
void hosts_see(struct dump *, const struct tnf_event *);

/* Numbers that no process of another machine has, for formats with one list. */
int32_t hosts_pid(struct dump *, unsigned host, int32_t pid);

/* A line each, as text begins with. */
void hosts_print(struct dump *);

#endif
