/*
 * watch.h - the program: its commands, how they ask a tnfwatch that runs, and functions that all
 * its files use.
 */
#ifndef TNFWATCH_WATCH_H
#define TNFWATCH_WATCH_H

#include <sys/un.h>
#include <sys/wait.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "analysis/timespec.h"
#include "common/files.h"
#include "common/xalloc.h"

struct config;

/* Options before and behind a command. */
struct watch_options {
	const char *config;	/* the file */
};

/* check.c: the command; its exit status. */
int config_check_run(const struct watch_options *, int argc, char **argv);

/* kept.c: the same. */
int list_run(const struct watch_options *, int argc, char **argv);
int show_run(const struct watch_options *, int argc, char **argv);
int pin_run(const struct watch_options *, int argc, char **argv);
int rm_run(const struct watch_options *, int argc, char **argv);
/* Runs a command about one incident, the one whose name begins so. */
int with_incident(const struct watch_options *, const char *text,
    int (*fn)(const struct config *, const char *id, const char *path));

/* export.c: the same. */
int export_run(const struct watch_options *, int argc, char **argv);

/* Runs the daemon in the foreground until a signal ends it. */
int watch_run(const struct watch_options *);

/*
 * util.c: asks a running tnfwatch over a socket in its directory.  A request is one
 * line: words, separated by tabs.  The answer is "ok" or "error" in the first line, and text
 * behind it.  Root and the user of the daemon may ask.
 */
#define REQUEST_MAX	4096	/* bytes of a request */

/* The address of the socket; false and errno: its name is too long. */
bool client_address(const struct config *, struct sockaddr_un *);
/* Asks, and prints the answer: on 'to', an error on stderr.  The exit status. */
int client_ask(const struct config *, FILE *to, const char *const *words);

/*
 * Functions that all of tnfwatch uses.  The headers that common/files.h and
 * common/xalloc.h bring come with it, and others of the C library that most files here need.
 */

#define MS	INT64_C(1000000)
#define SECOND	INT64_C(1000000000)

int64_t now_mono(void);		/* ns, CLOCK_MONOTONIC */
int64_t now_boot(void);		/* ns, CLOCK_BOOTTIME */
int64_t now_wall(void);		/* ns since 1970 */

/* "tnfwatch: text" and a newline on stderr, which is the journal's in a unit; the name
   is the one that the program was called by: tnffleet may be called as tnfwatch. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes a directory of mode 0700 and those above it (0755); 0 or an errno. */
int make_directory(const char *path);
/* Removes a file, or a directory and all in it, relative to 'dir'; 0 or an errno. */
int remove_all(int dir, const char *name);
/* True if this errno says that nothing else can be written there either. */
bool disk_refuses(int e);
/* Bytes that the file, or all files below the directory, take on the disk; the bytes of a file
   with several names are divided among the names. */
uint64_t disk_usage(int dir, const char *name);

/* True if there is a file of that name. */
bool path_exists(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* open(2) with O_CLOEXEC and mode 0600, where the name is made first. */
int path_open(int flags, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* unlink(2) */
void path_unlink(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A file's text with a NUL behind it, at most 'max' bytes; NULL: errno. */
char *path_text(size_t max, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The name of a process or thread, as the kernel has it; "": it has gone. */
void read_comm(pid_t pid, char comm[64]);

/* To be called in a process that was just forked: has it end with its parent, sets the priority,
   and unblocks all signals.  false: the parent has ended before this call. */
bool child_begin(pid_t parent, int priority);
/* Waits until the child has ended, and returns its status; -1: there is none. */
int child_wait(pid_t);

/* Frees a list and its n names. */
void names_free(char **names, size_t n);

/* "512k", "16m", "1g"; false: no size. */
bool size_parse(const char *text, uint64_t *ret);
/* Converts a time of day or date to monotonic ns, by *clock, which is filled in.  Returns NULL, or
   the mistake: 'no_duration' for a duration. */
const char *moment_parse(const char *text, const char *no_duration, struct timespec_clock *clock,
    int64_t *mono);

/* This boot, as the kernel writes it; "" if it does not tell. */
const char *boot_id(void);

#endif /* TNFWATCH_WATCH_H */
