/*
 * connection.h - many machines: the connection that agents and askers share.
 */
#ifndef TNFFLEET_CONNECTION_H
#define TNFFLEET_CONNECTION_H

#include <nats/nats.h>

#include "tnffleet/message.h"
#include "tnfwatch/config.h"

#define FLEET_LEASE	(INT64_C(30) * 1000000000)
#define FLEET_FORGET	(INT64_C(7) * 86400 * 1000000000)	/* a host that has gone for good */

/* The name of this machine in the fleet; NULL: it has none that can be used, said. */
const char *fleet_host(const struct config *);
/* The machine's labels, as "NAME=VALUE"; how many. */
unsigned fleet_labels(const struct config *, char label[FLEET_LABELS][FLEET_NAME]);
/* Of options as the configuration has them; 'agent' is the name of the host for which is
   answered, and whose connection comes again by itself, NULL for who asks.  NULL: 'why' says
   what does not work, and what may help. */
natsConnection *fleet_connect(const struct config *, const char *agent, char why[FLEET_TEXT]);
/* Has the server said that something was not permitted?  It does so before it answers
   natsConnection_Flush(); 'why' is what it said. */
bool fleet_refused(natsConnection *, char why[FLEET_TEXT]);
/* The registry, made if it is not there; NULL: *why is constant text. */
kvStore *fleet_registry(const struct config *, natsConnection *, jsCtx **, const char **why);
/* "tnf.ask", "tnf.host.web1" */
void fleet_subject(const struct config *, const char *what, const char *host, char *buf,
    size_t size);
/* The subject of that host's answer: it is part of it, so that the permissions of a
   server can say who answers for whom.  "_INBOX.x.1" becomes "_INBOX.x.1.web1" */
void fleet_answer(const char *reply, const char *host, char *buf, size_t size);
/* false: told, or not to be had now. */
bool fleet_publish(natsConnection *, const char *subject, const char *reply,
    const struct fleet_message *);

#endif /* TNFFLEET_CONNECTION_H */
