/*
 * cmd.h - what a command is, and the grammar that commands share.  The files cmd-*.c hold
 * one const struct a command: help, usage, reserved words and completion come from it.  <stdio.h>
 * and the headers that common/xalloc.h brings come with it.
 */
#ifndef PREX_CMD_H
#define PREX_CMD_H

#include <tnf/tnfctl.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "format/selector.h"

struct shell;

/* A growing list of strings, each freed with the list.  A NULL is behind the last one. */
struct strings {
	char	**v;
	size_t	n, size;
};

void	strings_add(struct strings *l, char *s);	/* takes s */
void	strings_sort(struct strings *l);		/* bytewise; drops doubles */
void	strings_free(struct strings *l);

/* Appends to s, which the call frees, or replaces it where it is "". */
char	*string_append(char *s, const char *between, const char *more);

/* Looks a word up in a NULL-ended list: exactly, or as an abbreviation. */
enum word_match { WORD_NONE, WORD_ONE, WORD_SEVERAL };
enum word_match word_find(const char *const *words, const char *text,
	    const char **ret);
/* The words that begin with text, as "a, b, c".  The caller frees it. */
char	*word_candidates(const char *const *words, const char *text);

/*
 * The attributes of probes, the values that they have in all probes, and what a
 * command selects by them.
 */

struct names;

/* The attributes of a probe.  The caller frees ret->funcs; the rest is the state's. */
void	attrs_of_probe(struct tnf_probe_attrs *ret, const tnfctl_probe_state_t *state,
	    const struct names *fcns);

/* The same with the slots of a probe that may be imported, which are found only when they are
   asked for; false: the probe is not there any more. */
bool	attrs_describe(struct shell *, tnfctl_probe_t *, struct tnf_probe_attrs *ret);

/* Names of attributes, or patterns for them. */
struct specs {
	size_t	n;
	struct tnf_spec *v;
};

bool	specs_match(const struct specs *l, const char *text);
void	specs_add(struct specs *l, struct tnf_spec s);	/* takes s */
void	specs_add_text(struct specs *l, const char *text, bool is_regex);
void	specs_free(struct specs *l);

void	selectors_print(const struct tnf_selectors *l);	/* "'a'=/v/ " for each */

struct value_list {
	char	*attr;
	struct strings values;
};

struct values {
	struct value_list *v;
	size_t	n;
};

/* Collects the values of the attributes whose names match; all are sorted bytewise. */
tnfctl_errcode_t values_collect(struct shell *, const struct specs *,
	    struct values *);
void	values_free(struct values *);

/* Warns of the selectors that no probe has matched, with a guess at the intended name.  'used'
   has a flag for each; warns of those of a set (NULL: none was named) only if none of them has
   matched. */
void	unmatched_tell(struct shell *, const char *command, const char *set,
	    const struct tnf_selectors *, const bool *used);
/* The same about attributes that no probe has. */
void	unmatched_attributes(struct shell *, const struct specs *);

/*
 * The tokens of one command, and a cursor on them.
 */
struct token {
	enum token_kind kind;
	char	*text;		/* as it was typed */
	char	*value;		/* without its $, &, quotes or slashes */
	long	number;		/* TOK_INT; -1: too big for an int */
	unsigned line;
};

/* Takes one token from the start of a line (which ends with a newline or a
   NUL).  Returns how many bytes it took, blanks before it included. */
size_t	lex(const char *s, struct token *tok);
void	token_free(struct token *tok);
/* True if it is this word of the language. */
bool	token_is_word(const struct token *, const char *word);

/* True if the text can be an attribute or a value without quotes. */
bool	lex_is_plain(const char *s);

struct statement {
	char	*source;	/* for messages */
	unsigned line;		/* where it begins */
	struct token *v;	/* n tokens and a TOK_END */
	size_t	n;
	size_t	next;
	char	*hint;		/* what may help at a syntax error, or NULL */
};

enum statement_read { STATEMENT_OK, STATEMENT_EOF };

/* Reads up to the end of a statement, over continued lines and the ends of
   sources; an empty line is a statement without tokens. */
enum statement_read statement_read(struct shell *, struct statement *);
void	statement_free(struct statement *);

