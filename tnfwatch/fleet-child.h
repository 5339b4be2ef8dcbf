/*
 * fleet-child.h - the process that answers other machines: started and started again.
 */
#ifndef TNFWATCH_FLEET_CHILD_H
#define TNFWATCH_FLEET_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct config_fleet;
struct daemon;

/* Starts it where the configuration has [fleet], and again when it has ended. */
void fleet_child_care(struct daemon *, int64_t now);
void fleet_child_ended(struct daemon *, pid_t);	/* any child */
/* The configuration has been read again: one that has another [fleet] gets a new agent. */
void fleet_child_reload(struct daemon *, const struct config_fleet *before);
/* It has ended when this returns, which takes at most about a second. */
void fleet_child_stop(struct daemon *);

#endif /* TNFWATCH_FLEET_CHILD_H */
