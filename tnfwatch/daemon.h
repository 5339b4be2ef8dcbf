/*
 * daemon.h - all that runs, in one place.  watch.h comes with it.
 */
#ifndef TNFWATCH_DAEMON_H
#define TNFWATCH_DAEMON_H

#include <limits.h>

#include "common/map.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"

/*
 * The taker attaches to processes.
 *
 * It is a process of its own, small and quick.  It looks for processes that the
 * configuration means, at its start and whenever a program is executed.  For each it has a
 * child that attaches to the process, gives it a trace file, switches on its probes and lets
 * it go.  A child that hangs or fails disturbs no other; if tnfwatch is killed, children
 * complete their process first.  Results come as messages over a socket.
 */
enum taker_what {
	TAKER_TAKEN,		/* it has the trace file 'path', or none: "" */
	TAKER_FAILED,		/* 'detail' says why */
	TAKER_ENDED,		/* 'status' as of wait(2) */
	TAKER_SCANS,		/* new processes are found by scanning: 'detail' */
	TAKER_READY		/* all that were there at the start have been tried */
};

struct taker_report {
	enum taker_what what;
	pid_t	 pid;
	int	 status;
	bool	 told;		/* of TAKER_TAKEN: it says so itself */
	unsigned process;	/* of the configuration, by its number */
	char	 comm[64];
	char	 path[512];
	char	 detail[512];	/* of TAKER_TAKEN: what could not be had of it; or "" */
	struct enabled probes;	/* that are on */
};

struct taker {
	pid_t	 pid;
	int	 fd;		/* a struct taker_report comes with each recv() */
};

/* True if the section means this process. */
bool taker_means(const struct config_process *, pid_t);
/* Starts a taker.  0 or an errno. */
int taker_start(struct taker *, const struct config *);
/* The taker ends when its children have; this function does not wait. */
void taker_stop(struct taker *);

/*
 * Events that are younger than this wait for the next look.  If an event follows from another one,
 * the other was committed before it, and is seen by each look that begins later than the event,
 * whichever block it reads first.  So the wait is only for clocks of CPUs that differ, and for an
 * event in whose middle its thread was interrupted: nothing has followed from that one yet.
 */
#define DELAY_NS	MS
#define TICK_MS		100
#define TICK_QUICK_MS	2	/* and one for each source, while events come */

/*
 * One stall, from its first trigger to the end of what follows.
 */
#define FIRINGS_MAX	200	/* that one incident remembers */

struct firing {
	char	*trigger;
	int64_t	 time;		/* monotonic */
	int64_t	 began;		/* monotonic: when what fired began; or time */
	int64_t	 noticed;	/* monotonic: when tnfwatch learned of it */
	char	*source;	/* NULL: of no one source */
	char	*reason;
	char	*note;		/* from outside; or NULL */
	char	*event;		/* JSON; NULL: there is none */
	char	*trace;		/* of OpenTelemetry, in hexadecimal; NULL: not told */
	bool	 asked;		/* by another machine: it is no trigger's */
};

struct window {
	bool	 open;
	char	*id;		/* of the incident: the name of its directory */
	int64_t	 until;		/* monotonic: what follows is complete then */
	struct firing firing[FIRINGS_MAX];	/* the first one opened it */
	size_t	 n_asked;	/* of them are no triggers' */
	size_t	 n;
	uint64_t more;		/* that it does not remember */
	int64_t	 mono_to_wall;	/* for all its times */
	bool	 resumed;	/* of a tnfwatch that was killed: first all is taken up again */
};

/* Adds a firing; strings are copied. */
void window_add(struct window *, const char *trigger, const struct trigger_firing *,
    const char *source, const char *note);
/* The same for a question of another machine. */
void window_add_question(struct window *, const char *name, const struct trigger_firing *,
    const char *question);
/* The first firing of a trigger, whose commands are run; NULL: there are only questions. */
const struct firing *window_trigger(const struct window *);
void window_clear(struct window *);

/*
 * A killed tnfwatch leaves a note of each incident that was not whole.  The next tnfwatch opens
 * a window for what the notes say: the rings still hold what led to it.
 */
/* Leaves the note of a window that has a new firing. */
void window_note(const struct config *, const struct window *);
/* Removes the note: the incident is whole, or lost for a reason that has been said. */
void window_note_done(const struct config *, const char *id);

/* Calls fn() for each firing in the notes of this boot whose incident nobody has made or makes,
   and removes all notes.  "source" and "event" may be NULL. */
void window_notes_left(const struct config *,
    void (*fn)(void *arg, const struct firing *), void *arg);
/* Adds a firing that a note had; 'reason' takes the place of its own. */
void window_add_again(struct window *, const struct firing *, const char *reason);

