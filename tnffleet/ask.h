/*
 * ask.h - what the parts of "tnfwatch ask" share.
 */
#ifndef TNFFLEET_ASK_H
#define TNFFLEET_ASK_H

#include <pthread.h>

#include "tnffleet/connection.h"

enum host_state { H_EXPECTED, H_PINNED, H_REFUSED, H_FETCHED, H_PART, H_FAILED };

/* Where answers come to a thread that asks. */
struct ask_line {
	natsSubscription *sub;
	char	 inbox[FLEET_TEXT];	/* of the last request */
	unsigned n;
};

struct ask_host {
	char	 name[FLEET_NAME];
	bool	 registered;
	int64_t	 until;			/* its lease, asker's clock */
	enum host_state state;
	int64_t	 offset, error;		/* add to its clock; error < 0: not measured */
	char	 why[FLEET_TEXT];
	unsigned files;
	int64_t	 piece;			/* what it is asked for at once */
	int64_t	 deadline;		/* of its fetch */
	int64_t	 bytes, wire, again;	/* got now; over the wire; were there */
	uint64_t chunks;
	struct ask_line *line;		/* of the thread that fetches */
};

struct ask {
	const struct config *c;
	const char *directory;
	int	 dir;
	int64_t	 wait, patience;
	int64_t	 deadline, bytes;	/* of one host, which may lie */
	struct fleet_message *question;
	natsConnection *nc;
	struct ask_host *host;
	unsigned n_hosts;
	unsigned next;			/* of the workers */
	pthread_mutex_t lock;
};

/* --- question.c --- */

/* false: usage or a mistake, which has been said. */
bool ask_options(struct ask *, int argc, char **argv, bool *asks_more);
/* The question of the directory: the one that is there, or this one from now on.  Nobody
   else fetches into it as long as a->dir is open.  false: it has been said why not. */
bool ask_directory(struct ask *, bool asks_more);

/* Asks, with these options; the exit status. */
int ask_run(const char *file, int argc, char **argv);

#endif /* TNFFLEET_ASK_H */
