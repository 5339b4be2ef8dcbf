/*
 * shell.h - the state of a session: its names, its messages, and the sources of its commands.
 * It brings what commands need: their grammar, what they do to probes, the target, and the headers
 * of the C library that most files of this room need.
 */
#ifndef PREX_SHELL_H
#define PREX_SHELL_H

#include <sys/queue.h>

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "common/proc.h"
#include "prex/cmd.h"
#include "prex/target.h"

/*
 * Enable, disable, trace, untrace, connect and clear, and the history of such
 * commands, which probes that come later get as well.
 */
struct shell;

struct probe_op {
	const char *name;	/* of the command */
	tnfctl_probe_op_t apply;
	char	*fcn, *symbol;	/* connect only */
	char	*where;		/* trace only; NULL: none */
	char	*args;		/* the same */
	struct stack_depths stacks;	/* the same */
	bool	freezes;	/* the same */
	struct tnf_selectors *selectors;
};

/* Runs a command that has 'apply': logs it and applies it. */
enum cmd_result probe_op_run(struct shell *, const struct cmd *, const struct args *);

/* Adds functions to the probes that selectors by "function" and "return" choose, or by the name
   that a function's probe would have.  tell: prints remarks about returns. */
void	functions_ask(struct shell *, const struct tnf_selectors *, bool tell);

/* Calls a function for each probe with its attributes, until one returns an error. */
typedef tnfctl_errcode_t probe_visit_f(struct shell *, tnfctl_handle_t *, tnfctl_probe_t *,
	    const struct tnf_probe_attrs *, void *);
tnfctl_errcode_t probes_visit(struct shell *, probe_visit_f *, void *);

struct history {
	struct probe_op *v;
	size_t	n;
	int64_t	ended;		/* when the latest of them had been applied; CLOCK_BOOTTIME */
};

/* From now on every new probe of the target, or of a child, gets the whole history. */
tnfctl_errcode_t history_follow(struct shell *, tnfctl_handle_t *);
/* Applies the history to the probes of a handle that is on another program now. */
tnfctl_errcode_t history_repeat(tnfctl_handle_t *);
/* Switches the probes of a child that was born before the latest command had been applied: its mother may have run
   meanwhile, with some probes as they were and others as they are. */
void	history_catch_up(struct shell *, tnfctl_handle_t *, pid_t child);
void	history_free(struct history *);

struct source;

struct name {
	TAILQ_ENTRY(name) entry;
	char	*name;		/* without the $ or & */
	struct tnf_selectors *selectors;	/* of a set */
	char	*symbol;	/* of a function */
};
TAILQ_HEAD(names, name);

/* Defines a set, which takes a reference, behind the others; an old one of that name goes. */
void	names_define_set(struct names *, const char *name, struct tnf_selectors *);
/* Defines a set that no user has made: "all", "always", "why". */
void	names_define_known(struct names *, const char *name);
void	names_define_fcn(struct names *, const char *name, const char *symbol);
struct name *names_find(const struct names *, const char *name);
struct name *names_find_symbol(const struct names *, const char *symbol);
void	name_remove(struct names *, struct name *);
void	names_free(struct names *);

struct shell {
	const char *argv0;
	tnfctl_handle_t *target;
	struct family *family;		/* NULL: children run free */
	bool	started;		/* by us; else attached to */
	bool	watched;		/* it runs, and has no trace file */
	bool	may_load;		/* it is watched, until a probe of it is switched on */
	const struct target_options *options;
	bool	has_buffer;		/* the kernel, for imported probes */
	bool	follow_exec;
	bool	gone;			/* ended, or another program */
	int	target_status;		/* for our own, where we started it */
	unsigned mode;			/* MODE_USER or MODE_KERNEL */
	size_t	buffer_size;		/* -s in bytes; 0: not given */
	bool	fill;			/* --fill, for the kernel's buffer */
	bool	file_named;		/* by -o: a trace is wanted */
	struct trace_plan plan;		/* of a file that is not made yet */
	bool	test_mode;		/* -t */
	bool	interactive;		/* go on after errors */

	struct source *top;
	const struct statement *now;	/* being executed; NULL: none */
	bool	failed;			/* there was an error */
	tnfctl_targ_op_t at_quit;

	struct names sets;
	struct names fcns;
	struct history history;
};