/* How often a trigger has fired, and what came of it. */
struct trigger_counts {
	unsigned passed;	/* firings since the last one that counted, with "every" */
	uint64_t fired;
	uint64_t incidents;
	uint64_t suppressed;	/* for its limit, "once" or "same_cause" */
	struct map causes;	/* an int64_t: when its last incident began, with "same_cause" */
	int64_t	*begun;		/* of the last limit_n incidents, a ring */
	uint64_t n_begun;
};

/* A child that writes an incident. */
struct writer {
	pid_t	 pid;
	char	*id;
	int64_t	 first;		/* monotonic: of its first trigger */
	char	*trigger, *when;	/* the trigger's name and condition; or NULL */
	bool	 page;		/* it is to have a page ... */
	int64_t	 from, until;	/* ... of this time, monotonic */
	int64_t	 began;		/* monotonic: when what fired began */
};
#define WRITERS_MAX	8

/* A child that answers other machines (fleet.c). */
struct agent {
	pid_t	 pid;		/* 0: none */
	int64_t	 begun;		/* monotonic */
	int64_t	 retry;		/* monotonic: not again before that */
	int64_t	 wait;		/* between two starts of one that ends by itself */
	int64_t	 end;		/* it was told to end, and is killed then; 0: not told */
};

/* A child that asks other machines (fleet.c). */
struct asker {
	pid_t	 pid;		/* 0: none */
	int64_t	 until;		/* monotonic: it is killed then */
	char	*text;		/* as in the configuration */
	char	*to;		/* the directory */
};
#define ASKERS_MAX	4

/* Rings of programs that ended before they were attached to (start.c). */
struct short_rings {
	struct map dropped;	/* by path, an int64_t: up to when a ring was watched that is
				   there still, and was not to be watched any more */
#define SHORT_ENDED	256	/* processes whose end is remembered */
	struct { pid_t pid; int status; int64_t time; } ended[SHORT_ENDED];	/* a ring */
	unsigned n_ended;
	uint64_t removed;	/* before their time, as there were too many */
	int64_t	 look;		/* monotonic: the next one */
};

struct daemon {
	struct config *config;
	struct trigger_engine *engine;
	struct trigger_counts *counts;	/* by trigger */
	struct source *sources;
	struct taker taker;
	struct window window;
	struct writer writer[WRITERS_MAX];
	struct agent agent;
	struct asker asker[ASKERS_MAX];
	struct reports reports;
	struct short_rings short_rings;
	struct {
		struct enabled probes;	/* that are on for a time ... */
		int64_t	 until;		/* ... up to then, monotonic */
	} more;
	struct {
		pid_t	 pid;	/* a child that freezes it; 0 or less: none */
		const struct source *source;	/* may have gone */
	} freezer;
	int64_t	 started;	/* monotonic */
	int64_t	 fed;		/* up to when all has been fed */
	int64_t	 look_long, look_late;	/* the longest tick; the most by which one began late */
	struct webhook *webhook;	/* NULL: none */
	int	 epoll, signals, lock, lock_run, control;
	int	 start;		/* the lock of what programs that start are told; or -1 */
	uint64_t numbers;	/* that incidents have got so far */
	uint64_t not_taken, written, failed;
	char	 scans[256];	/* why new processes are looked for by scanning */
	char	 refused[256];	/* what was said last of one that could not be taken */
	char	 kernel_why[256];	/* why the kernel is not watched */
	int64_t	 kernel_retry, taker_retry, directories_look;
	bool	 ready, stop;
};

/* Fires a trigger from outside; false: there is none of that name. */
bool daemon_fire(struct daemon *, const char *name, int64_t time, const char *note);
/* Keeps all present history for a question of another machine, in the incident that is open
   or in a new one. */
void daemon_pin(struct daemon *, const char *question);

/* daemon.c, for the other half. */
void trigger_counts_free(struct trigger_counts *);
struct trigger_engine *daemon_engine(struct daemon *, const struct config *);
void daemon_watch_fd(struct daemon *, int fd);
/* Must be called before 'fd' is closed: as long as a child has the file too, epoll would report
   on it, under a number that another file may have by then. */
void daemon_unwatch_fd(struct daemon *, int fd);
/* metrics.c: CPU seconds of RUSAGE_SELF or of the children that have ended; those of all children;
   the text that Prometheus reads. */
double cpu_seconds(int who);
double cpu_children(const struct daemon *);
void metrics_put(const struct daemon *, FILE *);

/* self.c: tells the journal of an incident that is kept at the path, if it is to be told. */
void journal_incident(const struct config *, const struct window *, const char *path);

/* Opens the webhook as the configuration has it, and closes the old one. */
void daemon_webhook(struct daemon *);
/* Makes the directories that are not there; false: a message says which cannot be made. */
bool directories_make(const struct config *);
void daemon_ready(struct daemon *);	/* tells systemd, once */
/* When the window that is open is to be written; INT64_MAX: not before a writer ends, or
   there is none. */
int64_t daemon_window_due(const struct daemon *);
/* The section of the trigger that opened the window; NULL: there is none. */
const struct config_trigger *daemon_window_section(const struct daemon *);

