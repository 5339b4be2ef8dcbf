/*
 * expr.h - the expression language of --where, statistics and templates.
 *
 * An expression is compiled once and evaluated for many events.  Parts that depend on the
 * probe alone (its name, keys, the presence of members) are evaluated when the probe is
 * first met; if these decide the result, nothing is read from the probe's events.
 * tnfexpr(5) has the language.
 */
#ifndef ANALYSIS_EXPR_EXPR_H
#define ANALYSIS_EXPR_EXPR_H

#include "analysis/value.h"

#define EXPR_TEXT_MAX	65536u	/* bytes of an expression */
#define EXPR_NODES_MAX	2048u
#define EXPR_DEPTH_MAX	100u	/* nested parentheses and the like */

struct expr;

/* How an expression reads events; a source outlives the expressions made with it.  The two
   readers are tnf_event_value() and tnf_value_item(). */
struct expr_source {
	bool	(*member)(const struct tnf_event *, unsigned,
		    struct tnf_value *);
	bool	(*item)(const struct tnf_file *, const struct tnf_value *,
		    unsigned, struct tnf_value *);
	/* The value of "$name"; a NULL function: there are no variables. */
	struct val (*variable)(void *variable_arg, const char *name);
	void	*variable_arg;
	/* The name of the event's process; NULL: unknown. */
	const char *(*comm)(void *arg, const struct tnf_event *);
	/* The name of the event's machine; a NULL function: "host" is a member's name. */
	const char *(*host)(void *arg, const struct tnf_event *);
	/* The path of the process's program, of the program of another process, and the
	   process's control group; a NULL function: unknown, too. */
	const char *(*program)(void *arg, const struct tnf_event *);
	const char *(*program_of)(void *arg, const struct tnf_event *, int32_t pid);
	const char *(*cgroup)(void *arg, const struct tnf_event *);
	/* The ids of the span of OpenTelemetry in which the event's thread is, or the event's own;
	   NULL: none.  A NULL function: "trace" and "span" are members' names. */
	const char *(*trace)(void *arg, const struct tnf_event *);
	const char *(*span)(void *arg, const struct tnf_event *);
	/* The innermost operation and the system call around the event; NULL: none.  want_around() is
	   called for an expression that asks.  NULL functions: "operation" and "syscall" are
	   members' names. */
	const char *(*operation)(void *arg, const struct tnf_event *);
	const char *(*syscall)(void *arg, const struct tnf_event *);
	void	(*want_around)(void *arg);
	/* The duration of what ends with the event, in ns; false: nothing ends, and the
	   word means the member.  A NULL function: "duration" is a member's name. */
	bool	(*duration)(void *arg, const struct tnf_event *, int64_t *ns);
	/* Whether the event is in a span that expr_within() asks for; a NULL function: there
	   is no within(). */
	bool	(*within)(void *arg, struct expr *, unsigned i, const struct tnf_event *);
	/* The name of the thread at a task's address in the member "tid"; or NULL. */
	const char *(*thread)(void *arg, const struct tnf_event *, uint64_t address);
	void	*arg;
	int64_t	 first;		/* time of the first event: "elapsed" */
};

struct expr_error {
	size_t	column;		/* from 0, in bytes */
	char	text[200];	/* "fact: remedy" */
};

/* Compiles an expression; NULL: *error says why not. */
struct expr *expr_new(const char *text, const struct expr_source *,
    struct expr_error *error);
void expr_free(struct expr *);

/* True if the expression holds; null (a missing member) counts as false. */
bool expr_true(struct expr *, const struct tnf_event *);

/* False if the expression cannot hold for any event of the probe. */
bool expr_possible(struct expr *, const struct tnf_probe *);

/* Forgets the probes, before those of another stream are used. */
void expr_forget(struct expr *);

/* The i-th member (from 0) that the expression reads; members named only by "has" do not
   count.  NULL: there are no more. */
const char *expr_member(const struct expr *, unsigned i);

/* True if the expression asks for durations. */
bool expr_asks_duration(const struct expr *);

/* The name of the pair of the i-th within(NAME, CONDITION), from 0; NULL: there are no more. */
const char *expr_within(const struct expr *, unsigned i);
/* True if the condition holds for the event, which begins such a pair. */
bool expr_within_holds(struct expr *, unsigned i, const struct tnf_event *);

struct val expr_eval(struct expr *, const struct tnf_event *);

/* Formats the text with a caret below the error, as lines of a message. */
void expr_error_format(const struct expr_error *, const char *text,
    char *buf, size_t size);

#endif