void	shell_init(struct shell *, const char *argv0);
void	shell_free(struct shell *);
/* Reads commands until one of them lets the target run or leaves. */
enum cmd_result shell_commands(struct shell *);
/* Opens command mode and runs until the session ends.  Returns the exit
   status; the target is closed. */
int	shell_run(struct shell *);

/*
 * All errors of commands.  Somebody at a terminal reads what Solaris printed;
 * in a file or a pipe the same text follows the place where it happened, and
 * ends the session.
 */
enum error_kind {
	ERROR_SEMANTIC,		/* "source", line N: semantic error: text */
	ERROR_TARGET,		/* argv0: text */
	ERROR_PLAIN		/* text */
};
void	shell_error(struct shell *, enum error_kind, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
/* The same about a call of libtnfctl, if it failed: ends with its text, and on a
   line of its own with what more is known.  Returns true if the call succeeded. */
bool	shell_ok(struct shell *, enum error_kind, tnfctl_errcode_t,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Warns of something that was done but hardly intended: names the thing, and a remedy.
   Solaris had no such warnings; -t, for scripts that compare output, omits them. */
void	shell_warn(const struct shell *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* More about the message before, or a fact: "argv0: text". */
void	shell_say(const struct shell *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* With control characters escaped; the caller frees it. */
char	*printable(const char *s);
/* Prints s as it is, but printable where fp is a terminal. */
void	print_text(FILE *fp, const char *s);
/* Prints, for a message, the source and line of the statement that is executed. */
void	shell_print_place(const struct shell *, unsigned line);
/* Prints what libtnfctl adds to its latest answer, if anything. */
void	shell_tell_detail(const struct shell *);

/* cmd-kernel.c: gets the kernel's attributes.  False: prints why not. */
bool	kernel_attrs(struct shell *, tnfctl_trace_attrs_t *);
/* Probes of raw I/O slow every system call.  If a selector names them, they are on in any
   case ("on") or, from then on, only while a raw device is open. */
void	kernel_ask_rawio(struct shell *, const struct tnf_selectors *, bool on);
/* Warns if the filter is on and empty: then nothing can be traced. */
void	kernel_check_filter(struct shell *);

/*
 * Where commands come from: a stack of files, strings and, at the bottom, standard
 * input.
 */

struct term;

struct source {
	struct source *below;
	char	*name;		/* for messages */
	FILE	*fp;		/* NULL: a string */
	struct term *term;	/* NULL: not a terminal */
	char	*line;
	size_t	size;
	const char *pos;	/* in line */
	unsigned line_no;
};

enum source_fill { SOURCE_LINE, SOURCE_INTERRUPT, SOURCE_END };

/* Returns 0 or an errno. */
int	source_push_file(struct shell *, const char *path);
void	source_push_string(struct shell *, const char *text, const char *name);
void	source_push_stdin(struct shell *);
void	source_pop(struct shell *);

/* Fills the top source's line, so that a token can be taken from it. */
enum source_fill source_fill(struct shell *, bool in_statement);
/* With paths, a slash begins no pattern. */
void	source_token(struct source *, struct token *, bool paths);

/* Pushes ./.prexrc and then $HOME/.prexrc, so that the latter comes first. */
void	rc_push(struct shell *);

/*
 * Lines from somebody at a terminal, and how such a line could go on.
 */

struct editline;

struct term *term_open(struct shell *);
/* Prompts and reads a line with its newline into *line, as getline().  SOURCE_INTERRUPT is
   Ctrl-C: what was typed is forgotten; SOURCE_END: the terminal is gone. */
enum source_fill term_read(struct term *, bool in_statement, char **line,
	    size_t *size);
void	term_close(struct term *);

/* Between these two, signals wait until term_signal_mask() lets them in. */
void	term_signal_begin(void);
void	term_signal_end(void);
const sigset_t *term_signal_mask(void);
/* Lets in the signals that are waiting; then: has a signal come that is not acted upon? */
void	term_signal_let_in(void);
bool	term_signal_came(void);
/* Acts upon the signals that have come.  True: give the line up. */
bool	term_signal_act(struct editline *);

struct completion {
	char	*word;			/* what is to be completed, maybe "" */
	struct strings candidates;	/* what could be in its place; sorted */
};

/* Looks at the text before the cursor, and at the target. */
void	complete(struct shell *, const char *text, struct completion *);
void	completion_free(struct completion *);

#endif
