/*
 * agent.h - what the parts of "tnfwatch agent" share.
 */
#ifndef TNFFLEET_AGENT_H
#define TNFFLEET_AGENT_H

#include "tnffleet/connection.h"

#define AGENT_RECORDED	"recorded"	/* the incident of files that are there anyway */
#define AGENT_COSTS	64		/* questions whose cost is known */

struct agent_cost {
	char	 question[FLEET_NAME];
	int64_t	 cpu, wall;	/* ns */
};

struct agent {
	const struct config *c;
	const char *host;
	char	 label[FLEET_LABELS][FLEET_NAME];
	unsigned n_labels;
	natsConnection *nc;
	char	*directory;		/* DIRECTORY/fleet */

	/* Of the thread with questions. */
	int64_t	*asked;			/* when the last limit_n came, a ring */
	uint64_t n_asked, n_refused, n_bad;

	/* Of the thread with requests. */
	int64_t	 free_at;		/* when the next bytes may go */
	struct agent_cost cost[AGENT_COSTS];	/* a ring */
	uint64_t n_costs;
	struct fleet_message in, out;	/* each is large */
	unsigned char *raw, *packed;
};

/* --- kept.c --- */

/* The note of a question; false: there is none. */
bool agent_record_read(const struct agent *, const char *question, struct fleet_message *);
/* The whole file or none, whoever interrupts us; false: it has been said why.  Half of it
   may be there if the machine goes down before agent_record_sync() has returned. */
bool agent_record_write(const struct agent *, const struct fleet_message *);
/* Waits until the disk has the note; where it refuses, that is said. */
void agent_record_sync(const struct agent *, const char *question);
/* Removes what earlier questions cut out of incidents that have gone. */
void agent_clean(const struct agent *);
/* Is a part asked for, that is to be filtered? */
bool agent_wants_slice(const struct fleet_message *record);
/* Files that were recorded may be given away no more, and the question is still known. */
bool agent_gives(const struct agent *, const struct fleet_message *record);
/* The directory that a question's files are in; the caller frees it. */
char *agent_place(const struct agent *, const struct fleet_message *record);
bool agent_is_trace(const char *name);
/* The trace files in a directory; a message has room for so many, 'why' then says how
   many others there are.  false: it cannot be read, 'why' says so. */
bool agent_list(const char *path, struct fleet_message *);

/* Room for a slice that is still to be made, within its limits; false: they are used up. */
bool agent_prepare(struct agent *, const struct fleet_message *record, const char *place);
/* Each file by itself, into a directory that gets its name when all are there; false:
   one is not, and out.why says why. */
bool agent_slice(struct agent *, const struct fleet_message *record, const char *from,
    const char *place);

/* Answers until a signal ends the process; returns the exit status only if it cannot begin. */
int agent_run(const char *file);

#endif /* TNFFLEET_AGENT_H */
