/*
 * hosts.h - --hosts: files of several machines on one time line.
 *
 * The time line is the monotonic clock of the first machine.  Times of other machines are
 * moved to it by way of both wall clocks and the known offsets.  The error of that is known
 * too: two events of different machines whose times differ by less are in no certain order.
 */
#ifndef TNFDUMP_HOSTS_H
#define TNFDUMP_HOSTS_H

#include "common/map.h"
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

/*
 * Declarations shared by the files hosts*.c.
 */

#define HOST_NONE	UINT32_MAX
#define MEMBERS_MAX	4

/* The file "clock" in a machine's directory, which an asker wrote. */
struct host_note {
	char	*name;		/* or NULL */
	bool	 measured;
	int64_t	 offset, error;
};

/* One path of the command line, and, if it is a directory, its note. */
struct host_place {
	char	*path;		/* a directory; NULL: files by themselves */
	struct host_note note;
};

struct clock_option {
	char	*name;
	int64_t	 offset, error;
	bool	 used;
};

struct message_rule {
	char	*text;
	char	*send, *receive, *members[MEMBERS_MAX];
	unsigned n_members;
};

struct hosts {
	struct host	*list;
	unsigned	 n;
	struct host_place *places;
	unsigned	 n_places;
	unsigned	*place_of;	/* by path */
	char		**paths;
	struct clock_option *clocks;
	unsigned	 n_clocks;
	struct message_rule *rules;
	unsigned	 n_rules;
	bool		 has_wall;
	int64_t		 wall;
	struct map	 pids;		/* int32_t by host and pid: hosts_pid() */

	/* order: */
	int64_t		*last;		/* by host: time of its last event */
	unsigned	*recent;	/* hosts, the one that wrote last first */
	unsigned	 n_recent;
	int64_t		*slack;		/* n * n: [earlier * n + later]; NULL: sums of errors */
	int64_t		 slack_max;
};

/* hosts-message.c: finds messages and corrects the hosts' clocks; true: the files' shifts
   must be set again. */
bool hosts_clocks_by_messages(struct dump *);

#endif
