/*
 * control.h - what a running tnfwatch is asked, over a socket in its directory.
 *
 * A request is one line: words, separated by tabs.  The answer is "ok" or "error" in
 * the first line, and text behind it.  Root and the user of the daemon may ask.
 */
#ifndef TNFWATCH_CONTROL_H
#define TNFWATCH_CONTROL_H

#include <stdio.h>

struct config;
struct daemon;

#define CONTROL_WORDS	8

/* The socket, or -1 and errno. */
int control_open(const struct config *);
/* Takes one connection and answers it; somebody slow is let down. */
void control_serve(struct daemon *, int socket);

/* Asks, and prints the answer: on 'to', an error on stderr.  The exit status. */
int control_ask(const struct config *, FILE *to, const char *const *words);

/* status.c: the answer to "status". */
void control_status(const struct daemon *, FILE *);

#endif /* TNFWATCH_CONTROL_H */
