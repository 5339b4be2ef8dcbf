/*
 * states.h - in which microstate each thread was, and for how long.
 *
 * Fed with all events in time order; looks at thread_state, thread_create and
 * thread_exit.  It also takes syscall_start as the thread's entry to the state SYSTEM and
 * syscall_end as its return to USER, since the kernel's probes write no thread_state for
 * these two changes.  That a thread has left its CPU may not be in the trace; it shows
 * when another one writes there.
 */
#ifndef ANALYSIS_STATES_H
#define ANALYSIS_STATES_H

#include <tnf/stream.h>

#define STATES_COUNT		10	/* tnf_microstate: 0 USER .. 9 STOPPED */
#define STATES_THREADS_MAX	(1u << 20)	/* more threads are not followed */

/* A thread was in a state from start on. */
struct state_span {
	uint32_t id;		/* of the thread, from 1 on: addresses of tasks
				   are used again */
	uint64_t tid;		/* address of the task */
	int32_t	 pid;		/* 0 and 0: the thread never wrote itself */
	uint32_t lwpid;
	unsigned state;
	int64_t	 start;
	int64_t	 duration;	/* ns */
	unsigned host;		/* of the file: tnf_file_host() */
};

typedef void state_span_fn(void *arg, const struct state_span *);

struct states;

/* What happens now, for who follows a stream that does not end: the thread enters
   span->state ('left' false, duration 0), or leaves it; its numbers are 0 if they are
   not known yet.  *user is the client's, NULL at first and after 'left'. */
typedef void state_change_fn(void *arg, const struct state_span *, bool left,
    void **user);

/* A number for the thread's row in a viewer: its own, or else one that no
   thread has.  Below 1 << 31. */
static inline uint32_t
state_row(const struct state_span *s)
{
	return s->lwpid != 0 ? s->lwpid & 0x7fffffff : 1u << 30 | s->id;
}

const char *state_name(unsigned state);	/* "USER"; "?" beyond the table */

/* span is called for each span that has ended, in no order of time.  A thread
   whose numbers come late gets its spans then. */
struct states *states_new(state_span_fn *span, void *arg);
/* For a stream that does not end: tells changes as they happen, and remembers 'max'
   threads; those that have ended are forgotten first, then those seen first. */
struct states *states_new_endless(state_change_fn *, void *arg, size_t max);
/* Nothing is known of any state: events may have been lost. */
void states_forget(struct states *);
/* The thread at this address as it is now; false: not known, or in no state. */
bool states_now(const struct states *, uint64_t tid, struct state_span *);
/* Spans of the threads alone that states_choose() names, also those from before. */
void states_sieve(struct states *);
/* The thread that wrote this event. */
void states_choose(struct states *, const struct tnf_event *);
/* Spans end and begin there, if they would later or earlier. */
void states_window(struct states *, int64_t from, int64_t to);
/* Returns the id of the thread that wrote the event; 0: none. */
uint32_t states_feed(struct states *, const struct tnf_event *);
/* Ends every open span at the time of the last event, and frees. */
void states_end(struct states *);

#endif
