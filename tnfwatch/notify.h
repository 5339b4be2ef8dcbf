/*
 * notify.h - what systemd(1) is told (sd_notify(3)), without its library.
 */
#ifndef TNFWATCH_NOTIFY_H
#define TNFWATCH_NOTIFY_H

#include <stdint.h>

/* "READY=1", "RELOADING=1" ...; nobody asked for it: nothing happens. */
void notify(const char *text);
/* RELOADING=1 with the time that systemd wants with it. */
void notify_reloading(void);
/* How often "WATCHDOG=1" is wanted, in ns; 0: it is not. */
int64_t notify_watchdog(void);

#endif /* TNFWATCH_NOTIFY_H */
