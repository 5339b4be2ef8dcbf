/*
 * daemon.h - all that runs, in one place.
 */
#ifndef TNFWATCH_DAEMON_H
#define TNFWATCH_DAEMON_H

#include <sys/types.h>

#include "tnfwatch/config.h"
#include "tnfwatch/daemon-short.h"
#include "tnfwatch/fleet.h"
#include "tnfwatch/report.h"
#include "tnfwatch/source.h"
#include "tnfwatch/taker.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/window.h"

#define DELAY_NS	INT64_C(15000000)	/* from an event's time until it is committed */
#define TICK_MS		100

/* What a trigger has done. */
struct trigger_state {
	uint64_t fired;
	uint64_t incidents;
	uint64_t suppressed;	/* for its limit or "once" */
	int64_t	*begun;		/* of the last limit_n incidents, a ring */
	uint64_t n_begun;
};

/* A child that writes an incident. */
struct writer {
	pid_t	 pid;
	char	*id;
	int64_t	 first;		/* monotonic: of its first trigger */
};
#define WRITERS_MAX	8

struct daemon {
	struct config *config;
	struct trigger_engine *engine;
	struct trigger_state *state;	/* by trigger */
	struct source *sources;
	struct taker taker;
	struct window window;
	struct writer writer[WRITERS_MAX];
	struct agent agent;
	struct asker asker[ASKERS_MAX];
	struct reports reports;
	struct short_rings short_rings;
	int64_t	 started;	/* monotonic */
	int64_t	 fed;		/* up to when all has been fed */
	struct webhook *webhook;	/* NULL: none */
	int	 epoll, signals, lock, lock_run, control;
	int	 start;		/* the lock of what programs that start are told; or -1 */
	uint64_t numbers;	/* that incidents have got so far */
	uint64_t taken, not_taken, written, failed;
	char	 scans[256];	/* why new processes are looked for by scanning */
	char	 refused[256];	/* what was said last of one that could not be taken */
	char	 kernel_why[256];	/* why the kernel is not watched */
	int64_t	 kernel_retry, taker_retry;
	bool	 ready, stop;
};

/* Fires a trigger from outside; false: there is none of that name. */
bool daemon_fire(struct daemon *, const char *name, int64_t time, const char *note);
/* Keeps all of now for a question of another machine, in the incident that is open or in
   a new one. */
void daemon_pin(struct daemon *, const char *question);
/* A mark in what is kept of now. */
void daemon_mark(struct daemon *, const char *text, const char *by);

/* daemon.c, for the other half. */
struct trigger_engine *daemon_engine(struct daemon *, const struct config *);
void daemon_watch_fd(struct daemon *, int fd);
/* Before it is closed: as long as a child has it too, it would be reported on, under a number
   that is another one's by then. */
void daemon_unwatch_fd(struct daemon *, int fd);
/* As the configuration has it; what is there goes. */
void daemon_webhook(struct daemon *);
void daemon_ready(struct daemon *);	/* tells systemd, once */
/* When the window that is open is to be written; INT64_MAX: not before a writer ends, or
   there is none. */
int64_t daemon_window_due(const struct daemon *);

/* daemon-sources.c */
/* It belongs to it from now on; events before 'from' fire nothing. */
void daemon_source_add(struct daemon *, struct source *, int64_t from);
/* The one that the list has there goes. */
void daemon_source_drop(struct daemon *, struct source **at);
void daemon_sources_begin(struct daemon *);
void daemon_sources_missing(struct daemon *);
void daemon_sources_poll(struct daemon *, int64_t now, int64_t until);
void daemon_sources_care(struct daemon *, int64_t now);
void daemon_sources_end(struct daemon *);
void daemon_taker(struct daemon *);	/* it has something to tell */
void daemon_process_ended(struct daemon *, int pidfd);
int64_t daemon_due(const struct daemon *, int64_t now);	/* the next tick */
/* Programs that start are told what the configuration wants of them. */
void daemon_start_tell(struct daemon *);
/* Reads the configuration again; with a mistake the old one stays. */
void daemon_reload(struct daemon *);

#endif /* TNFWATCH_DAEMON_H */
