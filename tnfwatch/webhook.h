/*
 * webhook.h - triggers that are fired by an HTTP request, as Alertmanager sends them.
 *
 *	POST /NAME	fires that trigger
 *	POST /		fires the trigger that an alert names by its label "trigger", or
 *			else by its "alertname"
 *
 *	GET /metrics	is answered with what Prometheus reads, if that is wanted
 *
 * The body is Alertmanager's JSON (version 4); each alert whose status is "firing"
 * fires once.  The webhook is on a Unix socket or on a loopback address, and nowhere
 * else; a web page cannot make a browser send it, because of its content type, its origin
 * and its host.  Nothing waits: a slow or silent client is let down after some seconds.
 */
#ifndef TNFWATCH_WEBHOOK_H
#define TNFWATCH_WEBHOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct webhook;

/* false: there is no trigger of that name.  'note' says what the alert was. */
typedef bool webhook_fn(void *arg, const char *trigger, const char *note);

/* Writes the metrics.  false: they are not wanted. */
typedef bool webhook_metrics_fn(void *arg, FILE *);

#define WEBHOOK_WHY 160

/* An absolute path, or 127.0.0.1:PORT, [::1]:PORT, localhost:PORT.  false: it is
   something else, and why[] says what is wanted. */
bool webhook_check(const char *address, char why[WEBHOOK_WHY]);

/* metrics: NULL: there are none.  NULL: why[] says why, without the address. */
struct webhook *webhook_open(const char *address, webhook_fn *, webhook_metrics_fn *metrics,
    void *arg, char why[WEBHOOK_WHY]);
void webhook_close(struct webhook *);
/* To be called in a forked process that is not to serve the webhook: closes its copy of the
   socket. */
void webhook_forked(struct webhook *);

/* Readable when there is something to do: then, and at least once a second, call
   webhook_run(). */
int  webhook_fd(const struct webhook *);
void webhook_run(struct webhook *);

/* webhook-address.c: a listening socket, or -1 and why[]. */
int  webhook_listen(const char *address, char why[WEBHOOK_WHY]);

#endif /* TNFWATCH_WEBHOOK_H */
