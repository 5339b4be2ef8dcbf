/*
 * config.h - what a configuration says, once all of it is right; and how it is read.
 *
 * tnfwatch.conf(5) has the sections and keys.  A configuration does not change;
 * a new one replaces it.
 */
#ifndef TNFWATCH_CONFIG_H
#define TNFWATCH_CONFIG_H

#include <sys/types.h>

#include <stdio.h>

#include <tnf/stream.h>
#include <tnf/tnfctl.h>

#define CONFIG_FILE	"/etc/tnf/watch.conf"

/* enable.c: which probes "enable = thread io name=/re/" means.  The words are selectors of
   prex(1), with its sets $all, $always and $why. */
struct enable;

/* NULL: err says why, at *offset of the text. */
struct enable *enable_parse(const char *text, char *err, size_t size, size_t *offset);
void enable_free(struct enable *);
const char *enable_text(const struct enable *);

/* Probes that have been switched on: how many, and their names with a newline behind
   each, as far as there is room. */
struct enabled {
	unsigned n;
	unsigned unused;	/* words by which no probe is meant */
	bool	 by_kernel;	/* the kernel records some of them for a process, into its buffer */
	char	 refused[200];	/* why one of them stays off; "": none does */
	char	 names[8192];
};

/*
 * Switches on every probe of the handle that is meant, and off none; adds them.  NULL: only
 * that of tnf_incident(3) is meant, which always is.  A word that means none of the probes that
 * are there has functions, USDT probes and tracepoints looked for, which become probes only
 * then; in the kernel, those of the files 'import'.
 */
tnfctl_errcode_t enable_apply(const struct enable *, tnfctl_handle_t *, size_t buffer,
    const char *import, struct enabled *);
/* The same for one probe. */
tnfctl_errcode_t enable_probe(const struct enable *, tnfctl_handle_t *, tnfctl_probe_t *,
    struct enabled *);
/*
 * The same, but switches nothing on: found() is told of each probe, and whether it is meant.
 * used[i] is set for the words by which one is.
 */
typedef void enable_found_fn(void *arg, const char *attrs, bool meant);
tnfctl_errcode_t enable_find(const struct enable *, tnfctl_handle_t *, bool process,
    const char *import, bool *used, enable_found_fn *, void *arg);
/* True if this probe of a trace is meant; 'used' tells by which words (NULL: that is not asked). */
bool enable_has(const struct enable *, const struct tnf_probe *, bool *used);

size_t enable_words(const struct enable *);	/* how many; NULL: 0 */
/* True if the word asks for a function, or a tracepoint or USDT probe by its name. */
bool enable_imports(const struct enable *, size_t);
/* The word, as "attribute=value"; the caller frees it. */
char *enable_word(const struct enable *, size_t);

struct config_process {
	char	*name;
	/* One of these is given: it tells by what the section's processes are found. */
	char	*program;
	char	*comm;
	char	*unit;
	char	*cgroup;
	char	*pod;
	pid_t	 pid;
	struct enable *enable;	/* NULL: no probes are switched on */
	uint64_t size;		/* of the trace file */
	bool	 from_start;	/* they are told so at their start, and make it themselves */
	bool	 fast;		/* they record functions and USDT probes themselves */
};

struct config_file {
	char	*name;
	char	*path;
};

struct config_trigger {
	char	*name;
	char	*when;		/* NULL: fired from outside alone */
	int64_t	 after;		/* ns */
	unsigned limit_n;	/* so many incidents ... */
	int64_t	 limit_ns;	/* ... in so long; 0: no limit */
	bool	 once;
	char	*of;		/* the only section that it is about; NULL: all */
	unsigned every;		/* only each so many-th firing counts; 0: each */
	int64_t	 same;		/* ns: not again for the same cause; 0: again */
	bool	 no_page;	/* of its incidents */
	char	*then;		/* actions; NULL: none */
	char	*run;		/* NULL: nothing */
	char	*ask;		/* whom to ask, "label role=db"; NULL: nobody */
};

/* [fleet]: many machines. */
struct config_fleet {
	char	*servers;	/* NULL: there is no fleet */
	char	*name;		/* of this machine; NULL: its own */
	char	*labels;	/* "role=db site=b" */
	char	*prefix;	/* of all subjects */
	char	*asker;		/* whose share of a limit our questions take; NULL: the common one */
	char	*credentials, *ca, *cert, *key;	/* files; or NULL */
	char	*recorded;	/* a directory: there is no history but this; or NULL */
	uint64_t rate;		/* bytes in a second that are given away; 0: no limit */
	unsigned limit_n;	/* as in config_trigger: questions */
	int64_t	 limit_ns;
};

