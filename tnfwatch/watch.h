/*
 * watch.h - the program: its commands, and how they ask a tnfwatch that runs.
 */
#ifndef TNFWATCH_WATCH_H
#define TNFWATCH_WATCH_H

#include <sys/un.h>

#include "tnfwatch/config.h"

/* Options before and behind a command. */
struct watch_options {
	const char *config;	/* the file */
};

/* check.c: the command; its exit status. */
int check_run(const struct watch_options *, int argc, char **argv);

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
 * client.c: asks a running tnfwatch over a socket in its directory.  A request is one
 * line: words, separated by tabs.  The answer is "ok" or "error" in the first line, and text
 * behind it.  Root and the user of the daemon may ask.
 */
#define REQUEST_MAX	4096	/* bytes of a request */

/* The address of the socket; false and errno: its name is too long. */
bool client_address(const struct config *, struct sockaddr_un *);
/* Asks, and prints the answer: on 'to', an error on stderr.  The exit status. */
int client_ask(const struct config *, FILE *to, const char *const *words);

#endif /* TNFWATCH_WATCH_H */
