/*
 * hosts.h - --hosts: files of several machines on one time line.
 *
 * The time line is the monotonic clock of the first machine.  Times of other machines are
 * moved to it by way of both wall clocks and the known offsets.  The error of that is known
 * too: two events of different machines whose times differ by less are in no certain order.
 */
#ifndef TNFDUMP_HOSTS_H
#define TNFDUMP_HOSTS_H

#include "tnfdump/tnfdump.h"

/* The error of a clock of which nothing is known: the kernel's own limit, 16 s. */
#define HOSTS_ERROR_UNKNOWN	INT64_C(16000000000)

/* The largest offset and error of a clock, some 36 years: sums of a few do not overflow. */
#define HOSTS_CLOCK_MAX		(INT64_C(1) << 60)

struct perprobe;

struct host {
	char	*name;
	unsigned files;
	int64_t	 offset;	/* add to its wall clock; as recorded, plus 'moved' */
	int64_t	 error;		/* of the offset, to either side */
	int64_t	 moved;		/* by messages, beyond what was recorded */
	const char *source;	/* "asker", "kernel", "option", "unknown": constant text */
};

/* The options. */
int hosts_set(struct dump *, const char *);
int hosts_clock_set(struct dump *, const char *);	/* NAME=OFFSET[,ERROR] */
int hosts_message_set(struct dump *, const char *);	/* SEND,RECEIVE,MEMBER[,MEMBER...] */

/* Returns the paths, each directory replaced by its files, NULL ends; the list is valid
   until hosts_free(). */
char **hosts_paths(struct dump *, char **paths);
/* Groups the files of the stream by machine and shifts their times. */
void hosts_join(struct dump *);
void hosts_free(struct dump *);

/* The machines; *n is how many.  tnf_file_host() of an event's file is the index of its
   machine.  NULL: --hosts was not given. */
const struct host *hosts_list(const struct dump *, unsigned *n);
/* NULL: the file could not be put on the line, or --hosts was not given. */
const char *host_name(const struct dump *, const struct tnf_event *);
/* The number to add to a time of the line to get ns since 1970; false: not known. */
bool hosts_wall(const struct dump *, int64_t *ret);
/* True if the event's machine is on the line, or without --hosts. */
bool hosts_placed(const struct dump *, const struct tnf_event *);

/* Called for each printed event; sets dump->unordered if an event of another machine that
   was printed before may have come later. */
void hosts_see(struct dump *, const struct tnf_event *);

/* A pid that no process of another machine has, for formats with one list of processes. */
int32_t hosts_pid(struct dump *, unsigned host, int32_t pid);

/* True if the event sends or receives a message by a rule of --message: *sent tells which,
   and 'key', an output in memory, has what both events of the message have in common.  'roles'
   is the caller's, for one stream. */
bool hosts_message_key(const struct dump *, struct perprobe *roles, const struct tnf_event *,
    struct out *key, bool *sent);

/* Prints a line for each host, as the head of text output. */
void hosts_print(struct dump *);

#endif
