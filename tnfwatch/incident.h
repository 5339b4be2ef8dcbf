/*
 * incident.h - an incident is kept of each stall: a directory, complete or not there.
 */
#ifndef TNFWATCH_INCIDENT_H
#define TNFWATCH_INCIDENT_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct config;
struct config_trigger;
struct dirent;
struct firing;
struct daemon;
struct out;
struct source;
struct writer;

#define INCIDENT_TEMP	".tmp-"		/* in front of the name of one that is written */
#define INCIDENT_SAME	3		/* exit status of a writer: the cause is known */
#define INCIDENT_PINNED	"pinned"	/* a file in one that is never removed for room */

/* A name that no incident has and for which taken() returns false, such as
   "20261121T031220Z-slow-order"; the caller frees it. */
char *incident_name(const struct config *, const char *trigger, int64_t wall,
    bool (*taken)(const void *arg, const char *id), const void *arg);

/* Starts the child that writes d->window, and tells 'written' (fleet.h) when it has
   its name; 0 or an errno. */
int incident_start(struct daemon *, int written, pid_t *ret);

/* The highest number of an incident; 0: there is none.  Incidents are numbered from 1 in their
   order, as names are not in order if the clock was set back. */
uint64_t incident_numbers(const struct config *);
/* True if incidents can be read.  If not, that is said.  There may be none yet. */
bool incidents_readable(const struct config *);
/* Incidents, in their order; the caller frees each and the list. */
size_t incident_list(const struct config *, char ***ret);
/* The incident of that name, or the only one whose name begins so; NULL: none or several,
   which is said. */
char *incident_find(const struct config *, const char *text);
/* For scandir(3): is it a trace file of an incident? */
int incident_is_trace(const struct dirent *);
bool incident_pinned(const struct config *, const char *id);
/* Removes the incident, all of it or nothing, whenever it is interrupted; 0 or an errno. */
int incident_remove(const struct config *, const char *id);

/* Removes what earlier runs have left half done. */
void incident_clean(const struct config *);
/* Removes incidents until all below the directory takes no more than the limit: each time the
   oldest that is not pinned, of the trigger whose incidents take the most. */
void incident_make_room(const struct config *);

/* The files of a source that have been written, and how far back they reach. */
struct incident_source {
	const struct source *source;
	char	**files;
	size_t	 n_files;
	int64_t	 since;		/* everything from here on is there; 0: not known */
	uint64_t size;		/* bytes of the files */
	int	 error;		/* errno of the first segment that could not be put */
	char	 why[256];	/* why there is nothing, or less than promised */
};

struct incident_facts {
	const struct daemon *d;
	const struct incident_source *sources;
	size_t	 n_sources;
	int64_t	 mono_to_wall;
	int64_t	 end;		/* monotonic: when the copies were made */
	uint64_t number;	/* of the incident */
};

/* One firing, as incident.json has it. */
void incident_json_firing(struct out *, const struct firing *, int64_t mono_to_wall);

/*
 * report.c: makes the page of each incident when the incident is complete.  A page takes longer
 * than the incident itself: pages are made one after the other, while tnfwatch goes on, and the
 * writer of the next incident does not wait for them.
 */
#define REPORTS_MAX	64	/* that wait; of more the oldest go without */

struct report {
	char	*id;
	char	*why;		/* the option of tnfdump that explains the operation that fired */
	size_t	 part;		/* of the files, the one that is made next */
	int64_t	 from, until;	/* monotonic: what the page shows ... */
	int64_t	 began;		/* ... and 'why' knows from this time on, if it is earlier */
};

struct reports {
	struct report list[REPORTS_MAX];	/* the first one is being made */
	size_t	 n;
	pid_t	 pid;			/* who makes it; 0: nobody */
};

/* Removes the pages that a killed tnfwatch has left half done; at the start. */
void reports_clean(const struct config *);
void reports_add(struct reports *, const struct config *, const struct writer *);
/* To be called for any child that has ended. */
void reports_ended(struct reports *, const struct config *, pid_t, int status);
/* Ends the page that is being made; pages that wait are not made. */
void reports_stop(struct reports *, const struct config *);

/* Makes why.txt of the incident in the directory, which is complete but for that; false: there is
   none. */
bool report_why_now(const struct daemon *, const struct config_trigger *, const struct firing *,
    int dir);

/*
 * incident-list.c: the text behind a key of incident.json, or NULL, and a text with "#" for its numbers,
 * which differ from time to time; the caller frees both.
 */
char *cause_json(const char *text, const char *key);
char *cause_numberless(const char *text);
/* True if an incident was kept for the same cause lately, and the trigger wants to know.  'name' is
   the name of the incident's directory so far. */
bool cause_is_known(const struct daemon *, const char *name, int dir);

/*
 * unsynced.c: incidents that have their name, and are perhaps not on the disk yet.  Such an
 * incident has a file ".unsynced" with the boot's id and, as soon as they are known, the
 * size and a sum of each file.  The note goes when the disk has all files.  If tnfwatch is
 * killed before, nothing is lost: the kernel has the files, and the next tnfwatch syncs the
 * incident.  If the machine went down before, the next tnfwatch keeps the incident only if the
 * disk has each file as it was written: a file may have its size, but zeros in its last pages.
 */

/* Notes in the directory that it is not on the disk; 0 or an errno. */
int unsynced_note(int dir);
/* Notes the files of the directory, waits for the disk and takes the note away; 'all' is the
   parent directory. */
int unsynced_sync(int dir, int all);
/* Syncs or removes the incidents that an earlier tnfwatch has left with a note. */
void unsynced_clean(const struct config *);

#endif /* TNFWATCH_INCIDENT_H */
