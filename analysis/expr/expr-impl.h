/*
 * expr-impl.h - what the parts of the expression language share.
 */
#ifndef ANALYSIS_EXPR_EXPR_IMPL_H
#define ANALYSIS_EXPR_EXPR_IMPL_H

#include "analysis/expr/expr.h"
#include "analysis/match.h"

enum expr_op {
	/* Leaves. */
	EXPR_LITERAL, EXPR_NAME, EXPR_MEMBER, EXPR_VARIABLE,
	/* Of a member: .NAME and [NUMBER]. */
	EXPR_FIELD, EXPR_INDEX,
	/* Operators. */
	EXPR_HAS, EXPR_NOT, EXPR_NEGATE, EXPR_COMPLEMENT,
	EXPR_OR, EXPR_AND,
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_MATCH, EXPR_NOMATCH, EXPR_IN,
	EXPR_BITOR, EXPR_BITXOR, EXPR_BITAND, EXPR_SHL, EXPR_SHR,
	EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MOD,
	EXPR_LIST		/* element of "in": left, then right */
};

/* What an event has besides members; expr-names.c has the table. */
enum expr_name {
	EXPR_N_PROBE, EXPR_N_KEY, EXPR_N_KEYS, EXPR_N_FILE, EXPR_N_LINE,
	EXPR_N_PID, EXPR_N_LWPID, EXPR_N_TID, EXPR_N_CPU, EXPR_N_COMM, EXPR_N_HOST,
	EXPR_N_PROGRAM, EXPR_N_CGROUP,
	EXPR_N_TIME, EXPR_N_ELAPSED, EXPR_N_KERNEL
};

enum expr_class { EXPR_ANY, EXPR_NUMBER, EXPR_TEXT };

#define EXPR_NONE (-1)

struct expr_node {
	enum expr_op	 op;
	int		 left, right;	/* indices of nodes, or EXPR_NONE */
	int		 cache;		/* index in expr_row.fixed, or NONE */
	bool		 fixed;		/* depends on the probe alone */
	bool		 is_call;	/* a member whose name other members tell */
	enum expr_class	 class;
	size_t		 column;
	struct val	 value;		/* EXPR_LITERAL */
	unsigned	 name;		/* enum expr_name; index in names[] */
	struct match	*match;		/* EXPR_MATCH, EXPR_NOMATCH */
	/* EXPR_FIELD: where it was found the last time. */
	const struct tnf_type *seen_type;
	unsigned	 seen_index;
};

/* What is known about a probe. */
struct expr_row {
	int	     verdict;	/* of expr_true(); -1: ask the event */
	int	     root;	/* what is left to ask the event: this node */
	bool	     compares;	/* that is a member compared with a whole number */
	struct val  *fixed;	/* by expr_node.cache */
	int	     slots[];	/* by member name; -1: it has none */
};

struct expr {
	const struct expr_source *source;
	struct expr_node *nodes;
	unsigned	  n_nodes, max_nodes;
	int		  root;
	char		**names;	/* of members asked for, and fields */
	unsigned	  n_names;
	char		**strings;	/* literals */
	unsigned	  n_strings;
	unsigned	  n_cached;
	struct expr_row	**rows;		/* by probe id */
	unsigned	  n_rows;
};

/* expr-names.c */
struct expr_name_row {
	const char	*text;
	enum expr_name	 name;
	enum expr_class	 class;
	bool		 fixed;
};
const struct expr_name_row *expr_name_find(const char *text, size_t len);
struct val expr_name_value(const struct expr *, enum expr_name,
    const struct tnf_probe *, const struct tnf_event *);

/* expr-ops.c */
struct val expr_binary(enum expr_op, const struct val *, const struct val *);
struct val expr_negate(const struct val *);
struct val expr_complement(const struct val *);

/* expr-eval.c: marks what depends on the probe alone. */
void expr_prepare(struct expr *);

#endif
