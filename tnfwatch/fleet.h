/*
 * fleet.h - many machines: the connection that agents and askers share.
 */
#ifndef TNFWATCH_FLEET_H
#define TNFWATCH_FLEET_H

#include <nats/nats.h>

#include "tnfwatch/config.h"
#include "tnfwatch/fleet-message.h"

#define FLEET_LEASE	(INT64_C(30) * 1000000000)
#define FLEET_FORGET	(INT64_C(7) * 86400 * 1000000000)	/* a host that has gone for good */

/* The name of this machine in the fleet; NULL: it has none that can be used, said. */
const char *fleet_host(const struct config *);
/* The machine's labels, as "NAME=VALUE"; how many. */
unsigned fleet_labels(const struct config *, char label[FLEET_LABELS][FLEET_NAME]);
/* Of options as the configuration has them.  Where 'wait', a server that cannot be
   reached is tried until it can; else NULL, and it has been said why. */
natsConnection *fleet_connect(const struct config *, bool wait);
/* The registry, made if it is not there; NULL: *why is constant text. */
kvStore *fleet_registry(const struct config *, natsConnection *, jsCtx **, const char **why);
/* "tnf.ask", "tnf.host.web1" */
void fleet_subject(const struct config *, const char *what, const char *host, char *buf,
    size_t size);
/* false: told, or not to be had now. */
bool fleet_publish(natsConnection *, const char *subject, const char *reply,
    const struct fleet_message *);

#endif /* TNFWATCH_FLEET_H */
