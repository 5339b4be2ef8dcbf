/*
 * fleet.h - many machines: the connection that agents and askers share, the agent, the asker.
 */
#ifndef TNFFLEET_FLEET_H
#define TNFFLEET_FLEET_H

#include <nats/nats.h>
#include <pthread.h>

#include "tnffleet/message.h"
#include "tnfwatch/config.h"

#define FLEET_LEASE	(INT64_C(30) * 1000000000)
#define FLEET_FORGET	(INT64_C(7) * 86400 * 1000000000)	/* a host that has gone for good */

/* The name of this machine in the fleet; NULL: its name cannot be used, which has been said. */
const char *fleet_host(const struct config *);
/* The machine's labels, as "NAME=VALUE"; how many. */
unsigned fleet_labels(const struct config *, char label[FLEET_LABELS][FLEET_NAME]);
/* Connects with the options of the configuration.  'agent' is the name of the host that answers,
   and whose connection comes again by itself; NULL: an asker.  Returns NULL if that fails: 'why'
   says why, and what may help. */
natsConnection *fleet_connect(const struct config *, const char *agent, char why[FLEET_TEXT]);
/* True if the server has said that something was not permitted.  It does so before it answers
   natsConnection_Flush(); 'why' is what it said. */
bool fleet_refused(natsConnection *, char why[FLEET_TEXT]);
/* The registry, made if it is not there; NULL: *why is constant text. */
kvStore *fleet_registry(const struct config *, natsConnection *, jsCtx **, const char **why);
/* "tnf.ask", "tnf.host.web1" */
void fleet_subject(const struct config *, const char *what, const char *host, char *buf,
    size_t size);
/* The subject of the host's answer: the host is part of it, so that the permissions of a
   server can say who answers for whom.  "_INBOX.x.1" becomes "_INBOX.x.1.web1" */
void fleet_answer(const char *reply, const char *host, char *buf, size_t size);
/* Publishes a message; false: that has failed. */
bool fleet_publish(natsConnection *, const char *subject, const char *reply,
    const struct fleet_message *);

/* The agent: "tnfwatch agent". */

#define AGENT_RECORDED	"recorded"	/* the incident of files that are there anyway */
#define AGENT_SHARES	17		/* of the limit: the common one, and of askers with a name */
#define AGENT_COSTS	64		/* questions whose cost is known */

struct agent_cost {
	char	 question[FLEET_NAME];
	int64_t	 cpu, wall;	/* ns */
};

/* The part of its limit that an asker has used up. */
struct agent_share {
	char	 asker[FLEET_NAME];
	int64_t	*asked;			/* when the last limit_n came, a ring */
	uint64_t n_asked;
};

struct agent {
	const struct config *c;
	const char *host;
	char	 label[FLEET_LABELS][FLEET_NAME];
	unsigned n_labels;
	natsConnection *nc;
	char	*directory;		/* DIRECTORY/fleet */

	/* The threads with questions use these, one of them at a time. */
	pthread_mutex_t lock;
	struct agent_share share[AGENT_SHARES];	/* the first: the common one */
	unsigned n_shares;

	/* The thread with requests uses these. */
	int64_t	 free_at;		/* when the next bytes may go */
	struct agent_cost cost[AGENT_COSTS];	/* a ring */
	uint64_t n_costs;
	struct fleet_message in, out;	/* each is large */
	unsigned char *raw, *packed;
};

/* --- kept.c --- */

/* The note of a question; false: there is none. */
bool agent_record_read(const struct agent *, const char *question, struct fleet_message *);
/* Writes the whole file or none, even if we are killed; false: it has been said why.  Half of
   the file may be there if the machine goes down before agent_record_sync() has returned. */
bool agent_record_write(const struct agent *, const struct fleet_message *);
/* Waits until the disk has the note; an error is said. */
void agent_record_sync(const struct agent *, const char *question);
/* Removes slices that earlier questions have cut out of incidents that have gone. */
void agent_clean(const struct agent *);
/* True if the question asks for a slice, for which files must be filtered. */
bool agent_wants_slice(const struct fleet_message *record);
/* True if the question's files may be given: not if they were recorded and the configuration does
   not give recorded files any more, although the question is still known. */
bool agent_gives(const struct agent *, const struct fleet_message *record);
/* The directory that a question's files are in; the caller frees it. */
char *agent_place(const struct agent *, const struct fleet_message *record);
bool agent_is_trace(const char *name);
/* The trace files in a directory; a message has room for so many, 'why' then says how
   many others there are.  false: it cannot be read, 'why' says so. */
bool agent_list(const char *path, struct fleet_message *);

/* Room for a slice that is still to be made, within its limits; false: they are used up. */
bool agent_prepare(struct agent *, const struct fleet_message *record, const char *place);
/* Filters each file by itself, into a directory that gets its name when all files are there;
   false: one is not, and out.why says why. */
bool agent_slice(struct agent *, const struct fleet_message *record, const char *from,
    const char *place);

/* Answers until a signal ends the process; returns the exit status only if it cannot begin. */
int agent_run(const char *file);

/* The asker: "tnfwatch ask". */

enum host_state { H_EXPECTED, H_PINNED, H_SHORT, H_REFUSED, H_FETCHED, H_PART, H_FAILED };

/* The subscription by which answers come to a thread that asks. */
struct ask_line {
	natsSubscription *sub;
	char	 inbox[FLEET_TEXT];	/* of the last request */
	unsigned n;
};

struct ask_host {
	char	 name[FLEET_NAME];
	int64_t	 until;			/* its lease, asker's clock */
	enum host_state state;
	int64_t	 offset, error;		/* add to its clock; error < 0: not measured */
	int64_t	 since;			/* it has all events from then on, its clock; 0: not said */
	int64_t	 lacks;			/* ns of the time that was asked for, which are before that */
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

#endif /* TNFFLEET_FLEET_H */
