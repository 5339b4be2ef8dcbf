/*
 * webhook-run.c - serves a webhook until its standard input ends.
 *
 * Usage: webhook-run ADDRESS TRIGGER...
 * A line for each alert: trigger, a tab, note; "ready" comes first.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "tnfwatch/webhook.h"

static char **triggers;

static bool
on_alert(void *arg, const char *trigger, const char *note)
{
	for (char **t = triggers; *t != NULL; t++)
		if (strcmp(*t, trigger) == 0) {
			printf("%s\t%s\n", trigger, note);
			fflush(stdout);
			return true;
		}
	return false;
}

int
main(int argc, char **argv)
{
	struct pollfd p[2] = { { .fd = 0, .events = POLLIN }, { .events = POLLIN } };
	char why[WEBHOOK_WHY];
	struct webhook *w;

	triggers = argv + 2;
	if (argc < 2 || (w = webhook_open(argv[1], on_alert, NULL, NULL, why)) == NULL) {
		printf("%s\n", why);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	p[1].fd = webhook_fd(w);
	do {
		if (poll(p, 2, 1000) < 0)
			break;
		webhook_run(w);
	} while ((p[0].revents & (POLLIN | POLLHUP)) == 0);
	webhook_close(w);
	return 0;
}
