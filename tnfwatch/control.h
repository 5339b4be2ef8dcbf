/*
 * control.h - the daemon answers requests (client.h).
 */
#ifndef TNFWATCH_CONTROL_H
#define TNFWATCH_CONTROL_H

struct config;
struct daemon;

/* The socket, or -1 and errno. */
int control_open(const struct config *);
/* Takes one connection and answers it; somebody slow is let down. */
void control_serve(struct daemon *, int socket);

#endif /* TNFWATCH_CONTROL_H */