const struct token *statement_peek(const struct statement *);
/* Takes the next token if it is of that kind. */
const struct token *statement_take(struct statement *, enum token_kind);
/* Replaces the hint, which is freed with the statement. */
void	statement_hint(struct statement *, char *hint);
bool	statement_at_end(const struct statement *);

enum {
	MODE_USER = 1,
	MODE_KERNEL = 2,
	MODE_BOTH = MODE_USER | MODE_KERNEL
};

/* Tells how the Tab key completes the text behind the command. */
enum complete {
	COMPLETE_NOTHING,
	COMPLETE_WORDS,		/* one of cmd->words */
	COMPLETE_TARGET,	/* a set, or selectors */
	COMPLETE_TRACE,		/* the same, and conditions */
	COMPLETE_FILTER,	/* a word, or a rule of the process filter */
	COMPLETE_CONNECT,	/* a function handle, and then a target */
	COMPLETE_CREATE,	/* a name, and then selectors */
	COMPLETE_NAME,		/* of a set or function */
	COMPLETE_LIST,
	COMPLETE_FILE,
	COMPLETE_HELP
};

/* Frames that events record of the kernel's stack and the program's. */
struct stack_depths {
	bool	asked;
	unsigned kernel, user;
};

/* The parsed rest of a command.  Strings live as long as the statement. */
struct args {
	const char *word;	/* one of cmd->words, whole; NULL: none given */
	const char *set;
	const char *fcn;
	const char *name;	/* a file, a symbol, a topic */
	const char *where;	/* conditions */
	bool	freezes;	/* what meets them ends the recording */
	const char *args;	/* names and types of arguments */
	struct stack_depths stacks;
	char	*rule;		/* of pfilter; freed with the other members */
	char	*text;		/* of mark and freeze; freed as well */
	char	*names;		/* of mark's numbers, with blanks between; freed as well */
	int64_t	*values;	/* theirs; freed as well */
	struct tnf_selectors *selectors;
	struct specs specs;
	const long *numbers;
	size_t	n_numbers;
};

enum cmd_result {
	CMD_DONE,		/* with or without shell_error() */
	CMD_CONTINUE,		/* let the target run */
	CMD_QUIT
};

struct cmd {
	const char *name;
	const char *usage;	/* the arguments, one line per form */
	const char *summary;	/* for the list of commands */
	const char *help;
	unsigned modes;
	const char *const *words;	/* reserved for its arguments */
	/* The name is no word of the language: selectors used it before there was the command. */
	bool	is_free;
	enum complete complete;
	/* False: a syntax error at the statement's current token.  NULL: nothing may follow. */
	bool	(*parse)(struct shell *, struct statement *, struct args *);
	enum cmd_result (*run)(struct shell *, const struct args *);
	/* In place of run: is called for each selected probe.  The last argument is the struct
	   probe_op of the command. */
	tnfctl_probe_op_t apply;
	bool	loads;		/* a process that is left alone gets libtnfprobe before */
};

extern const struct cmd *const cmds[];		/* NULL ends */
extern const char *const *const cmd_names;	/* the same; NULL ends */

const struct cmd *cmd_find(const char *name);
/* True if the word is part of the language, so that a selector has to quote it. */
bool	cmd_reserves(const char *word);

/*
 * Each of these takes its part of a command from the statement.  It returns false at a
 * syntax error: the statement's current token is the place.
 */
bool	parse_word(struct shell *, struct statement *, struct args *);
bool	parse_target(struct shell *, struct statement *, struct args *);
bool	parse_selectors(struct shell *, struct statement *, struct args *);
bool	parse_spec(struct shell *, struct statement *, struct args *);
bool	parse_numbers(struct statement *, struct args *);

/* The current token, whole or abbreviated, as one of the words; NULL if it is
   none, with a hint left in the statement. */
const char *parse_one_of(struct statement *, const char *const *words);

void	args_free(struct args *);

/* A command's file: a quoted name, or a word. */
bool	parse_file_name(struct shell *, struct statement *, struct args *);

/* Parses a statement and runs its command. */
enum cmd_result dispatch(struct shell *, struct statement *);

/* cmd-session.c: the topics of "help" besides commands.  NULL ends. */
extern const char *const *const topic_names;

#endif
