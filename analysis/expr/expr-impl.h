/*
 * expr-impl.h - declarations shared by the parts of the expression language.
 */
#ifndef ANALYSIS_EXPR_EXPR_IMPL_H
#define ANALYSIS_EXPR_EXPR_IMPL_H

#include "analysis/expr/expr.h"
#include "analysis/match.h"

enum expr_op {
	/* Leaves. */
	EXPR_LITERAL, EXPR_NAME, EXPR_MEMBER, EXPR_VARIABLE,
	/* Parts of a member: .NAME and [NUMBER]. */
	EXPR_FIELD, EXPR_INDEX,
	/* Operators. */
	EXPR_HAS, EXPR_WITHIN, EXPR_PROGRAM, EXPR_NOT, EXPR_NEGATE, EXPR_COMPLEMENT,
	EXPR_OR, EXPR_AND,
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_MATCH, EXPR_NOMATCH, EXPR_IN,
	EXPR_BITOR, EXPR_BITXOR, EXPR_BITAND, EXPR_SHL, EXPR_SHR,
	EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MOD,
	EXPR_LIST		/* element of "in": left, then right */
};

/* Names of an event's properties other than members; expr-tree.c has the table. */
enum expr_name {
	EXPR_N_PROBE, EXPR_N_KEY, EXPR_N_KEYS, EXPR_N_FILE, EXPR_N_LINE,
	EXPR_N_PID, EXPR_N_LWPID, EXPR_N_TID, EXPR_N_CPU, EXPR_N_COMM, EXPR_N_HOST,
	EXPR_N_PROGRAM, EXPR_N_CGROUP,
	EXPR_N_TIME, EXPR_N_ELAPSED, EXPR_N_KERNEL, EXPR_N_DURATION,
	EXPR_N_TRACE, EXPR_N_SPAN, EXPR_N_OPERATION, EXPR_N_SYSCALL
};

enum expr_class { EXPR_ANY, EXPR_NUMBER, EXPR_TEXT };

#define EXPR_NONE (-1)

struct expr_node {
	enum expr_op	 op;
	int		 left, right;	/* indices of nodes, or EXPR_NONE */
	int		 cache;		/* index in expr_row.fixed, or NONE */
	bool		 fixed;		/* depends on the probe alone */
	bool		 is_thread;	/* a member that may be the address of a thread */
	bool		 is_call;	/* a member whose value's name depends on other members */
	enum expr_class	 class;
	size_t		 column;
	struct val	 value;		/* EXPR_LITERAL */
	unsigned	 name;		/* enum expr_name; index in names[] */
	struct match	*match;		/* EXPR_MATCH, EXPR_NOMATCH */
	/* EXPR_FIELD: the type and index where the field was found last. */
	const struct tnf_type *seen_type;
	unsigned	 seen_index;
};

/* The results of an expression for a probe. */
struct expr_row {
	int	     verdict;	/* of expr_true(); -1: ask the event */
	int	     root;	/* node to evaluate for each event */
	/* If that node compares a member with a whole number: for which orders of the two it holds,
	   bits for less, equal, more; 0: it does not. */
	unsigned     holds;
	unsigned     member;
	int64_t	     number;
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
	unsigned	  n_within;
	struct expr_row	**rows;		/* by probe id */
	unsigned	  n_rows;
};

/* expr-tree.c */
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

/* expr-eval.c: marks the nodes that depend on the probe alone. */
void expr_prepare(struct expr *);

enum expr_token {
	EXPR_T_END, EXPR_T_ERROR, EXPR_T_NUMBER, EXPR_T_STRING, EXPR_T_REGEX,
	EXPR_T_NAME, EXPR_T_OPEN, EXPR_T_CLOSE, EXPR_T_COMMA, EXPR_T_DOT,
	EXPR_T_LEFT, EXPR_T_RIGHT,	/* [ ] */
	EXPR_T_OR, EXPR_T_AND, EXPR_T_NOT, EXPR_T_IN, EXPR_T_HAS,
	EXPR_T_TRUE, EXPR_T_FALSE, EXPR_T_NULL,
	EXPR_T_EQ, EXPR_T_NE, EXPR_T_LE, EXPR_T_LT, EXPR_T_GE, EXPR_T_GT,
	EXPR_T_MATCH, EXPR_T_NOMATCH,
	EXPR_T_BITOR, EXPR_T_BITXOR, EXPR_T_BITAND, EXPR_T_COMPLEMENT,
	EXPR_T_SHL, EXPR_T_SHR,
	EXPR_T_PLUS, EXPR_T_MINUS, EXPR_T_STAR, EXPR_T_SLASH, EXPR_T_PERCENT
};

struct expr_lex {
	const char	*text;
	const char	*next;		/* behind the current token */
	enum expr_token	 token;
	const char	*start;		/* of the current token */
	size_t		 len;
	struct val	 number;	/* EXPR_T_NUMBER */
	char		*string;	/* EXPR_T_STRING, REGEX: to be freed */
	size_t		 string_len;
	bool		 ignore_case;	/* /.../i */
	const char	*wrong;		/* EXPR_T_ERROR */
};

/* 'regex': a slash here starts a regular expression. */
void expr_lex_next(struct expr_lex *, bool regex);

/*
 * After the first mistake 'failed' is set: the parser reads no further words and makes no
 * nodes.
 */
struct parser {
	struct expr		*e;
	struct expr_lex		 lex;
	struct expr_error	*error;
	bool			 failed;
	unsigned		 depth;
};

/* Reports a mistake; returns EXPR_NONE. */
__attribute__((format(printf, 3, 4)))
int parse_fail(struct parser *, size_t column, const char *fmt, ...);
int parse_expected(struct parser *, const char *what);

size_t parse_column(const struct parser *);	/* of the current word */
void parse_next(struct parser *, bool regex);
bool parse_accept(struct parser *, enum expr_token);

/* These return the index of a node, or EXPR_NONE. */
int parse_node(struct parser *, enum expr_op, int left, int right,
    size_t column);
int parse_literal(struct parser *, struct val, size_t column);
int parse_string(struct parser *);		/* the current word */
unsigned parse_intern(struct expr *, const char *text, size_t len);

#endif
