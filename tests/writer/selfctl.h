/*
 * selfctl.h - a test program controls its own probes, without a controller.
 */
#ifndef SELFCTL_H
#define SELFCTL_H

#include <tnf/probe.h>

/* Creates the trace file, zero-filled, and names it to libtnfprobe. */
void selfctl_file(const char *path, unsigned kbytes);
/* Creates one and has libtnfprobe open it at once; what it answers. */
int selfctl_open(const char *path, unsigned kbytes);

/* Switches on the probes of this program whose name matches; NULL: all.
   Returns how many. */
int selfctl_enable(const char *name);
int selfctl_trace(const char *name, int traced);
/* Switches on a probe that was made at run time. */
void selfctl_on(struct tnf_probe_control *);
int selfctl_connect(const char *name, const tnf_probe_func_t *chain);

#endif
