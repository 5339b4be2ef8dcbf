/*
 * tnfdump.h - the state of a run of tnfdump, its command line and its files.
 *
 * The headers of the C library that most files of this room need come with it.
 */
#ifndef TNFDUMP_TNFDUMP_H
#define TNFDUMP_TNFDUMP_H

#include <sys/stat.h>

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/attrs.h"
#include "common/out.h"

#define NAME	"tnfdump"

/* Exit statuses: one list for all tools. */
enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_USAGE = 2, STATUS_LOST = 3,
    STATUS_DIFFERS = 4 };

struct columns;
struct conditions;
struct output;
struct filter;
struct expr_source;
struct follow;
struct hosts;
struct origins;
struct reverse;
struct template_run;
struct why_run;
struct spans;

struct dump {
	/* Set by the command line. */
	bool	 raw;
	bool	 hex;
	bool	 strict;		/* damage: stop at the first */
	bool	 salvage;		/* read files that are cut off */
	bool	 redact;		/* --redact: without texts; to/tnf.c */
	const struct output *output;
	const char *chosen_by;		/* option that chose the output, or NULL */
	const char *path;		/* --output, or NULL */
	const char *by;			/* --stats=LIST: expressions, or NULL */
	bool	 normalize;		/* --normalize: statistics without literals */
	bool	 histogram;		/* --histogram: draw durations */
	bool	 deviation;		/* --deviation: a column more */
	struct follow *follow;		/* --follow: what to wait for more of, or NULL */
	struct cursor *cursor;		/* --cursor: where a later --follow goes on, or NULL */
	struct hosts *hosts;		/* --hosts: several machines, or NULL */
	bool		 unordered;	/* the event's order among hosts is not certain */
	struct reverse *reverse;	/* --reverse: the events kept, or NULL */
	bool	 fail_on_loss;		/* --fail-on-loss */
	bool	 lost;			/* events are known to be missing */
	bool	 diff;			/* --diff: compare two files */
	struct conditions *conditions;	/* conditions that fail a comparison, or NULL */
	bool	 pretty;		/* --pretty: names for numbers */
	struct template_run *template;	/* -t, or NULL */
	struct why_run *why;		/* --why and the like, or NULL; report-why.c */
	struct columns *columns;	/* --columns and the like, or NULL; columns.c */
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	double	 interval;		/* --interval: seconds; 0: not given */
	struct pairs *pairs;		/* what begins and ends; report-stats.c */

	bool	 see_threads;		/* --where asks for the names of threads by address */
	struct map *threads;		/* --pretty: kernel threads by address; text/pretty.c */

	struct out out;			/* standard output */
	struct out scratch;		/* json.c: text of one value; or empty */
	struct perprobe names;		/* json.c: of members */
	uint64_t nest_budget;		/* analysis/value.h; as files are added */
	bool	 partial_told;		/* the user was told of a value that is shown in part */
	int	 status;		/* exit status */

	/* The way of the events: stream, filters, output. */
	tnf_stream_t	*stream;
	struct expr_source *source;	/* for expressions; filter.c */
	struct spans	*spans;		/* of the expression that is being evaluated, or NULL */
	struct filter	*filters;	/* all must keep an event */
	struct filter	**filters_end;
	struct input	*inputs;	/* the files, in order */
	unsigned	 n_inputs;
	struct current	*current;	/* spans of threads, or NULL; around.c */
	const struct tnf_probe *spanless;	/* the last one seen whose events tell no span */
	struct around_run *around;	/* what each thread does, if an option asks; around.c */
	struct origins	*origins;	/* facts of the files; origin.c */

	int64_t	 first;		/* time of the earliest event, before filters */
	int64_t	 low, high;	/* the times asked for; INT64_MIN, INT64_MAX */
	bool	 beyond;	/* a filter: no later event will be kept */
	unsigned keep;		/* the filters' answers about the event (enum keep), for outputs
				   that get all events */
	bool	 enough;	/* no further event is read */
	int64_t	 previous;	/* time of the event that was put out before */
	uint64_t events;	/* put out */
	const struct tnf_file *names_of;	/* its machine names system calls */
	void	*state;		/* the output's */
};

/* "tnfdump: ..." on standard error. */
void dump_note(struct dump *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* As dump_note(), and status becomes STATUS_ERROR. */
void dump_error(struct dump *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* As dump_error(), then exits. */
_Noreturn void dump_fatal(struct dump *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The command line.
 */

/*
 * A row of the table in options.c.  set() is called when the option is met; it returns 0,
 * or -1 after options_wrong().  Work that needs the files (probes, first time) belongs in a
 * filter's start() or an output's begin().
 */
struct option_row {
	const char *name;		/* "--name" */
	char	    letter;		/* or 0 */
	const char *arg;		/* "EXPR"; NULL: none; "[=X]": optional */
	const char *help;
	/* One of these says what the option does: */
	size_t	    flag;		/* offset of a bool in struct dump to set */
	const char *output;		/* chooses this one of outputs[] */
	int	  (*set)(struct dump *, const char *arg);
};

extern const struct option_row option_rows[];	/* ends with name NULL */

/* Applies the option; returns 0, or -1 after options_wrong(). */
int option_apply(struct dump *, const struct option_row *, const char *arg);
/* Returns the files, ended by NULL; exits on --help, --version and errors. */
char **options_parse(struct dump *, int argc, char **argv);
/* Frees what options have made, whether the run took place or not. */
void options_free(struct dump *);
/* "tnfdump: --name: fact: remedy"; the caller then returns -1. */
int options_wrong(const char *option, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The trace files of the command line.
 */

struct input {
	const char	*path;
	const void	*base;
	size_t		 size;
	struct tnf_file	*file;		/* in the stream; NULL: raw mode */
	struct stat	 st;		/* of the file at 'path', or that a core names */
};

/* The name of the file "-" in messages. */
#define INPUT_STANDARD	"standard input"

/* Opens and maps a file; a pipe is read to its end.  false: skip the file, the reason was
   told. */
bool input_open(struct dump *, const char *path, struct input *);
/* "tnfdump: error in FILE: TEXT" */
void input_refused(struct dump *, const char *path, int err);
/* Adds the files to the stream, in order; dump->inputs then lists the files that were
   accepted. */
void inputs_add(struct dump *, char **paths);
/* True if one of the inputs is this file. */
bool inputs_have_file(const struct dump *, const struct stat *);
/* Prints a note if the files are of several boots of the machine. */
void inputs_compare_boots(struct dump *);
/* Closes the stream and the inputs; called after origins_free(). */
void inputs_close(struct dump *);
/* Reports a damaged block once; with --strict ends the program. */
void input_damage(struct dump *, const char *path, uint64_t block,
    const char *reason);

#endif
