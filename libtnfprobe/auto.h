/*
 * auto.h - a process that traces itself from its start: TNF_ENABLE, or a tnfwatch
 * that wants it.
 */
#ifndef LIBTNFPROBE_AUTO_H
#define LIBTNFPROBE_AUTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The file: a new one of the name, or that of a process which goes on with it and
 * from which this one comes by exec.  *size is what it has.  0 and a descriptor, or an
 * errno.  'path' is absolute.
 */
int tnf_auto_file(const char *path, uint64_t *size, int *fd);
/* The same, but always a new one: EEXIST where something has the name. */
int tnf_auto_file_new(const char *path, uint64_t size, int *fd);

/* What a running tnfwatch wants of this program. */
struct tnf_auto_watch {
	const char *rings;	/* the directory for the file */
	const char *name;	/* of the section: the file's name begins so */
	const char *enable;	/* selectors */
	uint64_t size;
};
/* Is this the start of a program that one wants?  Its strings are valid until it is called
   again. */
bool tnf_auto_watch(struct tnf_auto_watch *);
/* Makes the ring; its path, which the caller frees, or NULL. */
char *tnf_auto_watch_file(const struct tnf_auto_watch *, uint64_t *size, int *fd);

/* Calls fn for each control block of each object that is loaded.  false: there is one whose
   file cannot be read, or is not what was loaded. */
struct tnf_probe_control;
bool tnf_auto_probes(void (*fn)(void *arg, struct tnf_probe_control *, const char *object),
    void *arg);

/* auto.c: at the start of the process. */
void tnf_auto_start(void);

/* A probe that was made at run time, before anybody could hit it. */
void tnf_auto_defined(struct tnf_probe_control *);

/* Called by the constructors of objects with probes (<tnf/probe.h>). */
void _tnf_probe_object(void);

/* process.c: as the controller does.  0 or an errno. */
int tnf_process_give(const char *path, uint64_t size, int fd);
/* The same; EBUSY: a controller has given it one. */
int tnf_process_give_first(const char *path, uint64_t size, int fd);

#endif /* LIBTNFPROBE_AUTO_H */
