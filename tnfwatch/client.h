/*
 * client.h - what a running tnfwatch is asked, over a socket in its directory.
 *
 * A request is one line: words, separated by tabs.  The answer is "ok" or "error" in
 * the first line, and text behind it.  Root and the user of the daemon may ask.
 */
#ifndef TNFWATCH_CLIENT_H
#define TNFWATCH_CLIENT_H

#include <sys/un.h>

#include "tnfwatch/config.h"

#define REQUEST_MAX	4096	/* bytes of a request */

/* The address of the socket; false and errno: its name is too long. */
bool client_address(const struct config *, struct sockaddr_un *);
/* Asks, and prints the answer: on 'to', an error on stderr.  The exit status. */
int client_ask(const struct config *, FILE *to, const char *const *words);

#endif /* TNFWATCH_CLIENT_H */
