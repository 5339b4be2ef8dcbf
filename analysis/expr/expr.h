/*
 * expr.h - the expression language of --where, statistics and templates.
 *
 * An expression is compiled once and asked about many events.  What depends
 * on the probe alone (its name, keys, which members it has) is worked out
 * when the probe is first met; where that decides the whole, nothing is read
 * from the probe's events.  tnfexpr(5) has the language.
 */
#ifndef ANALYSIS_EXPR_EXPR_H
#define ANALYSIS_EXPR_EXPR_H

#include <tnf/stream.h>

#include "analysis/value.h"

#define EXPR_TEXT_MAX	65536u	/* bytes of an expression */
#define EXPR_NODES_MAX	2048u
#define EXPR_DEPTH_MAX	100u	/* nested parentheses and the like */

struct expr;

/* How an expression gets at events; one outlives the expressions made with
   it.  The two readers are tnf_event_value() and tnf_value_item(). */
struct expr_source {
	bool	(*member)(const struct tnf_event *, unsigned,
		    struct tnf_value *);
	bool	(*item)(const struct tnf_file *, const struct tnf_value *,
		    unsigned, struct tnf_value *);
	/* "$name"; a NULL function: there are no variables. */
	struct val (*variable)(void *variable_arg, const char *name);
	void	*variable_arg;
	/* Name of the process; NULL: unknown. */
	const char *(*comm)(void *arg, const struct tnf_event *);
	/* Name of the machine; a NULL function: "host" is a member's name. */
	const char *(*host)(void *arg, const struct tnf_event *);
	/* Its program's path, its control group; a NULL function: unknown, too. */
	const char *(*program)(void *arg, const struct tnf_event *);
	const char *(*cgroup)(void *arg, const struct tnf_event *);
	void	*arg;
	int64_t	 first;		/* time of the first event: "elapsed" */
};

struct expr_error {
	size_t	column;		/* from 0, in bytes */
	char	text[200];	/* "fact: remedy" */
};

/* NULL: *error says why. */
struct expr *expr_new(const char *text, const struct expr_source *,
    struct expr_error *error);
void expr_free(struct expr *);

/* true: the expression holds.  Null (a missing member) does not. */
bool expr_true(struct expr *, const struct tnf_event *);

/* false: it does not hold for any event of the probe. */
bool expr_possible(struct expr *, const struct tnf_probe *);

/* Forgets the probes: those of another stream come. */
void expr_forget(struct expr *);

/* The members that it asks for and takes for granted ("has" does not), from
   i = 0 on; NULL: no more. */
const char *expr_member(const struct expr *, unsigned i);

struct val expr_eval(struct expr *, const struct tnf_event *);

/* Lines with the text and a caret below the error, for a message. */
void expr_error_format(const struct expr_error *, const char *text,
    char *buf, size_t size);

#endif