struct config {
	char	*file;		/* as it was given */
	int64_t	 keep;		/* ns */
	uint64_t limit;		/* bytes, of all below 'directory' */
	char	*directory;
	char	*rings;		/* where trace files of processes are made */
	char	*run;		/* the directory of the socket and the lock */
	char	*webhook;	/* NULL: none */
	bool	 metrics;	/* the webhook has GET /metrics */
	char	*journal;	/* the socket of the journal, for an entry an incident; or NULL */
	char	*lost;		/* a command for an incident that is lost; NULL: none */
	bool	 in_memory;	/* segments */

	struct config_fleet fleet;
	bool	 kernel;	/* a section [kernel] is there */
	uint64_t kernel_buffer;
	struct enable *kernel_enable;
	char	*kernel_import;	/* programs and libraries, whose probes are among the kernel's */
	struct enable *kernel_channel;	/* probes that are rare; NULL: none */
	int64_t	 kernel_channel_keep;	/* ns: so long their events are remembered */
	char	*kernel_pfilter; /* "cgroup=PATH", or process numbers; NULL: all */

	struct config_process *process;
	size_t	 n_processes;
	struct config_file *files;
	size_t	 n_files;
	struct config_trigger *trigger;
	size_t	 n_triggers;
	char	*text;		/* all of it as read, for incidents */
};

/*
 * Reads FILE and then the files *.conf of the directory watch.d beside it, in the order of
 * their names; a section may be continued.  Every mistake is printed as "FILE:LINE: what: remedy",
 * and then NULL returned.  A FILE that does not exist is a mistake.
 */
struct config *config_read(const char *file, FILE *mistakes);
/* Reads the configuration for a client of a running tnfwatch, which may use a better one:
   mistakes are passed over.  NULL: it cannot be read, which is printed. */
struct config *config_read_places(const char *file);
void config_free(struct config *);

/* The directory of an incident; the caller frees it. */
char *incident_path(const struct config *, const char *id);

/* Names become parts of file names and are typed in shells. */
bool config_name_good(const char *name);

/* True if both have the same section [fleet]. */
bool config_same_fleet(const struct config *, const struct config *);

/* The section [process NAME], or NULL. */
struct config_process *config_process_find(const struct config *, const char *name);
/* The number of the trigger of that name, or -1. */
int config_trigger_find(const struct config *, const char *name);

/*
 * What a trigger does at once, beside the incident: "then" of its section.
 */
struct action {
	enum { ACTION_ENABLE, ACTION_MARK, ACTION_RUN, ACTION_WEBHOOK, ACTION_FREEZE } kind;
	char	*text;			/* of a mark, of a command, an address */
	struct enable *enable;
	int64_t	 time;			/* ns: it stays on for so long */
};

/* Calls fn() for each action of the text; false: one is wrong, and 'why' says how. */
bool actions_each(const char *text, void (*fn)(void *arg, const struct action *), void *arg,
    char *why, size_t size);

/*
 * A configuration while it is read.  config.c takes lines from files, puts values together and
 * gives them to their section; config-keys.c knows what a value may be.
 */

#define NAME_BYTES	48	/* of a section: it becomes part of file names */

enum section { S_NONE, S_WATCH, S_FLEET, S_KERNEL, S_PROCESS, S_FILE, S_TRIGGER };

struct config_reader {
	struct config *c;
	FILE	*mistakes;
	unsigned n_mistakes;
	const char *path;	/* of the file that is read */
	FILE	*f;
	unsigned line;		/* that was read last */
	bool	 goes_on;	/* ... is indented */

	enum section section;	/* the one that values are for, ... */
	char	*section_text;
	size_t	 index;		/* ... and which of its kind */

	/* A value is complete when the next one begins. */
	char	*key, *value;
	unsigned value_line;
};

/* The value of a key goes to 'at'; false: the mistake has been told. */
typedef bool config_set(struct config_reader *, const char *key, const char *value, void *at);

/* The place of a key's value, from the start of its section's struct. */
struct config_key {
	const char *name;
	config_set *set;
	size_t	 offset;
	enum { KEY_VALUE, KEY_TEXT, KEY_ENABLE } kind;	/* KEY_TEXT: a char *, freed at the end */
};

struct config_section {
	const char *name;
	enum section section;
	bool	 named;		/* "[process NAME]" */
	const struct config_key *keys;
};

/* config-keys.c: in the order of enum section, from S_WATCH on. */
#define CONFIG_SECTIONS	6
extern const struct config_section config_sections[CONFIG_SECTIONS];

/* config.c */
/* Prints "FILE:LINE: what: remedy" and counts it. */
void config_mistake(struct config_reader *, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The text, and a caret below what is wrong in it. */
void config_mistake_caret(struct config_reader *, const char *text, size_t offset);

#endif /* TNFWATCH_CONFIG_H */
