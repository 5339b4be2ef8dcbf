/*
 * hosts-impl.h - declarations shared by the files hosts*.c.
 */
#ifndef TNFDUMP_HOSTS_IMPL_H
#define TNFDUMP_HOSTS_IMPL_H

#include "common/map.h"
#include "tnfdump/hosts.h"

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
