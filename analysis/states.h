/*
 * states.h - the microstates of each thread, and their durations.
 *
 * All events are fed in order of time.  States come from thread_state, thread_create and
 * thread_exit.  A syscall_start is taken as the thread's entry to the state SYSTEM, a
 * syscall_end as its return to USER, since the kernel's probes write no thread_state for
 * these.  If the trace does not tell that a thread left its CPU, an event of another thread
 * there does.  Where tracepoints of interrupts and softirqs are in the trace, the time that these
 * take from a thread is a state of its own, INTERRUPT, after which the thread is in the state
 * that it was in before.
 */
#ifndef ANALYSIS_STATES_H
#define ANALYSIS_STATES_H

#include <tnf/stream.h>

#define STATES_COUNT		11	/* tnf_microstate: 0 USER .. 9 STOPPED; and this one: */
#define STATES_INTERRUPT	10u
#define STATES_THREADS_MAX	(1u << 20)	/* more threads are not followed */

/* A thread was in a state from start on. */
struct state_span {
	uint32_t id;		/* of the thread, from 1: task addresses are used again */
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

/* Called for each change of a stream that does not end: the thread enters span->state
   ('left' is false, duration 0) or leaves it.  Its pid and lwpid are 0 if they are not
   known yet.  *user is the client's, NULL at first and after 'left'. */
typedef void state_change_fn(void *arg, const struct state_span *, bool left,
    void **user);

/* A number for the thread's row in a viewer: its own, or else one that no
   thread has.  Below 1 << 31. */
static inline uint32_t
state_row(const struct state_span *s)
{
	return s->lwpid != 0 ? s->lwpid & 0x7fffffff : 1u << 30 | s->id;
}

/* Is this the name of a tracepoint where an interrupt or softirq begins (1) or ends (-1)?  The
   interrupted thread writes its events: on x86-64 those of the vectors, elsewhere the handlers'. */
int states_interrupt(const char *name);
const char *state_name(unsigned state);	/* "USER"; "?" beyond the table */

/* Calls 'span' for each span that has ended, in no order of time.  Spans of a thread whose
   numbers are not known yet are passed later. */
struct states *states_new(state_span_fn *span, void *arg);
/* For a stream that does not end: tells changes as they happen, and remembers 'max'
   threads; those that have ended are forgotten first, then those seen first. */
struct states *states_new_endless(state_change_fn *, void *arg, size_t max);
/* Forgets all states, because events may have been lost. */
void states_forget(struct states *);
/* The present state of the thread at this address; false: not known, or in no state. */
bool states_now(const struct states *, uint64_t tid, struct state_span *);
/* Passes only spans of threads chosen by states_choose(), earlier spans included. */
void states_sieve(struct states *);
/* Chooses the thread that wrote this event. */
void states_choose(struct states *, const struct tnf_event *);
/* Cuts spans to the time from 'from' to 'to'. */
void states_window(struct states *, int64_t from, int64_t to);
/* Returns the id of the thread that wrote the event; 0: none. */
uint32_t states_feed(struct states *, const struct tnf_event *);
/* Ends every open span at the time of the last event, and frees. */
void states_end(struct states *);

#endif