/* daemon-sources.c */
/* The daemon owns the source from now on; events before 'from' fire nothing. */
void daemon_source_add(struct daemon *, struct source *, int64_t from);
/* Removes the source to which *at points from the list. */
void daemon_source_drop(struct daemon *, struct source **at);
void daemon_sources_begin(struct daemon *);
void daemon_sources_poll(struct daemon *, int64_t now, int64_t until);
void daemon_sources_care(struct daemon *, int64_t now);
void daemon_sources_end(struct daemon *);
void daemon_taker(struct daemon *);	/* it has something to tell */
void daemon_process_ended(struct daemon *, int pidfd);
int64_t daemon_due(const struct daemon *, int64_t now);	/* the next tick */
/* Tells programs that start what the configuration wants of them. */
void daemon_start_tell(struct daemon *);
/* Reads the configuration again; with a mistake the old one stays. */
void daemon_reload(struct daemon *);

/* start.c: a program of a section with from_start makes its ring itself.  If it ends
   before it is attached to, the ring is found by its name. */
void daemon_short_begin(struct daemon *);
void daemon_short_end(struct daemon *);
/* Looks for such rings, once a second. */
void daemon_short_care(struct daemon *, int64_t now);
/* To be called when a process has ended with this status. */
void daemon_short_ended(struct daemon *, pid_t, int status);
/* To be called when the taker has attached to the source's process after all. */
void daemon_short_taken(struct source *, const struct taker_report *);
/* To be called when a source goes and its ring is not removed. */
void daemon_short_dropped(struct daemon *, const struct source *);
/* The time from which on the source's events fire: 'from', or later. */
int64_t daemon_short_from(const struct daemon *, const struct source *, int64_t from);

/* control.c: the daemon answers requests (watch.h). */
/* The socket, or -1 and errno. */
int control_open(const struct config *);
/* Takes one connection and answers it; gives up a slow client. */
void control_serve(struct daemon *, int socket);

/* fleet.c: processes of tnffleet.  The NATS library has threads, and messages from the network
   may be hostile: in processes of their own, neither can harm the process that holds
   the rings. */
/* Starts the agent where the configuration has [fleet], and again when it has ended; kills
   askers that take too long. */
void fleet_care(struct daemon *, int64_t now);
void fleet_child_ended(struct daemon *, pid_t, int status);	/* any child */
/* To be called when the configuration has been read again: another [fleet] gets a new agent. */
void fleet_reload(struct daemon *, const struct config *before);
/* The agent has ended when this returns, which takes at most about a second. */
void agent_stop(struct daemon *);
/* Starts an asker for d->window if its trigger asks others, and returns a descriptor.  The asker
   begins when asker_go() is called with the descriptor, and ends if the descriptor is closed
   before; -1: there is no asker. */
int asker_start(struct daemon *);
void asker_go(int);
void asker_stop(struct daemon *);	/* all of them */

/* start.c: tells programs that start, before they are attached to.  The text "start" in the
   directory 'run' says which programs are meant, with which probes, by the sections that
   have from_start.  libtnfprobe reads the text at the start of a program
   (libtnfprobe/auto-watch.c), and follows it only as long as its writer holds its lock. */
/* True if a section has from_start. */
bool start_is_asked(const struct config *);
/* Writes the text, and replaces an earlier one.  Returns the descriptor that holds the lock
   until it is closed; -1: errno says why not, and no program is told anything. */
int start_tell(const struct config *);
void start_end(const struct config *);
/* True if the text is there, and somebody has its lock. */
bool start_is_told(const struct config *);
/* A program that was told so makes its ring before main().  If we attached to it before that, we
   would give it another ring, and it would leave its probes to us.  So this waits until the
   program has its ring in that directory with its probes on, or gets none: it lacks the
   library, or has gone on without a ring.  Waits a twentieth of a second at most. */
void starting_wait(pid_t, const char *rings);

/* self.c */
/* Makes the source of our own trace; NULL: there is none, which has been said. */
struct source *self_begin(const struct config *);
void self_mark(const char *text, const char *by);
void self_fired(const char *trigger, const struct trigger_firing *);
/* Tells systemd "READY=1", "RELOADING=1" ...; without systemd nothing happens. */
void notify(const char *text);
/* RELOADING=1 with the time that systemd wants with it. */
void notify_reloading(void);
/* How often "WATCHDOG=1" is wanted, in ns; 0: it is not. */
int64_t notify_watchdog(void);

/* action-do.c: does the actions ("then") of the text; the firing is the first of the window's, of
   this source or of none.  NULL: there are no actions. */
void actions_do(struct daemon *, const char *text, struct source *);
/* To be called when any child has ended. */
void actions_child_ended(struct daemon *, pid_t, int status);
/* Switches off what was on for a time that is over. */
void actions_care(struct daemon *, int64_t now);

#endif /* TNFWATCH_DAEMON_H */
