/*
 * source.h - one thing that is watched: a process, a file, the kernel.
 *
 * When one source ends, cannot be read or holds wrong data, the others are watched as
 * before.
 */
#ifndef TNFWATCH_SOURCE_H
#define TNFWATCH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "tnfwatch/trigger.h"

struct config;
struct enable;
struct enabled;
struct history;
struct kp;

enum source_kind { SOURCE_PROCESS, SOURCE_FILE, SOURCE_KERNEL };

struct source {
	struct source *next;
	struct source *const *all;	/* the list that it is in */
	enum source_kind kind;
	char	*name;		/* of its section; "kernel" */
	char	*id;		/* "shop-4711", "kernel": names of files begin so */
	char	 comm[64];
	pid_t	 pid;		/* 0: none */
	int	 pidfd;		/* or -1 */
	bool	 ours;		/* the file was made by us and goes with the source */
	bool	 told;		/* that it writes this file the process says itself */
	bool	 frozen;	/* its recording was ended: it is no wonder that no events come */

	bool	 by_kernel;	/* its probes, or some of them, are recorded by the kernel */
	char	*path;		/* of the trace file; "": it has none; NULL: the kernel */
	int	 fd;		/* of it, or -1 */
	struct kp *kp;
	const unsigned char *base;	/* mapped; NULL: not yet */
	size_t	 size;
	uint64_t most;		/* bytes that its buffer may have, the kernel's any number */
	char	*probes;	/* that are on: names with a newline behind each */
	int64_t	 opened;	/* monotonic */
	int64_t	 fires_from;	/* earlier events fire nothing */
	int64_t	 retry;		/* when the file is looked for again */

	tnf_stream_t *stream;	/* NULL: nothing recorded so far */
	struct tnf_file *file;
	struct trigger_engine *engine;
	struct trigger_source *trigger;
	struct history *history;
	struct channel *channel;	/* NULL: there is none */

	uint64_t events;	/* found */
	bool	 chosen;	/* which of them are read, by source_choose() ... */
	bool	 fed;		/* ... as the triggers have had one */
	bool	 lapped;	/* blocks were overwritten unread before the last look */
	int64_t	 rest;		/* it is looked at again then */
	uint64_t missed;	/* blocks that were overwritten before we saw them */
	uint64_t lost;		/* events, by the writer's own count */
	int64_t	 busy;		/* ns that we have spent on it */
	double	 rate;		/* events a second, lately */
	uint64_t rate_events;
	int64_t	 rate_time;

	uint64_t short_bytes;	/* of the ring of one that ended before it was attached to; 0: it is
				   none */
	int64_t	 ended;		/* when the process did; 0: it lives */
	int64_t	 polled;		/* for events, the last time */
	int64_t	 seen;			/* when there were events the last time */
	int	 status;	/* as of wait(2); -1: not known */
	bool	 ended_told;	/* to the triggers */
	char	*context;	/* what tnf(5) calls so, as of the last look */
	size_t	 context_size;
	int64_t	 context_time;
	bool	 unwanted;	/* the configuration has it no more: it goes when no incident
				   needs it */
	char	 broken[200];	/* why it is read no more; "": it is */
};

struct source *source_process(const char *name, pid_t, const char *comm, const char *path,
    bool ours);
/* A source for a process that has ended: another process may have its number now. */
struct source *source_process_ended(const char *name, pid_t, const char *path, bool ours);
struct source *source_file(const char *name, const char *path);
/* A source for the kernel's buffer; NULL: 'why' says why there is none. */
struct source *source_kernel(char *why, size_t size);
void source_delete(struct source *);

/* The name of the event's thread or process, until the next call; NULL: unknown. */
const char *source_comm(const struct source *, const struct tnf_event *);

/* Sets the engine that the source feeds from now on. */
void source_engine(struct source *, struct trigger_engine *);

/* Feeds the engine with the events up to 'until' that were not fed before. */
void source_poll(struct source *, int64_t until);

/* The time (monotonic ns) from which on the trace file has all events; false: it has
   none.  This is cheap: it looks only at the beginnings of blocks. */
bool source_reach(const struct source *, int64_t *since);

/* The same with the segments of its history. */
bool source_since(const struct source *, int64_t *since);

/* True if ring and history together have all events that were ever written. */
bool source_is_whole(const struct source *);

/* When (monotonic) and why the recording of the source was ended; false: it was not. */
bool source_frozen(const struct source *, int64_t *time, char *why, size_t size);

/* Notes the context of the source, which the machine cannot tell when the source has ended. */
void source_note_context(struct source *);

/* source-write.c, kernel-write.c: writes the trace file of an incident into the empty file
   'fd', without the blocks that are in segments.  0, an errno, or ENODATA: nothing has been
   recorded. */
int source_write(struct source *, int fd);
int kernel_write(const struct source *, int fd);

/* source.c: from now on, a file that is cut short while it is mapped breaks its source. */
void sigbus_catch(void);

/* kernel.c: makes the kernel's buffer if there is none, switches on the probes that are
   configured, and tracing.  Probes that are on stay on.  Adds the probes; false: 'why' says
   why not.  was_filtered: an earlier configuration has set a filter of processes. */
bool kernel_set_up(const struct config *, bool was_filtered, struct enabled *, char *why, size_t size);
/* Switches on the probes that are meant and off, and adds them; switches off these. */
bool kernel_more(const struct enable *, struct enabled *probes, char *why, size_t size);
bool kernel_less(struct enabled *probes, char *why, size_t size);
/* Maps the buffer until kernel_unmap(); the buffer cannot be removed before that.  NULL: 'why' says why
   not. */
struct kp *kernel_map(const void **base, size_t *bytes, char *why, size_t size);
void kernel_unmap(struct kp *);		/* NULL is fine */
/* Ends the recording of the kernel for a reason; false: 'why' says why not. */
bool kernel_freeze(const char *reason, char *why, size_t size);
bool kernel_frozen(struct kp *, int64_t *time, char *why, size_t size);
bool kernel_lost(struct kp *, uint64_t *ret);	/* events */
/* Writes the numbers of lost events into the header of a copy, by reason; 0 or an errno. */
int kernel_put_lost(struct kp *, int fd);
bool kernel_reach(struct kp *, int64_t *since);	/* from when on it has everything */

/*
 * leftover.c: files that an earlier tnfwatch has left.  If the machine went down while a tnfwatch
 * ran, leftover_begin() makes an incident of the segments and trace files that it left, and
 * removes files that are not needed.  It also notes that this tnfwatch runs.
 */
void leftover_begin(const struct config *);
/* Notes that this tnfwatch ends in order: the machine has not gone down. */
void leftover_end(const struct config *);
/* Calls fn for the ring of each process that has ended while no tnfwatch ran, if wants() says
   so; rings of processes that live are taken up with the processes. */
void leftover_rings(const struct config *,
    bool (*wants)(void *arg, const char *path, const char *section),
    void (*fn)(void *arg, struct source *), void *arg);

#endif /* TNFWATCH_SOURCE_H */
